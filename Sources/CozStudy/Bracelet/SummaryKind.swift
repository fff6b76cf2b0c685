// The nine summaries by name, and the measurements they are computed from.

internal import CozDB

/// What a summary is of.
public enum SummaryKind: String, CaseIterable, Sendable {
    /// Heart rate: `BPMSummary`.
    case bpm
    /// Respiration rate: `BreathSummary`.
    case breath
    /// Steps with distance, energy and goal: `StepsSummary`.
    case steps
    /// Steps, distance and energy in short: `ActivitySummary`.
    case activity
    /// Temperature of the skin: `SkinTemperatureSummary`.
    case skinTemperature = "skin-temperature"
    /// Temperature of the body: `CoreTemperatureSummary`.
    case coreTemperature = "core-temperature"
    /// Oxygen saturation: `SpO2Summary`.
    case spo2
    /// Electrodermal activity: `EDASummary`.
    case eda
    /// Sessions of sleep: `SleepSummary`.
    case sleep

    /// Length of a slot where nothing else is asked for, in seconds.
    ///
    /// Source: the intervals of the documentation's examples (heart rate 5, skin 10, everything
    /// else 30 minutes) and its "1 minute interval, or our default intervals"; of EDA and
    /// saturation it shows none or one slot, they go with their neighbours.
    public var defaultSlotSeconds: Int {
        switch self {
        case .bpm, .eda: 300
        case .skinTemperature: 600
        case .breath, .steps, .activity, .coreTemperature, .spo2: 1800
        case .sleep: 60
        }
    }

    /// Values that the documentation calls possible; nil where it says nothing.
    ///
    /// Its own example of breath (48 to 63 per minute, of bad quality) lies outside: nothing is
    /// left out unless `SummaryRequest.keepsPossibleValuesOnly` asks for it.
    public var possibleValues: ClosedRange<Double>? {
        switch self {
        case .bpm: 30...220
        case .breath: 5...45
        case .coreTemperature: 15...45
        case .spo2: 0...100
        case .steps, .activity, .skinTemperature, .eda, .sleep: nil
        }
    }

    /// The measurement that the summary cannot do without.
    public var metric: SummaryMetric {
        switch self {
        case .bpm: .bpm
        case .breath: .breath
        case .steps, .activity: .steps
        case .skinTemperature: .skinTemperature
        case .coreTemperature: .coreTemperature
        case .spo2: .spo2
        case .eda: .stressLevelSkinConductance
        case .sleep: .sleepType
        }
    }

    /// The quality of the main measurement, where there is such a measurement.
    public var qualityMetric: SummaryMetric? {
        switch self {
        case .bpm: .bpmQuality
        case .breath: .breathQuality
        case .spo2: .spo2Quality
        case .eda: .stressLevelSkinConductanceQ
        default: nil
        }
    }

    /// All measurements of which it shows something, the main one first.
    public var metrics: [SummaryMetric] {
        switch self {
        case .bpm: [.bpm, .bpmQuality]
        case .breath: [.breath, .breathQuality]
        case .spo2: [.spo2, .spo2Quality]
        case .steps: [.steps, .energy, .speed, .activityType, .workouts]
        case .activity: [.steps, .energy]
        case .skinTemperature: [.skinTemperature]
        case .coreTemperature: [.coreTemperature]
        case .eda: SummaryMetric.emography
        case .sleep: [.sleepType] + SummaryMetric.sleepMinutes
        }
    }
}

extension SummaryKind {
    /// Somebody asked for a quality that the summary does not know.
    var withoutQuality: DatabaseError {
        let others = SummaryKind.allCases.filter { $0.qualityMetric != nil }.map(\.rawValue)
        return DatabaseError(
            .usage,
            "the summary \(rawValue) knows no quality, expected one of "
                + others.joined(separator: ", ") + "; ask for no lowest quality")
    }
}

/// A measurement that fields of an experiment can hold. The raw value is the name that the
/// command's `--field METRIC=NAME` takes.
public enum SummaryMetric: String, CaseIterable, Sendable {
    /// Heart rate, beats per minute.
    case bpm
    /// Respiration rate, breaths per minute.
    case breath
    /// Steps since the last value.
    case steps
    /// Energy spent since the last value, kcal.
    case energy
    /// Speed, as it is stored.
    case speed
    /// What the wearer does: 0 unspecified, 1 other, 2 walk, 4 run, 6 cycle, 7 rest.
    case activityType = "activity-type"
    /// A value for each workout.
    case workouts
    /// Temperature of the skin, degrees Celsius.
    case skinTemperature = "skin-temperature"
    /// Temperature of the body, degrees Celsius.
    case coreTemperature = "core-temperature"
    /// Oxygen saturation, percent.
    case spo2
    /// Quality of the heart rate, 0 (bad) to 4 (very good).
    case bpmQuality = "bpm-quality"
    /// Quality of the respiration rate, 0 (bad) to 4 (very good).
    case breathQuality = "breath-quality"
    /// Quality of the saturation, 0 (bad) to 4 (very good).
    case spo2Quality = "spo2-quality"
    /// EDA: cognitive zone.
    case cognitiveZone = "cognitive-zone"
    /// EDA: predicted cognitive zone.
    case predictiveCZ = "predictive-cz"
    /// EDA: time until the predicted zone.
    case predictiveCZTransitionTime = "predictive-cz-transition-time"
    /// EDA: hour of the cognitive zone.
    case czHour = "cz-hour"
    /// EDA: contribution of cortisol.
    case cortisolContribution = "cortisol-contribution"
    /// EDA: quality of the cognitive zone.
    case cognitiveZoneQ = "cognitive-zone-quality"
    /// EDA: level of stress by skin conductance.
    case stressLevelSkinConductance = "stress-level"
    /// EDA: quality of the level of stress.
    case stressLevelSkinConductanceQ = "stress-level-quality"
    /// Sleep: 0 undefined, 1 awake, 2 light, 3 deep, 4 REM, a value a slot.
    case sleepType = "sleep-type"
    /// Minutes of light sleep that begin at the time of the row.
    case sleepLight = "sleep-light"
    /// Minutes of deep sleep.
    case sleepDeep = "sleep-deep"
    /// Minutes of REM sleep.
    case sleepREM = "sleep-rem"
    /// Minutes of lying awake.
    case sleepAwake = "sleep-awake"
    /// Minutes of sleep of an unknown stage.
    case sleepUnspecified = "sleep-unspecified"
    /// Minutes in bed, awake or asleep.
    case sleepInBed = "sleep-in-bed"

    static let emography: [SummaryMetric] = [
        .stressLevelSkinConductance, .stressLevelSkinConductanceQ, .cognitiveZone,
        .cognitiveZoneQ, .predictiveCZ, .predictiveCZTransitionTime, .czHour,
        .cortisolContribution,
    ]

    static let sleepMinutes: [SummaryMetric] = [
        .sleepLight, .sleepDeep, .sleepREM, .sleepAwake, .sleepUnspecified, .sleepInBed,
    ]
}
