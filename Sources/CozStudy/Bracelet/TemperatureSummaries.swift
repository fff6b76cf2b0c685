// Temperatures of a day: of the skin, and of the body.

public import CozDB

/// The temperature of the skin on one local day, degrees Celsius. Property names are those of the
/// bracelet's `MetricBodyTempSummery`; so are the keys when it is encoded.
///
/// Averages and days without values are as in `BPMSummary`; nothing is rounded. In the
/// documentation's example the average is that of 51 slots, to the last digit.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct SkinTemperatureSummary: Hashable, Sendable, Encodable {
    /// The temperature in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Mean, degrees Celsius.
        public var temp: Double
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots, degrees Celsius.
    public var averageTemp = 0.0
    /// The last slot.
    public var lastTemp = 0.0
    /// The highest slot.
    public var maxDayTemp = 0.0
    /// Whether the day is over by the clock of the request.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
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

/// The temperature of the body on one local day, degrees Celsius. Property names are those of the
/// bracelet's `MetricCoreBodyTemperatureSummary`; so are the keys when it is encoded.
///
/// Averages and days without values are as in `SkinTemperatureSummary`. The documentation's
/// example cannot be right: each of its slots is higher than its maximum.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS").
public struct CoreTemperatureSummary: Hashable, Sendable, Encodable {
    /// The temperature in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Mean, degrees Celsius.
        public var coreBodyTemperature: Double
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots, degrees Celsius.
    public var averageCoreBodyTemperature = 0.0
    /// The last slot.
    public var lastCoreBodyTemperature = 0.0
    /// The highest slot.
    public var maxDayCoreBodyTemperature = 0.0
    /// Whether the day is over by the clock of the request.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
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
