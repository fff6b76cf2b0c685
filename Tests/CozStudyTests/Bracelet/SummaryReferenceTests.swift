// Summaries of random data against sums that are made the simplest way: value by value, second by
// second, local time by Foundation.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct SummaryReferenceTests {
    private static let zones = [
        "UTC", "Asia/Singapore", "America/New_York", "Europe/Helsinki", "Asia/Kathmandu",
        "Australia/Lord_Howe", "America/St_Johns",
    ]

    /// What a slot of local time is called: date, slot of the day, offset.
    private struct SlotName: Hashable {
        var day: String
        var number: Int
        var offset: Int
    }

    private struct LocalClock {
        let zone: TimeZone
        let slotSeconds: Int
        private let calendar: Calendar

        init(_ name: String, slotSeconds: Int) throws {
            zone = try #require(TimeZone(identifier: name))
            self.slotSeconds = slotSeconds
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            self.calendar = calendar
        }

        func slot(_ seconds: Int) -> SlotName {
            let date = Date(timeIntervalSince1970: Double(seconds))
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: date)
            let second = (parts.hour! * 60 + parts.minute!) * 60 + parts.second!
            return SlotName(
                day: String(format: "%04d-%02d-%02d", parts.year!, parts.month!, parts.day!),
                number: second / slotSeconds, offset: zone.secondsFromGMT(for: date))
        }
    }

    @Test(arguments: 0..<8) func `slots and days agree with counting value by value`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let zone = try #require(Self.zones.randomElement(using: &random))
        let slotSeconds = try #require([60, 300, 600, 900, 1_800].randomElement(using: &random))
        // Clocks are moved in these months in all zones that move them.
        let month = try #require(["03", "04", "10", "11"].randomElement(using: &random))
        let first = try #require(LocalDate("2024-\(month)-01"))
        let start = first.dayNumber * 86_400
        var values: [(seconds: Int, bpm: Int, steps: Int)] = []
        var study = try BraceletStudy()
        for seconds in Set(
            (0..<700).map { _ in start + Int.random(in: 0..<2_600_000, using: &random) })
        {
            let (bpm, steps) = (
                Int.random(in: 40...200, using: &random), Int.random(in: 0...60, using: &random)
            )
            values.append((seconds, bpm, steps))
            try study.add(
                Int64(seconds) * 1_000_000_000,
                ["bpm": .integer(Int64(bpm)), "last_steps": .integer(Int64(steps))])
            // Late data in a segment of its own, older and newer than others.
            if Int.random(in: 0..<300, using: &random) == 0 { try study.write(flushes: true) }
        }
        try study.write()
        values.sort { $0.seconds < $1.seconds }
        let clock = try LocalClock(zone, slotSeconds: slotSeconds)
        let ask = try study.summaries(first.advanced(by: 1).description, days: 27, zone: zone) {
            $0.slotSeconds = slotSeconds
        }
        let days = try ask.bpm()[0].summaries
        let steps = try ask.steps()[0].summaries
        for (day, step) in zip(days, steps) {
            let label = "seed \(seed), \(zone), \(slotSeconds) s, \(day.date)"
            let own = values.filter { clock.slot($0.seconds).day == day.date.description }
            var slots: [(name: SlotName, rates: [Int], steps: Int)] = []
            for value in own {
                let name = clock.slot(value.seconds)
                if slots.last?.name != name { slots.append((name, [], 0)) }
                slots[slots.count - 1].rates.append(value.bpm)
                slots[slots.count - 1].steps += value.steps
            }
            let means = slots.map { Double($0.rates.reduce(0, +)) / Double($0.rates.count) }
            #expect(day.slots.map(\.bpm) == means.map { Int($0.rounded()) }, "\(label)")
            #expect(day.maxDayBPM == Int((means.max() ?? 0).rounded()), "\(label)")
            #expect(day.lastBPM == Int((means.last ?? 0).rounded()), "\(label)")
            let average = means.isEmpty ? 0 : means.reduce(0, +) / Double(means.count)
            #expect(abs(Double(day.averageBPM) - average) <= 0.5 + 1e-9, "\(label)")
            let warm = means.map { $0.rounded() }.count { $0 >= 85 && $0 < 102 }
            #expect(day.durationWarmUpZone == warm * slotSeconds, "\(label)")
            #expect(step.slots.map(\.stepCount) == slots.map(\.steps), "\(label)")
            let sum = own.reduce(0) { $0 + $1.steps }
            #expect(step.stepCount == sum, "\(label)")
            #expect(step.stepDistance == (Double(sum) * 163 * 0.414 / 100).rounded(), "\(label)")
            #expect(step.goalStepPercentage == sum / 100, "\(label)")
        }
    }

    @Test(arguments: 0..<20) func `sleep agrees with counting second by second`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed)
        let fields = ["unspecified", "core", "deep", "REM", "awake"]
        let start = Timestamp.nanoseconds("2024-06-01T20:00:00Z")
        var spans: [(start: Int, seconds: Int, field: String)] = []
        var study = try BraceletStudy()
        for field in fields {
            for at in Set((0..<8).map { _ in Int.random(in: 0..<400, using: &random) * 30 }) {
                let seconds = Int.random(in: 1...60, using: &random) * 30
                spans.append((at, seconds, field))
                try study.add(
                    start + Int64(at) * 1_000_000_000,
                    ["ts_sleep_\(field)": .float(Double(seconds) / 60)])
            }
        }
        try study.write(flushes: seed % 2 == 0)
        // Of two that begin together the deeper one counts, any sleep more than being awake.
        let order = ["awake", "unspecified", "core", "deep", "REM"]
        spans.sort {
            ($0.start, order.firstIndex(of: $0.field)!) < (
                $1.start, order.firstIndex(of: $1.field)!
            )
        }
        var line = Array(repeating: "", count: 12_000 + 1_800)
        for span in spans {
            for second in span.start..<(span.start + span.seconds) { line[second] = span.field }
        }
        let stages = line.filter { !$0.isEmpty }
        let first = line.firstIndex { $0 != "" && $0 != "awake" }!
        let sleeps = try study.summaries("2024-06-01", days: 2) { $0.sleepGapSeconds = 86_400 }
            .sleep()[0].summaries
        #expect(sleeps.count == 1, "seed \(seed)")
        let sleep = try #require(sleeps.first)
        #expect(sleep.totalSecsLight == stages.count { $0 == "core" }, "seed \(seed)")
        #expect(sleep.totalSecsDeep == stages.count { $0 == "deep" }, "seed \(seed)")
        #expect(sleep.totalSecsREM == stages.count { $0 == "REM" }, "seed \(seed)")
        #expect(sleep.totalSleepDuration == stages.count { $0 != "awake" }, "seed \(seed)")
        let changes = zip(stages, stages.dropFirst()).filter { $0 != $1 }
        #expect(
            sleep.totalLightToDeepTransitions == changes.count { $0 == ("core", "deep") },
            "seed \(seed)")
        #expect(
            sleep.totalREMToLightTransitions == changes.count { $0 == ("REM", "core") },
            "seed \(seed)")
        let begin = (sleep.startSession.time.nanoseconds - start) / 1_000_000_000
        #expect(Int(begin) + sleep.timeToSleep == first, "seed \(seed)")
        #expect(line[Int(begin)] != "", "seed \(seed)")
    }
}
