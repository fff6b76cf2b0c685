// The short summary of steps, distance and energy per day.

public import CozDB

/// Steps, distance and energy of one local day. Properties and encoded keys are named as in the
/// bracelet's `MetricActivitySummery`. Uses the formulas of `StepsSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct ActivitySummary: Hashable, Sendable, Encodable {
    /// The activity in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The number of steps.
        public var steps: Int
        /// The distance of these steps in whole meters.
        public var distance: Int
        /// The energy in kcal.
        public var calories: Double
        /// Always false. Slots cannot be edited.
        public var isEdited = false
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The number of steps of the day.
    public var steps = 0
    /// Steps x height in cm x 0.414 / 100, in meters, rounded.
    public var distance = 0
    /// The energy of the day in kcal.
    public var calories = 0.0
    /// Whether the day is over at `SummaryRequest.now`.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
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
