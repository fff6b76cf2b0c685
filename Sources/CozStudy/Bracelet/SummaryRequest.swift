// The parameters of summaries: participants, days, and the rules that the bracelet's documentation
// leaves open.

public import CozDB

/// The participants, days and rules of summaries.
public struct SummaryRequest: Sendable {
    /// The input for the average, last and maximum of a day.
    public enum Basis: String, CaseIterable, Sendable {
        /// The means of the slots. In the documentation's examples the maximum of a day is the mean
        /// of one of its slots, and the app keeps the highest single value separately
        /// (`realMaxDayBPM`). Periods with a high sampling rate weigh no more than others.
        case slots
        /// The stored values.
        case values
    }

    /// The name of the experiment.
    public var experiment: String
    /// The participants. Empty selects all that have data on the requested days.
    public var participants: [String]
    /// The first day, in `zone`.
    public var firstDay: LocalDate
    /// The number of days, 1 to 3,660.
    public var dayCount = 1
    /// The time zone of the days. A day lasts from its start to the start of the next, so 23 or 25
    /// hours at a clock change. (The documentation's "till 29:59" is a typo.)
    public var zone: TimeZoneRules
    /// The length of a slot in seconds, a divisor of 3,600. Nil uses
    /// `SummaryKind.defaultSlotSeconds`.
    public var slotSeconds: Int?
    /// The measuring systems to try. The first one with the main metric of a summary is used.
    public var sources: [SummarySources] = [.bracelet, .cozie]
    /// Fields by metric. They take precedence over `sources` and must use the unit of the metric.
    /// In each row the first field that is not null is used.
    public var fields: [SummaryMetric: [String]] = [:]
    /// The minimum quality. Rows with a lower or no quality are left out. Nil keeps all rows.
    public var qualityMin: Double?
    /// Whether to leave out values outside `SummaryKind.possibleValues`.
    public var keepsPossibleValuesOnly = false
    /// The input for the average, last and maximum of a day.
    public var basis = Basis.slots
    /// The heart rate zones.
    public var zones = HeartRateZones.example
    /// The height in centimeters, 50 to 280. A step is 0.414 of it. The default matches the
    /// documentation's example, in which 37 steps are 25 m.
    public var heightCentimetres = 163.0
    /// The goal of steps per day, above 0. The default comes from the documentation.
    public var stepGoal = 10_000
    /// The minimum number of steps for an hour to count in `moveEveryHour`, above 0. There is no
    /// public definition. 250 is common for hourly goals (Fitbit uses it) and matches the
    /// documentation's example.
    public var hourlySteps = 250
    /// Seconds without sleep that end a session, 0 to 86,400. The documentation gives no value; an
    /// hour is common.
    public var sleepGapSeconds = 3_600
    /// The current time. It decides whether a day is over.
    public var now: Timestamp
    /// The cancellation check. If it returns true, the call throws `cancelled`.
    public var isCancelled: (@Sendable () -> Bool)?

    /// Creates a request with default rules.
    ///
    /// - Parameters:
    ///   - experiment: the name of the experiment.
    ///   - participants: empty selects all that have data.
    ///   - firstDay: in `zone`.
    ///   - zone: the time zone of the days.
    ///   - now: the current time. It decides whether a day is over.
    public init(
        experiment: String, participants: [String], firstDay: LocalDate, zone: TimeZoneRules,
        now: Timestamp
    ) {
        self.experiment = experiment
        self.participants = participants
        self.firstDay = firstDay
        self.zone = zone
        self.now = now
    }

    func slotSeconds(of kind: SummaryKind) -> Int { slotSeconds ?? kind.defaultSlotSeconds }

    /// - Throws: `usage` with the value found and the value expected.
    func check() throws(DatabaseError) {
        func expect(
            _ isRight: Bool, _ what: String, _ found: String, _ expected: String
        ) throws(DatabaseError) {
            if isRight { return }
            throw DatabaseError(.usage, "\(what): found \(found), expected \(expected)")
        }
        try expect((1...3_660).contains(dayCount), "days", "\(dayCount)", "1 to 3660")
        if let seconds = slotSeconds {
            try expect(
                seconds > 0 && seconds <= 3_600 && 3_600 % seconds == 0, "slot", "\(seconds) s",
                "a divisor of an hour such as 1m, 5m, 30m or 1h")
        }
        try expect(
            (50...280).contains(heightCentimetres), "height", "\(heightCentimetres)",
            "50 to 280 centimetres")
        try expect(stepGoal > 0, "goal", "\(stepGoal)", "a number of steps above 0")
        try expect(hourlySteps > 0, "hourly steps", "\(hourlySteps)", "a number above 0")
        try expect(
            (0...86_400).contains(sleepGapSeconds), "gap between sessions",
            "\(sleepGapSeconds) s", "0 to 86400 s")
        if let qualityMin {
            try expect(qualityMin.isFinite, "quality", "\(qualityMin)", "a number")
        }
        try expect(!sources.isEmpty || !fields.isEmpty, "sources", "none", "one or more")
    }
}
