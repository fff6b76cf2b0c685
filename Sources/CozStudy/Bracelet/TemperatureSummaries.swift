// The summaries of skin and body temperature per day.

public import CozDB

/// The skin temperature of one local day in degrees Celsius. Properties and encoded keys are named
/// as in the bracelet's `MetricBodyTempSummery`.
///
/// Averages and days without values are as in `BPMSummary`, but numbers are not rounded. In the
/// documentation's example the average equals the mean of its 51 slots to the last digit.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct SkinTemperatureSummary: Hashable, Sendable, Encodable {
    /// The temperature in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The mean in degrees Celsius.
        public var temp: Double
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The mean in degrees Celsius, of slots or values (`SummaryRequest.Basis`).
    public var averageTemp = 0.0
    /// The last temperature in degrees Celsius, of slots or values.
    public var lastTemp = 0.0
    /// The highest temperature in degrees Celsius, of slots or values.
    public var maxDayTemp = 0.0
    /// Whether the day is over at `SummaryRequest.now`.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
    public var slots: [Slot] = []
}

extension SkinTemperatureSummary {
    init(_ day: SummaryDay, _ vital: VitalSign) {
        id = day.id
        date = day.date
        timeZone = day.zone.name
        readyForSync = day.isOver
        (averageTemp, lastTemp, maxDayTemp) = (vital.average, vital.last, vital.maximum)
        slots = day.values(0).map { Slot(intervalDate: day.start($0), temp: $1) }
    }
}

/// The body temperature of one local day in degrees Celsius. Properties and encoded keys are named
/// as in the bracelet's `MetricCoreBodyTemperatureSummary`.
///
/// Averages and days without values are as in `SkinTemperatureSummary`. The documentation's example
/// is wrong: each of its slots is higher than its maximum.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct CoreTemperatureSummary: Hashable, Sendable, Encodable {
    /// The temperature in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The mean in degrees Celsius.
        public var coreBodyTemperature: Double
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The mean in degrees Celsius, of slots or values (`SummaryRequest.Basis`).
    public var averageCoreBodyTemperature = 0.0
    /// The last temperature in degrees Celsius, of slots or values.
    public var lastCoreBodyTemperature = 0.0
    /// The highest temperature in degrees Celsius, of slots or values.
    public var maxDayCoreBodyTemperature = 0.0
    /// Whether the day is over at `SummaryRequest.now`.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
    public var slots: [Slot] = []
}

extension CoreTemperatureSummary {
    init(_ day: SummaryDay, _ vital: VitalSign) {
        id = day.id
        date = day.date
        timeZone = day.zone.name
        readyForSync = day.isOver
        averageCoreBodyTemperature = vital.average
        lastCoreBodyTemperature = vital.last
        maxDayCoreBodyTemperature = vital.maximum
        slots = day.values(0).map { Slot(intervalDate: day.start($0), coreBodyTemperature: $1) }
    }
}
