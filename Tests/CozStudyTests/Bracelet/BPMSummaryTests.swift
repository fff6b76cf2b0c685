// The heart rate of a day: the documentation's example, zones, quality, days of 23 and 25 hours.

internal import CozDB
internal import CozStudy
internal import Testing

struct BPMSummaryTests {
    /// The example of the documentation: the eight slots it shows, and 93 more that it does not.
    private func example() throws -> BraceletStudy {
        var study = try BraceletStudy()
        let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")
        let rates = [89, 79, 81, 75, 69, 65, 60, 57] + Array(repeating: 64, count: 92) + [69]
        for (index, rate) in rates.enumerated() {
            for part: Int64 in 0..<5 {
                try study.add(
                    midnight + Int64(index) * 5 * minute + part * minute,
                    ["bpm": .integer(Int64(rate)), "bpm_q": .integer(part)])
            }
        }
        try study.write()
        return study
    }

    @Test func `the documentation's example comes out`() throws {
        let all = try example().summaries("2022-02-01").bpm()
        #expect(all.map(\.participant) == ["p1"])
        let summary = try #require(all.first?.summaries.first)
        #expect(summary.date.description == "2022-02-01")
        #expect(summary.id == 19_024)
        #expect(summary.timeZone == "UTC")
        #expect(summary.lastBPM == 69)
        #expect(summary.maxDayBPM == 89)
        #expect(summary.averageBPM == 65)
        #expect(summary.durationRestZone == 30_000)
        #expect(summary.durationWarmUpZone == 300)
        #expect(summary.durationFatBurnZone == 0)
        #expect(summary.durationEnduranceZone == 0)
        #expect(summary.durationPerformanceZone == 0)
        #expect(summary.durationMaxZone == 0)
        #expect(summary.percentageRestZone == 99)
        #expect(summary.percentageWarmUpZone == 1)
        #expect(summary.percentageMaxZone == 0)
        #expect(summary.readyForSync)
        #expect(summary.slots.count == 101)
        #expect(summary.slots.prefix(8).map(\.bpm) == [89, 79, 81, 75, 69, 65, 60, 57])
        #expect(summary.slots[1].intervalDate.description == "2022-02-01T00:05:00.000000000Z")
    }

    @Test func `a day without data has zeros and no slots`() throws {
        let summaries = try example().summaries("2022-01-31", days: 3).bpm()[0].summaries
        #expect(summaries.map(\.date.description) == ["2022-01-31", "2022-02-01", "2022-02-02"])
        #expect(summaries.map(\.slots.count) == [0, 101, 0])
        #expect(summaries[2].averageBPM == 0)
        #expect(summaries[2].durationRestZone == 0)
        #expect(summaries[2].percentageRestZone == 0)
        #expect(summaries[2].id == summaries[0].id + 2)
    }

    @Test func `a day is ready once it is over`() throws {
        for (now, isOver) in [
            ("2022-02-01T23:59:59Z", false), ("2022-02-02T00:00:00Z", true),
        ] {
            let time = try #require(Timestamp(now))
            let summary = try example().summaries("2022-02-01") { $0.now = time }.bpm()[0]
            #expect(summary.summaries[0].readyForSync == isOver, "\(now)")
        }
    }

    @Test func `all six zones are told apart, on their limits too`() throws {
        var study = try BraceletStudy()
        let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")
        let rates = [99, 100, 119, 120, 139, 140, 159, 160, 179, 180, 200, 219]
        for (index, rate) in rates.enumerated() {
            try study.add(
                midnight + Int64(index) * 5 * minute, ["bpm": .integer(Int64(rate))])
        }
        try study.write(flushes: true)
        let summary = try study.summaries("2022-02-01") {
            $0.zones = try HeartRateZones(age: 20)
        }.bpm()[0].summaries[0]
        #expect(summary.durationRestZone == 300)
        #expect(summary.durationWarmUpZone == 600)
        #expect(summary.durationFatBurnZone == 600)
        #expect(summary.durationEnduranceZone == 600)
        #expect(summary.durationPerformanceZone == 600)
        #expect(summary.durationMaxZone == 900)
        #expect(summary.percentageRestZone == 8)
        #expect(summary.percentageFatBurnZone == 17)
        #expect(summary.percentageMaxZone == 25)
    }

    @Test func `values of low or unknown quality can be left out`() throws {
        var study = try BraceletStudy()
        let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")
        try study.add(midnight, ["bpm": .integer(200), "bpm_q": .integer(1)])
        try study.add(midnight + minute, ["bpm": .integer(60), "bpm_q": .integer(3)])
        try study.add(midnight + 2 * minute, ["bpm": .integer(64), "bpm_q": .integer(4)])
        try study.add(midnight + 3 * minute, ["bpm": .integer(180)])
        try study.write()
        func slot(_ least: Double?) throws -> [Int] {
            try study.summaries("2022-02-01") { $0.qualityMin = least }.bpm()[0]
                .summaries[0].slots.map(\.bpm)
        }
        #expect(try slot(nil) == [126])
        #expect(try slot(0) == [108])
        #expect(try slot(3) == [62])
        #expect(try slot(4) == [64])
        #expect(try slot(5) == [])
    }

    @Test func `impossible values can be left out`() throws {
        var study = try BraceletStudy()
        for (index, rate) in [29, 30, 220, 221].enumerated() {
            let time = Timestamp.nanoseconds("2022-02-01T00:00:00Z") + Int64(index) * minute
            try study.add(time, ["bpm": .integer(Int64(rate))])
        }
        try study.write()
        let all = try study.summaries("2022-02-01") { $0.basis = .values }.bpm()[0].summaries[0]
        #expect(all.maxDayBPM == 221)
        let possible = try study.summaries("2022-02-01") {
            $0.basis = .values
            $0.keepsPossibleValuesOnly = true
        }.bpm()[0].summaries[0]
        #expect(possible.maxDayBPM == 220)
        #expect(possible.averageBPM == 125)
    }

    @Test func `a day is that of its slots, or of its values`() throws {
        var study = try BraceletStudy()
        let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")
        // A slot sampled three times, and one sampled once.
        for (index, rate) in [100, 110, 150].enumerated() {
            try study.add(
                midnight + Int64(index) * minute, ["bpm": .integer(Int64(rate))])
        }
        try study.add(midnight + 10 * minute, ["bpm": .integer(60)])
        try study.add(midnight + 11 * minute, ["bpm": .integer(70)])
        try study.write()
        let slots = try study.summaries("2022-02-01").bpm()[0].summaries[0]
        #expect([slots.averageBPM, slots.lastBPM, slots.maxDayBPM] == [93, 65, 120])
        let values = try study.summaries("2022-02-01") { $0.basis = .values }.bpm()[0]
            .summaries[0]
        #expect([values.averageBPM, values.lastBPM, values.maxDayBPM] == [98, 70, 150])
        #expect(values.slots == slots.slots)
    }

    @Test(arguments: [
        // New York: clocks forward on 10 March, back on 3 November.
        ("2024-03-10", 23), ("2024-03-11", 24), ("2024-11-03", 25),
    ])
    func `a day where clocks are moved has all of its hours`(day: String, hours: Int) throws {
        var study = try BraceletStudy()
        let zone = try TimeZoneRules(named: "America/New_York")
        let start = zone.start(of: try #require(LocalDate(day))).nanoseconds
        for index in -40..<(Int64(hours) * 12 + 40) {
            try study.add(start + index * 5 * minute, ["bpm": .integer(60)])
        }
        try study.write(flushes: true)
        let summary = try study.summaries(day, zone: "America/New_York").bpm()[0].summaries[0]
        #expect(summary.slots.count == hours * 12)
        #expect(summary.durationRestZone == hours * 3_600)
        #expect(summary.slots.first?.intervalDate.time.nanoseconds == start)
        let days = try study.summaries(day, days: 2, zone: "America/New_York").bpm()[0].summaries
        #expect(days[0] == summary, "a range gives what a day gives")
    }

    @Test func `of Cozie the phone's value counts, else the watch's`() throws {
        var study = try BraceletStudy()
        try study.add(
            "2022-02-01T08:00:00+08:00", ["ts_heart_rate": .float(60), "ws_heart_rate": .float(90)])
        try study.add("2022-02-01T08:05:00+08:00", ["ws_heart_rate": .float(70)])
        try study.write()
        let summary = try study.summaries("2022-02-01", zone: "Asia/Singapore").bpm()[0]
            .summaries[0]
        #expect(summary.slots.map(\.bpm) == [60, 70])
        #expect(summary.slots[0].intervalDate.description == "2022-02-01T08:00:00.000000000+08:00")
    }

    @Test func `all participants that have data are asked at once`() throws {
        var study = try BraceletStudy()
        for (index, who) in ["p3", "p1", "it's \"p\" \\ 2"].enumerated() {
            let time = Timestamp.nanoseconds("2022-02-01T00:00:00Z") + Int64(index) * minute
            try study.add(time, of: who, ["bpm": .integer(60 + Int64(index))])
        }
        try study.write()
        let all = try study.summaries("2022-02-01") { $0.participants = [] }.bpm()
        #expect(all.map(\.participant) == ["it's \"p\" \\ 2", "p1", "p3"])
        #expect(all.map(\.summaries[0].lastBPM) == [62, 61, 60])
        let named = try study.summaries("2022-02-01") {
            $0.participants = ["p3", "it's \"p\" \\ 2"]
        }.bpm()
        #expect(named.map(\.participant) == ["p3", "it's \"p\" \\ 2"])
        #expect(named.map(\.summaries[0].lastBPM) == [60, 62])
    }
}
