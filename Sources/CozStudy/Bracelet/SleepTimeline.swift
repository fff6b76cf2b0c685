// Resolves overlapping sleep spans to disjoint segments and groups these into sessions.

internal import CozDB

/// A sleep stage, or being awake or in bed.
enum SleepStage: Int, Comparable {
    case inBed
    case awake
    /// Asleep in an unknown stage.
    case unspecified
    case light
    case deep
    case rem

    /// The bracelet's code: 0 undefined, 1 awake, 2 light, 3 deep, 4 REM.
    var sleepType: Int {
        switch self {
        case .inBed, .unspecified: 0
        case .awake: 1
        case .light: 2
        case .deep: 3
        case .rem: 4
        }
    }

    /// Returns nil for undefined and for unknown codes.
    init?(sleepType: Double) {
        switch sleepType {
        case 1: self = .awake
        case 2: self = .light
        case 3: self = .deep
        case 4: self = .rem
        default: return nil
        }
    }

    var isSleep: Bool { self >= .unspecified }

    static func < (left: SleepStage, right: SleepStage) -> Bool { left.rawValue < right.rawValue }
}

/// A stage in a half-open time range, in nanoseconds since 1970.
struct SleepSpan {
    var start: Int64
    var end: Int64
    var stage: SleepStage

    var length: Int64 { end - start }
}

/// One sleep, including its interruptions.
struct SleepSession {
    /// Disjoint segments in time order. The sleep spans from the first to the last segment that is
    /// sleep.
    var segments: [SleepSpan]
    var start: Int64
    var end: Int64
    var sleepStart: Int64
    var sleepEnd: Int64
}

/// The segments of one participant, and their sessions.
struct SleepTimeline {
    /// The longest session in nanoseconds.
    static let sessionLengthMax: Int64 = 36 * 3_600 * 1_000_000_000

    /// Disjoint segments in time order, without `inBed`.
    private(set) var segments: [SleepSpan] = []
    private var inBed = TimesInBed([])

    /// - Parameter spans: in any order. If spans overlap, the one that began last wins, because a
    ///   stage lies within a longer span in bed or of unspecified sleep. If they begin together,
    ///   the deeper stage wins.
    init(_ spans: [SleepSpan]) {
        let spans = spans.filter { $0.start < $0.end }
            .sorted { ($0.start, $0.stage) < ($1.start, $1.stage) }
        inBed = TimesInBed(spans.filter { $0.stage == .inBed })
        // The spans that may still be open. The last one wins.
        var open: [SleepSpan] = []
        var time = Int64.min
        for span in spans where span.stage != .inBed {
            advance(&open, from: time, to: span.start)
            time = span.start
            open.append(span)
        }
        advance(&open, from: time, to: .max)
    }

    private mutating func advance(_ open: inout [SleepSpan], from start: Int64, to end: Int64) {
        var time = start
        while time < end, let span = open.last {
            let stop = min(span.end, end)
            if stop > time {
                append(SleepSpan(start: time, end: stop, stage: span.stage))
                time = stop
            }
            if span.end > end { return }
            open.removeLast()
        }
    }

    private mutating func append(_ segment: SleepSpan) {
        if let last = segments.last, last.end == segment.start, last.stage == segment.stage {
            segments[segments.count - 1].end = segment.end
        } else {
            segments.append(segment)
        }
    }

    /// Returns the sleep sessions. A session is sleep with interruptions of at most `gap`
    /// nanoseconds, or longer ones spent in bed. Longer than `sessionLengthMax`, it is cut at each
    /// noon: the parts are then the same wherever the spans begin.
    ///
    /// It also includes adjacent time awake of at most `gap` (a longer time means that the
    /// participant got up) and time in bed that overlaps the sleep.
    ///
    /// - Parameter day: the time from noon to noon around a time.
    func sessions(
        gap: Int64, day: (Int64) -> Range<Int64> = SleepTimeline.dayOfUTC
    ) -> [SleepSession] {
        var sessions: [SleepSession] = []
        let sleeps = segments.indices.filter { segments[$0].stage.isSleep }
        var first = 0
        while first < sleeps.count {
            var last = first
            while last + 1 < sleeps.count,
                isSameSession(segments[sleeps[last]].end, segments[sleeps[last + 1]].start, gap)
            {
                last += 1
            }
            let (start, end) = (segments[sleeps[first]].start, segments[sleeps[last]].end)
            if end - start <= SleepTimeline.sessionLengthMax {
                sessions.append(session(sleeps[first], sleeps[last], gap))
            } else {
                let lower = first == 0 ? 0 : sleeps[first - 1] + 1
                let upper = last + 1 < sleeps.count ? sleeps[last + 1] : segments.count
                var time = start
                while time < end {
                    let day = day(time)
                    if let part = part(segments[lower..<upper], in: day, gap) {
                        sessions.append(part)
                    }
                    time = day.upperBound
                }
            }
            first = last + 1
        }
        return sessions
    }

    /// The day from noon to noon in UTC.
    static func dayOfUTC(_ time: Int64) -> Range<Int64> {
        let length: Int64 = 86_400 * 1_000_000_000
        let offset = (time - length / 2) % length
        let start = time - (offset < 0 ? offset + length : offset)
        return start..<(start + length)
    }

    /// The part of a session that is in a day; nil if it has no sleep there.
    private func part(
        _ own: ArraySlice<SleepSpan>, in day: Range<Int64>, _ gap: Int64
    ) -> SleepSession? {
        let start = own.partitioningIndex { $0.end > day.lowerBound }
        let end = own.partitioningIndex { $0.start >= day.upperBound }
        var timeline = self
        timeline.segments = own[start..<max(start, end)].map { segment in
            SleepSpan(
                start: max(segment.start, day.lowerBound), end: min(segment.end, day.upperBound),
                stage: segment.stage)
        }
        guard let first = timeline.segments.firstIndex(where: \.stage.isSleep),
            let last = timeline.segments.lastIndex(where: \.stage.isSleep)
        else { return nil }
        var session = timeline.session(first, last, gap)
        session.start = max(session.start, day.lowerBound)
        session.end = min(session.end, day.upperBound)
        return session
    }

    private func isSameSession(_ end: Int64, _ start: Int64, _ gap: Int64) -> Bool {
        start - end <= gap || inBed.covers(from: end, to: start)
    }

    private func session(_ firstSleep: Int, _ lastSleep: Int, _ gap: Int64) -> SleepSession {
        var (first, last) = (firstSleep, lastSleep)
        while first > 0, segments[first - 1].end == segments[first].start,
            !segments[first - 1].stage.isSleep
        {
            first -= 1
        }
        while last + 1 < segments.count, segments[last + 1].start == segments[last].end,
            !segments[last + 1].stage.isSleep
        {
            last += 1
        }
        let (sleepStart, sleepEnd) = (segments[firstSleep].start, segments[lastSleep].end)
        if sleepStart - segments[first].start > gap { first = firstSleep }
        if segments[last].end - sleepEnd > gap { last = lastSleep }
        var (start, end) = (segments[first].start, segments[last].end)
        if let extent = inBed.extent(overlapping: sleepStart, sleepEnd) {
            let longest = SleepTimeline.sessionLengthMax
            start = min(start, max(extent.start, sleepEnd - longest))
            end = max(end, min(extent.end, start + longest))
        }
        return SleepSession(
            segments: Array(segments[first...last]), start: start, end: end,
            sleepStart: sleepStart, sleepEnd: sleepEnd)
    }
}

/// The spans in bed, which may overlap. There may be one for each sleep.
private struct TimesInBed {
    private let spans: [SleepSpan]
    /// The latest end of the spans up to each one.
    private let ends: [Int64]

    /// - Parameter spans: by ascending start.
    init(_ spans: [SleepSpan]) {
        self.spans = spans
        var latest = Int64.min
        ends = spans.map { span in
            latest = max(latest, span.end)
            return latest
        }
    }

    /// Whether one span covers a time.
    func covers(from start: Int64, to end: Int64) -> Bool {
        let count = spans.partitioningIndex { $0.start > start }
        return count > 0 && ends[count - 1] >= end
    }

    /// Returns the first start and the last end of the spans that overlap a time; nil if none does.
    func extent(overlapping start: Int64, _ end: Int64) -> (start: Int64, end: Int64)? {
        let first = ends.partitioningIndex { $0 > start }
        let count = spans.partitioningIndex { $0.start >= end }
        return first < count ? (spans[first].start, ends[count - 1]) : nil
    }
}
