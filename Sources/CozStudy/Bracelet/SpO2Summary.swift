// The oxygen saturation of a day.

public import CozDB

/// The oxygen saturation of one local day, percent. Property names are those of the bracelet's
/// `MetricSpo2Summery`; so are the keys when it is encoded.
///
/// Averages, rounding and days without values are as in `BPMSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct SpO2Summary: Hashable, Sendable, Encodable {
    /// The saturation in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Mean, percent.
        public var spo2: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots, percent.
    public var averageSpo2 = 0
    /// The last slot.
    public var lastSpo2 = 0
    /// The highest slot.
    public var maxDaySpo2 = 0
    /// Whether the day is over by the clock of the request.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
    public var slots: [Slot] = []
}

extension SpO2Summary {
    init(_ day: SummaryDay, _ vital: VitalSign) {
        id = day.id
        date = day.date
        timeZone = day.zone.name
        readyForSync = day.isOver
        averageSpo2 = vital.average.rounded
        lastSpo2 = vital.last.rounded
        maxDaySpo2 = vital.maximum.rounded
        slots = day.values(0).map { Slot(intervalDate: day.start($0), spo2: $1.rounded) }
    }
}
