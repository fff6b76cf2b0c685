// The fields and units that hold each measurement in an experiment: the bracelet's raw metrics or
// Cozie's fields.

/// The fields that hold one measurement.
public struct MetricSource: Hashable, Sendable {
    /// How to combine several groups into one value of a slot.
    public enum Combination: Sendable {
        /// Use the largest value: the groups count the same thing, such as phone and watch.
        case largest
        /// Use the sum: the groups are parts of a whole.
        case sum
    }

    /// Groups of fields. In each row, a group has the value of its first field that is not null.
    public var groups: [[String]]
    /// How to combine several groups.
    public var combination: Combination
    /// The number of stored units per unit of the measurement.
    public var divisor: Double

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - groups: of fields. In each row, a group has the value of its first field that is not
    ///     null.
    ///   - combination: how to combine several groups.
    ///   - divisor: the number of stored units per unit of the measurement.
    public init(
        groups: [[String]], combination: Combination = .largest, divisor: Double = 1
    ) {
        self.groups = groups
        self.combination = combination
        self.divisor = divisor
    }

    /// Creates a source with one group. In each row, it has the value of its first field that is
    /// not null.
    public init(_ fields: String..., divisor: Double = 1) {
        self.init(groups: [fields], divisor: divisor)
    }

    /// Returns a copy without unknown fields and without empty groups.
    func limited(to isKnown: (String) -> Bool) -> MetricSource {
        var source = self
        source.groups = groups.map { $0.filter(isKnown) }.filter { !$0.isEmpty }
        return source
    }
}

/// The fields of a measuring system, by metric.
public struct SummarySources: Sendable {
    /// The name of the system in messages and commands.
    public var name: String
    /// The fields of each metric. Metrics that are missing here are not measured.
    public var sources: [SummaryMetric: MetricSource]

    /// Cozie: HealthKit samples of the phone (`ts_`) and the watch (`ws_`). Both have the same
    /// values if both are sent.
    ///
    /// - Step counts are samples (steps between two times), so they are summed. Newer versions of
    ///   the app send those of the phone and the watch separately. Both count the same steps, so
    ///   the larger value of a slot is used.
    /// - Energy is active plus basal energy, as in the bracelet.
    /// - A sleep sample is a row at its start with its duration in minutes.
    ///
    /// Source: cozie-apple 8c88818 and real exports. In these, each stage ends where the next one
    /// begins; `ws_sleep_core` is truncated to whole minutes, `ts_sleep_core` is not.
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

    /// The bracelet's raw metrics, one row per minute, or else slots under the names used in its
    /// summaries.
    ///
    /// Source: developer.corsano.com, raw data (MetricActivity: `energy_exp` is in cal), and the
    /// models that corsano-realm-converter reads from the app's database (MetricTemperature:
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
