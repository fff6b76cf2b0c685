// The respiration rate summary per day, with the quality of each slot.

public import CozDB

/// The respiration rate of one local day. Properties and encoded keys are named as in the
/// bracelet's `MetricBreathSummery`.
///
/// Averages, rounding and days without values are as in `BPMSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct BreathSummary: Hashable, Sendable, Encodable {
    /// The respiration rate in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The mean in breaths per minute.
        public var brpm: Int
        /// The mean quality of the values, 0 (bad) to 4 (very good). 0 if there is none.
        public var brpmQ: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The mean in breaths per minute, of slots or values (`SummaryRequest.Basis`).
    public var averageBreath = 0
    /// The last rate in breaths per minute, of slots or values.
    public var lastBreath = 0
    /// The highest rate in breaths per minute, of slots or values.
    public var maxDayBreath = 0
    /// Whether the day is over at `SummaryRequest.now`.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
    public var slots: [Slot] = []
}

extension BreathSummary {
    /// - Parameter hasQuality: whether column 1 of the rows is the quality.
    init(_ day: SummaryDay, _ vital: VitalSign, hasQuality: Bool) {
        id = day.id
        date = day.date
        timeZone = day.zone.name
        readyForSync = day.isOver
        averageBreath = vital.average.rounded
        lastBreath = vital.last.rounded
        maxDayBreath = vital.maximum.rounded
        slots = day.values(0).map { row, value in
            let quality = hasQuality ? day.rows.columns[1][row] : nil
            return Slot(
                intervalDate: day.start(row), brpm: value.rounded, brpmQ: quality?.rounded ?? 0)
        }
    }
}
