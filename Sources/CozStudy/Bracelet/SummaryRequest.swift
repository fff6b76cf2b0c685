// What summaries are asked for: whose, of which days, and by which rules where the bracelet's
// documentation leaves them open.

public import CozDB

/// Whose summaries, of which days, by which rules.
public struct SummaryRequest: Sendable {
    /// What average, last and maximum of a day are taken of.
    public enum Basis: String, CaseIterable, Sendable {
        /// Of the means of its slots. In the documentation's examples the maximum of a day is the
        /// mean of one of its slots, and the app keeps the highest single value apart from it
        /// (`realMaxDayBPM`). A stretch that is sampled every second weighs no more than others.
        case slots
        /// Of the values as stored.
        case values
    }

    /// The experiment.
    public var experiment: String
    /// Whose; none for all that have data in the days asked for.
    public var participants: [String]
    /// The first day, in `zone`.
    public var firstDay: LocalDate
    /// How many days, 1 to 3,660.
    public var dayCount = 1
    /// Where the days are those of. A day goes from its first moment to that of the next:
    /// 23 or 25 hours where clocks are moved. (The documentation's "till 29:59" is a slip.)
    public var zone: TimeZoneRules
    /// Length of a slot in seconds; a divisor of 3,600. nil: `SummaryKind.defaultSlotSeconds`.
    public var slotSeconds: Int?
    /// Where measurements are looked for, the first that has the main one of a summary.
    public var sources: [SummarySources] = [.bracelet, .cozie]
    /// Fields named by the caller, by measurement: they go before `sources`. Of several the
    /// first one with a value counts, row by row. They hold the unit of the measurement.
    public var fields: [SummaryMetric: [String]] = [:]
    /// Rows whose quality is lower or missing are left out; nil leaves nothing out.
    public var qualityMin: Double?
    /// Whether values outside of `SummaryKind.possibleValues` are left out.
    public var keepsPossibleValuesOnly = false
    /// What average, last and maximum of a day are taken of.
    public var basis = Basis.slots
    /// Limits between the zones of the heart rate.
    public var zones = HeartRateZones.example
    /// Height in centimetres, 50 to 280, from which distances are computed: a step is 0.414 of
    /// it. The default is that of the documentation's example, in which 37 steps are 25 m.
    public var heightCentimetres = 163.0
    /// Steps of a day that are 100 % of its goal, above 0. Source: the documentation, 10,000.
    public var stepGoal = 10_000
    /// Steps from which on an hour counts in `moveEveryHour`, above 0. No definition is public;
    /// 250 is the usual one of hourly goals (Fitbit's), and gives the documentation's example.
    public var hourlySteps = 250
    /// Seconds without sleep that end a session, up to a day. No source; an hour is usual.
    public var sleepGapSeconds = 3_600
    /// The clock that decides whether a day is over.
    public var now: Timestamp
    /// Asked while the database is read; true ends it with an error of kind `cancelled`.
    public var isCancelled: (@Sendable () -> Bool)?

    /// - Parameters:
    ///   - participants: none for all that have data.
    ///   - firstDay: in `zone`.
    ///   - now: the clock that decides whether a day is over.
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

    /// Length of a slot of this summary, in seconds.
    func slotSeconds(of kind: SummaryKind) -> Int { slotSeconds ?? kind.defaultSlotSeconds }

    /// - Throws: `usage` with what was found and what is expected.
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
            "\(sleepGapSeconds) s", "up to a day")
        if let qualityMin {
            try expect(qualityMin.isFinite, "quality", "\(qualityMin)", "a number")
        }
        try expect(!sources.isEmpty || !fields.isEmpty, "sources", "none", "one or more")
    }
}
