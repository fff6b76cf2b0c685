// The nine kinds of summaries and the metrics they are computed from.

internal import CozDB

/// A kind of summary.
public enum SummaryKind: String, CaseIterable, Sendable {
    /// Heart rate: `BPMSummary`.
    case bpm
    /// Respiration rate: `BreathSummary`.
    case breath
    /// Steps with distance, energy and goal: `StepsSummary`.
    case steps
    /// The short summary of steps, distance and energy: `ActivitySummary`.
    case activity
    /// Skin temperature: `SkinTemperatureSummary`.
    case skinTemperature = "skin-temperature"
    /// Body temperature: `CoreTemperatureSummary`.
    case coreTemperature = "core-temperature"
    /// Oxygen saturation: `SpO2Summary`.
    case spo2
    /// Electrodermal activity: `EDASummary`.
    case eda
    /// Sleep sessions: `SleepSummary`.
    case sleep

    /// The default length of a slot in seconds.
    ///
    /// Source: the intervals in the documentation's examples (heart rate 5, skin 10, others 30
    /// minutes) and its "1 minute interval, or our default intervals". For EDA and saturation it
    /// shows at most one slot, so these use the interval of similar metrics.
    public var defaultSlotSeconds: Int {
        switch self {
        case .bpm, .eda: 300
        case .skinTemperature: 600
        case .breath, .steps, .activity, .coreTemperature, .spo2: 1800
        case .sleep: 60
        }
    }

    /// The values that the documentation calls possible. Nil if it gives no range.
    ///
    /// Its own example of breath (48 to 63 per minute, of bad quality) is outside this range.
    /// Values are therefore kept unless `SummaryRequest.keepsPossibleValuesOnly` is set.
    public var possibleValues: ClosedRange<Double>? {
        switch self {
        case .bpm: 30...220
        case .breath: 5...45
        case .coreTemperature: 15...45
        case .spo2: 0...100
        case .steps, .activity, .skinTemperature, .eda, .sleep: nil
        }
    }

    /// The main metric of the summary.
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

    /// The quality of the main metric. Nil if it has none.
    public var qualityMetric: SummaryMetric? {
        switch self {
        case .bpm: .bpmQuality
        case .breath: .breathQuality
        case .spo2: .spo2Quality
        case .eda: .stressLevelSkinConductanceQ
        default: nil
        }
    }

    /// All metrics in the summary, the main one first.
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
        case .sleep: [.sleepType] + SummaryMetric.sleepStageMetrics
        }
    }
}

extension SummaryKind {
    /// The error for a minimum quality on a summary without a quality metric.
    var noQualityError: DatabaseError {
        let others = SummaryKind.allCases.filter { $0.qualityMetric != nil }.map(\.rawValue)
        return DatabaseError(
            .usage,
            "the summary \(rawValue) has no quality, expected one of "
                + others.joined(separator: ", ") + "; leave out the minimum quality",
            remedy: .change([.qualityMin]))
    }
}

/// A measurement that fields of an experiment can hold. The raw value is the METRIC in the
/// command's `--field METRIC=NAME`.
public enum SummaryMetric: String, CaseIterable, Sendable {
    /// Heart rate in beats per minute.
    case bpm
    /// Respiration rate in breaths per minute.
    case breath
    /// Steps since the last value.
    case steps
    /// Energy since the last value, in kcal.
    case energy
    /// Speed in the stored unit.
    case speed
    /// Activity: 0 unspecified, 1 other, 2 walk, 4 run, 6 cycle, 7 rest.
    case activityType = "activity-type"
    /// Workouts, one value for each.
    case workouts
    /// Skin temperature in degrees Celsius.
    case skinTemperature = "skin-temperature"
    /// Body temperature in degrees Celsius.
    case coreTemperature = "core-temperature"
    /// Oxygen saturation in percent.
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
    /// EDA: stress level by skin conductance.
    case stressLevelSkinConductance = "stress-level"
    /// EDA: quality of the stress level.
    case stressLevelSkinConductanceQ = "stress-level-quality"
    /// Sleep stage, one value per slot: 0 undefined, 1 awake, 2 light, 3 deep, 4 REM.
    case sleepType = "sleep-type"
    /// Minutes of light sleep from the time of the row.
    case sleepLight = "sleep-light"
    /// Minutes of deep sleep from the time of the row.
    case sleepDeep = "sleep-deep"
    /// Minutes of REM sleep from the time of the row.
    case sleepREM = "sleep-rem"
    /// Minutes awake from the time of the row.
    case sleepAwake = "sleep-awake"
    /// Minutes of sleep in an unknown stage from the time of the row.
    case sleepUnspecified = "sleep-unspecified"
    /// Minutes in bed, awake or asleep, from the time of the row.
    case sleepInBed = "sleep-in-bed"

    static let emography: [SummaryMetric] = [
        .stressLevelSkinConductance, .stressLevelSkinConductanceQ, .cognitiveZone,
        .cognitiveZoneQ, .predictiveCZ, .predictiveCZTransitionTime, .czHour,
        .cortisolContribution,
    ]

    static let sleepStageMetrics: [SummaryMetric] = [
        .sleepLight, .sleepDeep, .sleepREM, .sleepAwake, .sleepUnspecified, .sleepInBed,
    ]
}
