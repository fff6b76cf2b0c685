// One session of sleep: how long of which stage, how often the stage changed, slot by slot.

public import CozDB

/// One session of sleep. Property names are those of the bracelet's `MetricSleepSummery`; so are
/// the keys when it is encoded. Durations are in seconds, as the names of some of them say.
///
/// The documentation says only that a summary is of one session and what its types are. Here a
/// session ends where no sleep follows for `SummaryRequest.sleepGapSeconds`; it may cross
/// midnight, and belongs to the day on which its sleep ends. Time awake just before and after it,
/// not longer than that gap, and time in bed around it are part of it. Where spans of stages
/// overlap, the one that began last counts. Source: the documentation ("DataModels Summaries
/// iOS"); rules of Apple's HealthKit for samples of sleep, on which Cozie's fields are based.
public struct SleepSummary: Hashable, Sendable, Encodable {
    /// The stage in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// Its begin in milliseconds since 1970 UTC, as text: the bracelet's raw metrics have a
        /// `timestamp` in that unit.
        public var timestamp: String
        /// Its begin on local clocks.
        public var date: LocalTime
        /// What most of it is: 0 undefined (or asleep, of an unknown stage), 1 awake, 2 light,
        /// 3 deep, 4 REM.
        public var sleepType: Int
        /// Always false: nothing is rejected here.
        public var isRejected = false
        /// Always false: nobody edits slots here.
        public var isEdited = false
    }

    /// Begin of the session in seconds since 1970: the same whatever days are asked for.
    public var id: Int
    /// The local day on which its sleep ends.
    public var recordDate: LocalDate
    /// Where that day is one.
    public var timeZone: String
    /// Begin, with time awake or in bed before the first sleep.
    public var startSession: LocalTime
    /// End, with time awake or in bed after the last sleep.
    public var stopSession: LocalTime
    /// Seconds by which local clocks are ahead of UTC at the end. (The unit is not documented.)
    public var tzOffset: Int
    /// Seconds asleep: light, deep, REM, and of an unknown stage.
    public var totalSleepDuration: Int
    /// Seconds from the begin of the session to the first sleep.
    public var timeToSleep: Int
    /// Seconds from the last sleep to the end of the session.
    public var timeToWakeUp: Int
    /// Always 0: what it counts is not documented.
    public var consecutiveSleepSlotLightToRemove = 0
    /// Always 0: what it counts is not documented.
    public var consecutiveSleepSlotDeepToRemove = 0
    /// Always 0: what it counts is not documented.
    public var consecutiveSleepSlotRemToRemove = 0
    /// Seconds of light sleep.
    public var totalSecsLight: Int
    /// Seconds of deep sleep.
    public var totalSecsDeep: Int
    /// Seconds awake.
    public var totalSecsAwake: Int
    /// Seconds of REM sleep.
    public var totalSecsREM: Int
    /// Always 0: what it is is not documented.
    public var totalSecsDept = 0
    /// Always 0: what it is is not documented.
    public var totalSecsIntensityAdjust = 0
    /// Always 0: what it is is not documented.
    public var totalSecsDeptAdjust = 0
    /// How often light sleep follows deep; what is undefined between them does not count.
    public var totalDeepToLightTransitions: Int
    /// How often REM follows deep sleep.
    public var totalDeepToREMTransitions: Int
    /// How often deep follows light sleep.
    public var totalLightToDeepTransitions: Int
    /// How often REM follows light sleep.
    public var totalLightToREMTransitions: Int
    /// How often deep sleep follows REM.
    public var totalREMToDeepTransitions: Int
    /// How often light sleep follows REM.
    public var totalREMToLightTransitions: Int
    /// How often being awake follows any sleep, waking up for good included where it was recorded.
    public var totalSleepToAwakeTransitions: Int
    /// How often any sleep follows being awake.
    public var totalAwakeToSleepTransitions: Int
    /// Whether no later sleep can belong to it, by the clock of the request.
    public var readyForSync: Bool
    /// All slots from begin to end, in the order of time.
    public var slots: [Slot] = []
}

extension SleepSummary {
    private static let second: Int64 = 1_000_000_000

    init(_ session: SleepSession, _ request: SummaryRequest, recordDate: LocalDate) {
        let zone = request.zone
        func seconds(_ nanoseconds: Int64) -> Int {
            (Double(nanoseconds) / Double(SleepSummary.second)).rounded
        }
        func total(_ isWanted: (SleepStage) -> Bool) -> Int {
            seconds(session.segments.reduce(0) { $0 + (isWanted($1.stage) ? $1.length : 0) })
        }
        let changes = StageChanges(session.segments)
        self.recordDate = recordDate
        timeZone = zone.name
        startSession = LocalTime(session.start, in: zone)
        stopSession = LocalTime(session.end, in: zone)
        id = Int(session.start / SleepSummary.second)
        tzOffset = stopSession.offsetSeconds
        totalSleepDuration = total { $0.isSleep }
        timeToSleep = seconds(session.sleepStart - session.start)
        timeToWakeUp = seconds(session.end - session.sleepEnd)
        totalSecsLight = total { $0 == .light }
        totalSecsDeep = total { $0 == .deep }
        totalSecsAwake = total { $0 == .awake }
        totalSecsREM = total { $0 == .rem }
        totalDeepToLightTransitions = changes.count(.deep, .light)
        totalDeepToREMTransitions = changes.count(.deep, .rem)
        totalLightToDeepTransitions = changes.count(.light, .deep)
        totalLightToREMTransitions = changes.count(.light, .rem)
        totalREMToDeepTransitions = changes.count(.rem, .deep)
        totalREMToLightTransitions = changes.count(.rem, .light)
        totalSleepToAwakeTransitions = changes.wakings
        totalAwakeToSleepTransitions = changes.fallingsAsleep
        let gap = Int64(request.sleepGapSeconds) * SleepSummary.second
        readyForSync = session.end + gap <= request.now.nanoseconds
        slots = SleepSummary.slots(session, request)
    }

    /// Slots begin at whole slots of local time, the first one at or before the session.
    private static func slots(_ session: SleepSession, _ request: SummaryRequest) -> [Slot] {
        let length = Int64(request.slotSeconds(of: .sleep)) * second
        let offset = Int64(LocalTime(session.start, in: request.zone).offsetSeconds) * second
        let local = session.start + offset
        var start = session.start - ((local % length) + length) % length
        var slots: [Slot] = []
        var next = 0
        while start < session.end {
            let end = start + length
            while next < session.segments.count, session.segments[next].end <= start { next += 1 }
            slots.append(
                Slot(
                    timestamp: String(start / 1_000_000),
                    date: LocalTime(start, in: request.zone),
                    sleepType: sleepType(session.segments[next...], from: start, to: end)))
            start = end
        }
        return slots
    }

    /// The type that has most of a slot, of equals the first; undefined where there is no segment.
    private static func sleepType(
        _ segments: ArraySlice<SleepSpan>, from start: Int64, to end: Int64
    ) -> Int {
        var lengths: [Int64] = Array(repeating: 0, count: 5)
        var type = 0
        for segment in segments {
            if segment.start >= end { break }
            let sleepType = segment.stage.sleepType
            lengths[sleepType] += min(segment.end, end) - max(segment.start, start)
            let isFirst = lengths.allSatisfy { $0 == 0 || $0 == lengths[sleepType] }
            if isFirst && type == 0 || lengths[sleepType] > lengths[type] { type = sleepType }
        }
        return type
    }
}

/// Changes from one stage to the next.
private struct StageChanges {
    private let changes: [(from: SleepStage, to: SleepStage)]

    init(_ segments: [SleepSpan]) {
        let stages = segments.map(\.stage)
        changes = Array(zip(stages, stages.dropFirst())).map { (from: $0.0, to: $0.1) }
    }

    func count(_ from: SleepStage, _ to: SleepStage) -> Int {
        changes.count { $0.from == from && $0.to == to }
    }

    var wakings: Int { changes.count { $0.from.isSleep && $0.to == .awake } }

    var fallingsAsleep: Int { changes.count { $0.from == .awake && $0.to.isSleep } }
}
