// Steps, distance and energy of a day in short.

public import CozDB

/// Steps, distance and energy of one local day. Property names are those of the bracelet's
/// `MetricActivitySummery`; so are the keys when it is encoded. Formulas are those of
/// `StepsSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct ActivitySummary: Hashable, Sendable, Encodable {
    /// Activity in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Sum.
        public var steps: Int
        /// Of its steps, whole metres.
        public var distance: Int
        /// Sum, kcal.
        public var calories: Double
        /// Always false: nobody edits slots here.
        public var isEdited = false
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Sum of the day.
    public var steps = 0
    /// Steps x height in cm x 0.414 / 100, rounded to whole metres.
    public var distance = 0
    /// Energy of the day, kcal.
    public var calories = 0.0
    /// Whether the day is over by the clock of the request.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
    public var slots: [Slot] = []
}

extension ActivitySummary {
    init(_ day: SummaryDay, _ rows: [StepRow], _ request: SummaryRequest) {
        let length = StepLength(heightCentimetres: request.heightCentimetres)
        let sum = rows.reduce(0) { $0 + $1.steps }
        id = day.id
        date = day.date
        timeZone = day.zone.name
        steps = sum.rounded
        distance = length.distance(sum)
        calories = rows.reduce(0) { $0 + $1.energy }
        readyForSync = day.isOver
        slots = rows.map { row in
            Slot(
                intervalDate: row.start, steps: row.steps.rounded,
                distance: length.distance(row.steps), calories: row.energy)
        }
    }
}
