// The respiration rate of a day, with the quality of each slot.

public import CozDB

/// The respiration rate of one local day. Property names are those of the bracelet's
/// `MetricBreathSummery`; so are the keys when it is encoded.
///
/// Averages, rounding and days without values are as in `BPMSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct BreathSummary: Hashable, Sendable, Encodable {
    /// The respiration rate in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Mean, breaths per minute.
        public var brpm: Int
        /// Mean quality of the values, 0 (bad) to 4 (very good); 0 where none is stored.
        public var brpmQ: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots, breaths per minute.
    public var averageBreath = 0
    /// The last slot.
    public var lastBreath = 0
    /// The highest slot.
    public var maxDayBreath = 0
    /// Whether the day is over by the clock of the request.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
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
