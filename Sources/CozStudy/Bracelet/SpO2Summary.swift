// The oxygen saturation summary per day.

public import CozDB

/// The oxygen saturation of one local day. Properties and encoded keys are named as in the
/// bracelet's `MetricSpo2Summery`.
///
/// Averages, rounding and days without values are as in `BPMSummary`.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct SpO2Summary: Hashable, Sendable, Encodable {
    /// The saturation in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The mean in percent.
        public var spo2: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The mean in percent, of slots or values (`SummaryRequest.Basis`).
    public var averageSpo2 = 0
    /// The last saturation in percent, of slots or values.
    public var lastSpo2 = 0
    /// The highest saturation in percent, of slots or values.
    public var maxDaySpo2 = 0
    /// Whether the day is over at `SummaryRequest.now`.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
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
