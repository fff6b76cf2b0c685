// Sessions of random spans against the rules of the documentation, applied one by one.

internal import CozTestSupport
internal import Testing

@testable internal import CozStudy

struct SleepTimelineTests {
    private func random(_ seed: UInt64) -> [SleepSpan] {
        var random = SeededRandom(seed: seed)
        return (0..<Int.random(in: 1...30, using: &random)).map { _ in
            let start = Int64.random(in: 0..<200, using: &random)
            let stages: [SleepStage] = [.inBed, .inBed, .awake, .unspecified, .light, .deep, .rem]
            return SleepSpan(
                start: start, end: start + Int64.random(in: 1...25, using: &random),
                stage: stages.randomElement(using: &random) ?? .inBed)
        }
    }

    @Test func `time in bed extends sessions and holds them together`() {
        for seed in 0..<2_000 as Range<UInt64> {
            let spans = random(seed)
            let inBed = spans.filter { $0.stage == .inBed }
            let gap = Int64(seed % 7)
            func areOne(_ end: Int64, _ start: Int64) -> Bool {
                start - end <= gap || inBed.contains { $0.start <= end && $0.end >= start }
            }
            var last: SleepSession?
            for session in SleepTimeline(spans).sessions(gap: gap) {
                if let last {
                    #expect(!areOne(last.sleepEnd, session.sleepStart), "seed \(seed)")
                }
                last = session
                let sleeps = session.segments.filter(\.stage.isSleep)
                #expect(sleeps.first?.start == session.sleepStart, "seed \(seed)")
                #expect(sleeps.last?.end == session.sleepEnd, "seed \(seed)")
                for (one, next) in zip(sleeps, sleeps.dropFirst()) {
                    #expect(areOne(one.end, next.start), "seed \(seed)")
                }
                let around = inBed.filter {
                    $0.start < session.sleepEnd && $0.end > session.sleepStart
                }
                let own = session.segments
                #expect(
                    session.start == min(own[0].start, around.map(\.start).min() ?? .max),
                    "seed \(seed)")
                #expect(
                    session.end == max(own[own.count - 1].end, around.map(\.end).max() ?? .min),
                    "seed \(seed)")
            }
        }
    }

    @Test func `sessions are cut after 36 hours`() {
        let (hour, longest) = (Int64(3_600_000_000_000), SleepTimeline.sessionLengthMax)
        // Of sleep without end, of a minute a day, and of time in bed without end.
        let endless = (0..<400).map { day in
            SleepSpan(start: day * 24 * hour, end: (day + 1) * 24 * hour, stage: .light)
        }
        let daily = endless.map { SleepSpan(start: $0.start, end: $0.start + hour, stage: .rem) }
        let inBed = endless.map { SleepSpan(start: $0.start, end: $0.end, stage: .inBed) }
        for (spans, gap) in [(endless, 0), (daily, 24), (daily + inBed, 0)] {
            let sessions = SleepTimeline(spans).sessions(gap: Int64(gap) * hour)
            #expect(sessions.count >= 200)
            #expect(sessions.allSatisfy { $0.end - $0.start <= longest })
            let slept = sessions.flatMap(\.segments).filter(\.stage.isSleep)
            let all = spans.filter(\.stage.isSleep)
            #expect(slept.reduce(0) { $0 + $1.length } == all.reduce(0) { $0 + $1.length })
        }
    }

    @Test func `many sessions with times in bed`() {
        let growth = Growth(from: 1_000) { size in
            (0..<Int64(size)).flatMap { night in
                [
                    SleepSpan(start: night * 100, end: night * 100 + 50, stage: .inBed),
                    SleepSpan(start: night * 100 + 10, end: night * 100 + 40, stage: .light),
                ]
            }
        } _: { spans in
            let sessions = SleepTimeline(spans).sessions(gap: 10)
            #expect(sessions.count == spans.count / 2)
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
