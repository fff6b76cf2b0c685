// The heart rate of a day: average, last, highest, and how long it was in which zone.

public import CozDB

/// The heart rate of one local day. Property names are those of the bracelet's
/// `MetricBPMSummery`; so are the keys when it is encoded.
///
/// A slot is the mean of the heart rates that begin in it, rounded; slots without one are left
/// out. Everything is rounded to whole numbers, halves up. A day without values has zeros and no
/// slots.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS"), classes, notes and example.
public struct BPMSummary: Hashable, Sendable, Encodable {
    /// The heart rate in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin.
        public var intervalDate: LocalTime
        /// Mean, beats per minute.
        public var bpm: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Mean of the slots (`SummaryRequest.Basis`), beats per minute.
    public var averageBPM = 0
    /// The last slot.
    public var lastBPM = 0
    /// The highest slot.
    public var maxDayBPM = 0
    /// Seconds in the zone: its slots times their length. The documentation calls durations
    /// minutes, but in its example 100 slots of five minutes are 30,000.
    public var durationRestZone = 0
    /// Seconds from the first limit.
    public var durationWarmUpZone = 0
    /// Seconds from the second limit.
    public var durationFatBurnZone = 0
    /// Seconds from the third limit.
    public var durationEnduranceZone = 0
    /// Seconds from the fourth limit.
    public var durationPerformanceZone = 0
    /// Seconds from the fifth limit.
    public var durationMaxZone = 0
    /// Share of all durations in percent; rounded, so that six need not make 100.
    public var percentageRestZone = 0
    /// Percent of all durations.
    public var percentageWarmUpZone = 0
    /// Percent of all durations.
    public var percentageFatBurnZone = 0
    /// Percent of all durations.
    public var percentageEnduranceZone = 0
    /// Percent of all durations.
    public var percentagePerformanceZone = 0
    /// Percent of all durations.
    public var percentageMaxZone = 0
    /// Whether the day is over by the clock of the request; late data can still change it.
    public var readyForSync: Bool
    /// Slots with a value, in the order of time.
    public var slots: [Slot] = []
}

extension BPMSummary {
    init(_ day: SummaryDay, _ vital: VitalSign, _ zones: HeartRateZones, slotSeconds: Int) {
        id = day.id
        date = day.date
        timeZone = day.zone.name
        readyForSync = day.isOver
        averageBPM = vital.average.rounded
        lastBPM = vital.last.rounded
        maxDayBPM = vital.maximum.rounded
        slots = day.values(0).map { row, value in
            Slot(intervalDate: day.start(row), bpm: value.rounded)
        }
        setZones(zones, slotSeconds)
    }

    /// Counts the rounded rates that slots show, so that whoever counts them again agrees.
    private mutating func setZones(_ zones: HeartRateZones, _ slotSeconds: Int) {
        var counts = Array(repeating: 0, count: HeartRateZones.Zone.allCases.count)
        for slot in slots { counts[zones.zone(of: Double(slot.bpm)).rawValue] += 1 }
        func duration(_ zone: HeartRateZones.Zone) -> Int { counts[zone.rawValue] * slotSeconds }
        func percentage(_ zone: HeartRateZones.Zone) -> Int {
            slots.isEmpty ? 0 : (100 * Double(counts[zone.rawValue]) / Double(slots.count)).rounded
        }
        durationRestZone = duration(.rest)
        durationWarmUpZone = duration(.warmUp)
        durationFatBurnZone = duration(.fatBurn)
        durationEnduranceZone = duration(.endurance)
        durationPerformanceZone = duration(.performance)
        durationMaxZone = duration(.maximum)
        percentageRestZone = percentage(.rest)
        percentageWarmUpZone = percentage(.warmUp)
        percentageFatBurnZone = percentage(.fatBurn)
        percentageEnduranceZone = percentage(.endurance)
        percentagePerformanceZone = percentage(.performance)
        percentageMaxZone = percentage(.maximum)
    }
}
