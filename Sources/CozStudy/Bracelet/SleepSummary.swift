// The summary of one sleep session: durations, stage changes and slots.

public import CozDB

/// One sleep session. Properties and encoded keys are named as in the bracelet's
/// `MetricSleepSummery`. Durations are in seconds, as some of the names say.
///
/// The documentation says only that a summary covers one session, and gives the types. Here a
/// session ends when no sleep follows for `SummaryRequest.sleepGapSeconds`. It may cross midnight
/// and belongs to the day on which its sleep ends. It includes time awake directly before and after
/// the sleep, up to that gap, and time in bed around it. If stages overlap, the one that began last
/// wins.
///
/// Source: the documentation ("DataModels Summaries iOS"); the rules of Apple's HealthKit for sleep
/// samples, on which Cozie's fields are based.
public struct SleepSummary: Hashable, Sendable, Encodable {
    /// The sleep stage in a slot.
    public struct Slot: Hashable, Sendable, Encodable {
        /// The start of the slot in milliseconds since 1970 UTC, as text. The bracelet's raw
        /// metrics have a `timestamp` in that unit.
        public var timestamp: String
        /// The start of the slot in local time.
        public var date: LocalTime
        /// The longest stage in the slot: 0 undefined (or an unknown sleep stage), 1 awake, 2
        /// light, 3 deep, 4 REM.
        public var sleepType: Int
        /// Always false. No slot is rejected.
        public var isRejected = false
        /// Always false. Slots cannot be edited.
        public var isEdited = false
    }

    /// The start of the session in seconds since 1970. Independent of the requested days.
    public var id: Int
    /// The local day on which the sleep ends.
    public var recordDate: LocalDate
    /// The name of the time zone of `recordDate`.
    public var timeZone: String
    /// The start, including time awake or in bed before the first sleep.
    public var startSession: LocalTime
    /// The end, including time awake or in bed after the last sleep.
    public var stopSession: LocalTime
    /// The UTC offset at the end in seconds east. (The unit is not documented.)
    public var tzOffset: Int
    /// Seconds asleep: light, deep, REM and unknown stages.
    public var totalSleepDuration: Int
    /// Seconds from the start of the session to the first sleep.
    public var timeToSleep: Int
    /// Seconds from the last sleep to the end of the session.
    public var timeToWakeUp: Int
    /// Always 0. Its meaning is not documented.
    public var consecutiveSleepSlotLightToRemove = 0
    /// Always 0. Its meaning is not documented.
    public var consecutiveSleepSlotDeepToRemove = 0
    /// Always 0. Its meaning is not documented.
    public var consecutiveSleepSlotRemToRemove = 0
    /// Seconds of light sleep.
    public var totalSecsLight: Int
    /// Seconds of deep sleep.
    public var totalSecsDeep: Int
    /// Seconds awake.
    public var totalSecsAwake: Int
    /// Seconds of REM sleep.
    public var totalSecsREM: Int
    /// Always 0. Its meaning is not documented.
    public var totalSecsDept = 0
    /// Always 0. Its meaning is not documented.
    public var totalSecsIntensityAdjust = 0
    /// Always 0. Its meaning is not documented.
    public var totalSecsDeptAdjust = 0
    /// The number of direct changes from deep to light sleep, without another stage between.
    public var totalDeepToLightTransitions: Int
    /// The number of direct changes from deep to REM sleep.
    public var totalDeepToREMTransitions: Int
    /// The number of direct changes from light to deep sleep.
    public var totalLightToDeepTransitions: Int
    /// The number of direct changes from light to REM sleep.
    public var totalLightToREMTransitions: Int
    /// The number of direct changes from REM to deep sleep.
    public var totalREMToDeepTransitions: Int
    /// The number of direct changes from REM to light sleep.
    public var totalREMToLightTransitions: Int
    /// The number of changes from any sleep to awake, including the final one if it was recorded.
    public var totalSleepToAwakeTransitions: Int
    /// The number of changes from awake to any sleep.
    public var totalAwakeToSleepTransitions: Int
    /// Whether the session is complete at `SummaryRequest.now`: later sleep cannot extend it.
    public var readyForSync: Bool
    /// All slots of the session in time order.
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
        totalSleepToAwakeTransitions = changes.sleepToAwakeCount
        totalAwakeToSleepTransitions = changes.awakeToSleepCount
        let gap = Int64(request.sleepGapSeconds) * SleepSummary.second
        readyForSync = session.end + gap <= request.now.nanoseconds
        slots = SleepSummary.slots(session, request)
    }

    /// Returns the slots. They are aligned to local time, and the first one begins at or before the
    /// session.
    private static func slots(_ session: SleepSession, _ request: SummaryRequest) -> [Slot] {
        let length = Int64(request.slotSeconds(of: .sleep)) * second
        var (start, end) = request.zone.bucket(at: session.start, interval: length)
        var slots: [Slot] = []
        var next = 0
        while start < session.end {
            while next < session.segments.count, session.segments[next].end <= start { next += 1 }
            slots.append(
                Slot(
                    timestamp: String(start / 1_000_000),
                    date: LocalTime(start, in: request.zone),
                    sleepType: sleepType(session.segments[next...], from: start, to: end)))
            (start, end) = request.zone.bucket(at: end, interval: length)
        }
        return slots
    }

    /// Returns the type that fills most of a slot. The first one wins a tie. Returns 0 if there is
    /// no segment.
    private static func sleepType(
        _ segments: ArraySlice<SleepSpan>, from start: Int64, to end: Int64
    ) -> Int {
        var lengths: [Int64] = Array(repeating: 0, count: 5)
        // In the order in which they begin.
        var types: [Int] = []
        for segment in segments {
            if segment.start >= end { break }
            let type = segment.stage.sleepType
            if lengths[type] == 0 { types.append(type) }
            lengths[type] += min(segment.end, end) - max(segment.start, start)
        }
        return types.max { lengths[$0] < lengths[$1] } ?? 0
    }
}

/// The changes between adjacent segments.
private struct StageChanges {
    private let changes: [(from: SleepStage, to: SleepStage)]

    init(_ segments: [SleepSpan]) {
        let stages = segments.map(\.stage)
        changes = Array(zip(stages, stages.dropFirst())).map { (from: $0.0, to: $0.1) }
    }

    func count(_ from: SleepStage, _ to: SleepStage) -> Int {
        changes.count { $0.from == from && $0.to == to }
    }

    var sleepToAwakeCount: Int { changes.count { $0.from.isSleep && $0.to == .awake } }

    var awakeToSleepCount: Int { changes.count { $0.from == .awake && $0.to.isSleep } }
}
