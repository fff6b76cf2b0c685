// The heart rate summary per day: average, last, maximum, and time in each zone.

public import CozDB

/// The heart rate of one local day. Properties and encoded keys are named as in the bracelet's
/// `MetricBPMSummery`.
///
/// A slot is the rounded mean of the heart rates in it. Slots without a heart rate are left out.
/// All numbers are rounded to integers, half away from zero. A day without values has zeros and no
/// slots.
///
/// Source: the bracelet's documentation ("DataModels Summaries iOS"), classes, notes and example.
public struct BPMSummary: Hashable, Sendable, Encodable {
    /// The heart rate in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot.
        public var intervalDate: LocalTime
        /// The mean in beats per minute.
        public var bpm: Int
    }

    /// Days since 1970-01-01.
    public var id: Int
    /// The local day.
    public var date: LocalDate
    /// The name of the time zone of `date`.
    public var timeZone: String
    /// The mean in beats per minute, of slots or values (`SummaryRequest.Basis`).
    public var averageBPM = 0
    /// The last rate in beats per minute, of slots or values.
    public var lastBPM = 0
    /// The highest rate in beats per minute, of slots or values.
    public var maxDayBPM = 0
    /// Seconds below the first limit: the number of slots times their length. The documentation
    /// calls durations minutes, but in its example 100 slots of five minutes are 30,000.
    public var durationRestZone = 0
    /// Seconds from the first limit up to the second.
    public var durationWarmUpZone = 0
    /// Seconds from the second limit up to the third.
    public var durationFatBurnZone = 0
    /// Seconds from the third limit up to the fourth.
    public var durationEnduranceZone = 0
    /// Seconds from the fourth limit up to the fifth.
    public var durationPerformanceZone = 0
    /// Seconds from the fifth limit.
    public var durationMaxZone = 0
    /// Percent of all durations. The six percentages are rounded, so their sum may not be 100.
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
    /// Whether the day is over at `SummaryRequest.now`. Late data can still change the summary.
    public var readyForSync: Bool
    /// The slots with a value, in time order.
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

    /// Sets the zones from the rounded rates, so that they agree with `slots`.
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
