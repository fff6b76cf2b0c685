// Which fields of an experiment hold a measurement, and in which unit: the bracelet's own raw
// metrics, or what Cozie sends.

/// Fields that hold one measurement.
public struct MetricSource: Hashable, Sendable {
    /// How several groups become one value of a slot.
    public enum Combination: Sendable {
        /// Groups count the same thing, such as phone and watch: the largest.
        case largest
        /// Groups are parts of a whole: their sum.
        case sum
    }

    /// Groups of fields. Of the fields of a group the first one with a value counts, row by row.
    public var groups: [[String]]
    /// What becomes of several groups.
    public var combination: Combination
    /// How many stored units are one unit of the measurement.
    public var divisor: Double

    /// - Parameters:
    ///   - groups: of fields; of each the first one with a value counts.
    ///   - combination: what becomes of several groups.
    ///   - divisor: how many stored units are one unit of the measurement.
    public init(
        groups: [[String]], combination: Combination = .largest, divisor: Double = 1
    ) {
        self.groups = groups
        self.combination = combination
        self.divisor = divisor
    }

    /// One group: the first field with a value counts.
    public init(_ fields: String..., divisor: Double = 1) {
        self.init(groups: [fields], divisor: divisor)
    }

    /// Only the fields that are known, and groups with some left.
    func limited(to isKnown: (String) -> Bool) -> MetricSource {
        var source = self
        source.groups = groups.map { $0.filter(isKnown) }.filter { !$0.isEmpty }
        return source
    }
}

/// Fields of a system of measurement, by what they measure.
public struct SummarySources: Sendable {
    /// What a command calls it.
    public var name: String
    /// What is not in it is not measured.
    public var sources: [SummaryMetric: MetricSource]

    /// Cozie: samples of HealthKit from phone (`ts_`) and watch (`ws_`), equal where both came.
    ///
    /// * Step counts are samples (steps from one moment to another), so they are summed. Newer
    ///   versions of the app send those of phone and watch apart; both count the same steps, so
    ///   the larger of a slot counts.
    /// * Energy is active plus basal energy, as the bracelet's is.
    /// * A sample of sleep is a row at its begin with its minutes.
    ///
    /// Source: cozie-apple 8c88818 and real exports, in which the end of each stage is the begin
    /// of the next; `ws_sleep_core` is cut to whole minutes there, `ts_sleep_core` is not.
    public static let cozie = SummarySources(
        name: "cozie",
        sources: [
            .bpm: both("heart_rate"),
            .steps: MetricSource(groups: [
                pair("step_count"), pair("step_count_watch"), pair("step_count_phone"),
            ]),
            .energy: MetricSource(
                groups: [pair("active_energy_burned"), pair("basal_energy_burned")],
                combination: .sum),
            .workouts: both("workout_duration"),
            .skinTemperature: both("wrist_temperature"),
            .spo2: both("oxygen_saturation"),
            .sleepLight: both("sleep_core"),
            .sleepDeep: both("sleep_deep"),
            .sleepREM: both("sleep_REM"),
            .sleepAwake: both("sleep_awake"),
            .sleepUnspecified: both("sleep_unspecified"),
            .sleepInBed: both("sleep_in_bed"),
        ])

    /// The bracelet's own raw metrics, a row a minute; else slots under the names that its
    /// summaries give them.
    ///
    /// Source: developer.corsano.com, raw data (MetricActivity: `energy_exp` is in cal), and the
    /// models that corsano-realm-converter read from the app's database (MetricTemperature:
    /// `temp1`; MetricEmography has the names of the summary's slots).
    public static let bracelet = SummarySources(
        name: "bracelet",
        sources: [
            .bpm: MetricSource("bpm"),
            .breath: MetricSource("respiration_rate", "brpm"),
            .bpmQuality: MetricSource("bpm_q"),
            .breathQuality: MetricSource("resp_q", "brpmQ"),
            .spo2Quality: MetricSource("spo2Q"),
            .steps: MetricSource("last_steps"),
            .energy: MetricSource("energy_exp", divisor: 1_000),
            .speed: MetricSource("speed"),
            .activityType: MetricSource("activity_type"),
            .skinTemperature: MetricSource("temp1", "temp"),
            .coreTemperature: MetricSource("coreBodyTemperature", "core_body_temperature"),
            .spo2: MetricSource("spo2"),
            .cognitiveZone: MetricSource("cognitiveZone"),
            .predictiveCZ: MetricSource("predictiveCZ"),
            .predictiveCZTransitionTime: MetricSource("predictiveCZTransitionTime"),
            .czHour: MetricSource("czHour"),
            .cortisolContribution: MetricSource("cortisolContribution"),
            .cognitiveZoneQ: MetricSource("cognitiveZoneQ"),
            .stressLevelSkinConductance: MetricSource("stressLevelSkinConductance"),
            .stressLevelSkinConductanceQ: MetricSource("stressLevelSkinConductanceQ"),
            .sleepType: MetricSource("sleepType", "sleep_type"),
        ])

    private static func pair(_ name: String) -> [String] { ["ts_" + name, "ws_" + name] }

    private static func both(_ name: String) -> MetricSource { MetricSource(groups: [pair(name)]) }
}
