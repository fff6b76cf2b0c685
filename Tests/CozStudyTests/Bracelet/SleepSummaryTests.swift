// Sessions of sleep: totals, transitions, midnight, naps, time in bed, overlapping stages.

internal import CozDB
internal import CozStudy
internal import Testing

struct SleepSummaryTests {
    /// Minutes of stages that follow each other, as Cozie sends them.
    private func cozie(
        _ start: String, _ stages: [(String, Double)], to study: inout BraceletStudy
    ) throws {
        var time = Timestamp.nanoseconds(start)
        for (stage, minutes) in stages {
            if stage != "gap" {
                try study.add(time, ["ts_sleep_\(stage)": .float(minutes)])
            }
            time += Int64(minutes * Double(minute))
        }
    }

    private let night = [
        ("awake", 10.0), ("core", 30.5), ("deep", 40), ("core", 20), ("REM", 25.5), ("awake", 5),
        ("core", 60), ("REM", 30), ("deep", 10), ("REM", 9), ("core", 20), ("awake", 3),
    ]

    @Test func `tenths of minutes end on the second`() throws {
        var study = try BraceletStudy()
        let start = Timestamp.nanoseconds("2024-01-01T23:55:54Z")
        try study.add(start, ["ts_sleep_core": .float(4.1)])
        try study.write()
        let sleep = try study.summaries("2024-01-02").sleep()[0].summaries.first
        #expect(sleep?.stopSession.description == "2024-01-02T00:00:00.000000000Z")
    }

    @Test func `a night has totals, transitions and its begin the evening before`() throws {
        var study = try BraceletStudy()
        try cozie("2022-01-31T22:50:00Z", night, to: &study)
        try study.write()
        #expect(try study.summaries("2022-01-31").sleep()[0].summaries.isEmpty)
        #expect(try study.summaries("2022-02-02").sleep()[0].summaries.isEmpty)
        let all = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(all.count == 1)
        let sleep = try #require(all.first)
        #expect(sleep.recordDate.description == "2022-02-01")
        #expect(sleep.startSession.description == "2022-01-31T22:50:00.000000000Z")
        #expect(sleep.stopSession.description == "2022-02-01T03:13:00.000000000Z")
        #expect(sleep.id == 1_643_669_400)
        #expect(sleep.totalSecsLight == 7_830)
        #expect(sleep.totalSecsDeep == 3_000)
        #expect(sleep.totalSecsREM == 3_870)
        #expect(sleep.totalSecsAwake == 1_080)
        #expect(sleep.totalSleepDuration == 7_830 + 3_000 + 3_870)
        #expect(sleep.timeToSleep == 600)
        #expect(sleep.timeToWakeUp == 180)
        #expect(sleep.totalLightToDeepTransitions == 1)
        #expect(sleep.totalDeepToLightTransitions == 1)
        #expect(sleep.totalLightToREMTransitions == 2)
        #expect(sleep.totalREMToLightTransitions == 1)
        #expect(sleep.totalREMToDeepTransitions == 1)
        #expect(sleep.totalDeepToREMTransitions == 1)
        #expect(sleep.totalSleepToAwakeTransitions == 2)
        #expect(sleep.totalAwakeToSleepTransitions == 2)
        #expect(sleep.totalSecsDept == 0)
        #expect(sleep.readyForSync)
        #expect(sleep.slots.count == 263)
        #expect(sleep.slots[0].timestamp == "1643669400000")
        #expect(sleep.slots[9].sleepType == 1)
        #expect(sleep.slots[10].sleepType == 2)
        // The stage changes in the middle of this minute; the first of equals counts.
        #expect(sleep.slots[40].sleepType == 2)
        #expect(sleep.slots[41].sleepType == 3)
        #expect(sleep.slots.map(\.sleepType).filter { $0 == 4 }.count == 64)
    }

    @Test func `the day and the offset are those of the zone, when sleep ends`() throws {
        var study = try BraceletStudy()
        // Over the night in which New York puts its clocks forward.
        try cozie("2024-03-10T03:00:00Z", [("core", 300)], to: &study)
        try study.write()
        let sleep = try study.summaries("2024-03-10", zone: "America/New_York").sleep()[0]
            .summaries[0]
        #expect(sleep.startSession.description == "2024-03-09T22:00:00.000000000-05:00")
        #expect(sleep.stopSession.description == "2024-03-10T04:00:00.000000000-04:00")
        #expect(sleep.tzOffset == -14_400)
        #expect(sleep.totalSleepDuration == 18_000)
        #expect(sleep.slots.count == 300)
        let hawaii = try study.summaries("2024-03-09", zone: "Pacific/Honolulu").sleep()[0]
        #expect(hawaii.summaries.map(\.recordDate.description) == ["2024-03-09"])
    }

    @Test(arguments: [60, 1_800, 3_600])
    func `a slot in which clocks move by less is longer`(slotSeconds: Int) throws {
        var study = try BraceletStudy()
        // Lord Howe puts its clocks back by half an hour at 15:00 UTC. REM is 01:30 to 02:00, which
        // occurs once more.
        for minute in 0..<510 {
            try study.add(
                Timestamp.nanoseconds("2024-04-06T12:00:00Z") + Int64(minute) * 60_000_000_000,
                ["sleepType": .integer((150..<180).contains(minute) ? 4 : 2)])
        }
        try study.write()
        let sleeps = try study.summaries("2024-04-07", zone: "Australia/Lord_Howe") {
            $0.slotSeconds = slotSeconds
        }.sleep()[0].summaries
        #expect(sleeps.map(\.totalSleepDuration) == [510 * 60])
        #expect(sleeps[0].totalSecsAwake == 0)
        if slotSeconds == 3_600 {
            let hours = sleeps[0].slots.map { $0.date.description.dropFirst(11).prefix(5) }
            #expect(hours.first == "23:00" && hours.last == "06:00" && hours.count == 8)
        }
    }

    @Test func `the gap divides sessions`() throws {
        var study = try BraceletStudy()
        try cozie(
            "2022-02-01T01:00:00Z",
            [("core", 60), ("gap", 60), ("deep", 60), ("gap", 61), ("REM", 30)], to: &study)
        try cozie("2022-02-01T14:00:00Z", [("core", 20)], to: &study)
        try study.write()
        let sleeps = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(sleeps.map(\.totalSleepDuration) == [7_200, 1_800, 1_200])
        #expect(sleeps[0].totalLightToDeepTransitions == 1, "over the gap inside a session")
        #expect(sleeps[0].slots.filter { $0.sleepType == 0 }.count == 60)
        let short = try study.summaries("2022-02-01") { $0.sleepGapSeconds = 0 }.sleep()[0]
        #expect(short.summaries.count == 4)
        let long = try study.summaries("2022-02-01") { $0.sleepGapSeconds = 61 * 60 }.sleep()[0]
        #expect(long.summaries.count == 2)
    }

    @Test func `who is awake for longer than the gap has got up`() throws {
        var study = try BraceletStudy()
        try cozie(
            "2022-02-01T01:00:00Z",
            [("awake", 61), ("core", 60), ("awake", 61), ("core", 60), ("awake", 60)], to: &study)
        try study.write()
        let sleeps = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(sleeps.map(\.totalSecsAwake) == [0, 3_600])
        #expect(sleeps.map(\.timeToSleep) == [0, 0])
        #expect(sleeps.map(\.timeToWakeUp) == [0, 3_600])
    }

    @Test func `time in bed belongs to the session and holds it together`() throws {
        var study = try BraceletStudy()
        try study.add("2022-01-31T22:00:00Z", ["ts_sleep_in_bed": .float(540)])
        try cozie(
            "2022-01-31T22:30:00Z", [("core", 60), ("gap", 90), ("core", 120)], to: &study)
        try study.write()
        let sleeps = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(sleeps.count == 1)
        #expect(sleeps[0].timeToSleep == 1_800)
        #expect(sleeps[0].timeToWakeUp == 240 * 60)
        #expect(sleeps[0].totalSleepDuration == 10_800)
        #expect(sleeps[0].totalSecsAwake == 0)
        #expect(sleeps[0].slots.count == 540)
    }

    @Test func `of two equally long stages of a slot the first counts`() throws {
        var study = try BraceletStudy()
        try cozie(
            "2022-02-01T02:00:00Z",
            [
                ("unspecified", 0.5), ("core", 0.5), ("deep", 0.5), ("core", 0.5), ("core", 0.5),
                ("unspecified", 0.5),
            ], to: &study)
        try study.write()
        let sleep = try #require(try study.summaries("2022-02-01").sleep()[0].summaries.first)
        #expect(sleep.slots.map(\.sleepType) == [0, 3, 2])
    }

    @Test func `overlapping stages are not counted twice`() throws {
        var study = try BraceletStudy()
        try study.add("2022-02-01T00:00:00Z", ["ts_sleep_unspecified": .float(100)])
        try study.add("2022-02-01T00:10:00Z", ["ts_sleep_core": .float(50)])
        try study.add("2022-02-01T00:20:00Z", ["ts_sleep_deep": .float(10)])
        try study.add("2022-02-01T00:50:00Z", ["ts_sleep_REM": .float(20)])
        try study.write()
        let sleep = try study.summaries("2022-02-01").sleep()[0].summaries[0]
        #expect(sleep.totalSleepDuration == 6_000)
        #expect(sleep.totalSecsLight == 30 * 60)
        #expect(sleep.totalSecsDeep == 10 * 60)
        #expect(sleep.totalSecsREM == 20 * 60)
        #expect(sleep.slots[5].sleepType == 0)
        #expect(sleep.slots[15].sleepType == 2)
        #expect(sleep.slots[25].sleepType == 3)
        #expect(sleep.slots[35].sleepType == 2)
        #expect(sleep.slots[69].sleepType == 4)
        #expect(sleep.slots[70].sleepType == 0)
    }

    @Test func `nonsense among minutes is left out`() throws {
        var study = try BraceletStudy()
        for (index, minutes) in [0, -5, 1e300, 1_441, -0.0, 30].enumerated() {
            let time = Timestamp.nanoseconds("2022-02-01T00:00:00Z") + Int64(index) * 60 * minute
            try study.add(time, ["ts_sleep_core": .float(minutes)])
        }
        try study.write()
        let sleeps = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(sleeps.map(\.totalSleepDuration) == [1_800])
    }

    @Test func `the bracelet's types make sessions too`() throws {
        var study = try BraceletStudy()
        let start = Timestamp.nanoseconds("2022-01-31T23:58:00Z")
        // 0 and 9 are undefined; awake all day before is no part of the night.
        let types: [Int64] =
            Array(repeating: 1, count: 90) + [2, 2, 2, 3, 3, 0, 3, 4, 1, 1, 2, 9, 2, 1]
        for (index, type) in types.enumerated() {
            try study.add(
                start + Int64(index - 90) * minute + 7, ["sleepType": .integer(type)])
        }
        try study.write()
        let sleeps = try study.summaries("2022-02-01").sleep()[0].summaries
        #expect(sleeps.count == 1)
        let sleep = try #require(sleeps.first)
        #expect(sleep.startSession.time.nanoseconds == start)
        #expect(sleep.slots.map(\.sleepType) == [2, 2, 2, 3, 3, 0, 3, 4, 1, 1, 2, 0, 2, 1])
        #expect(sleep.totalSecsLight == 300)
        #expect(sleep.totalSecsDeep == 180)
        #expect(sleep.totalSecsREM == 60)
        #expect(sleep.totalSecsAwake == 180)
        #expect(sleep.totalLightToDeepTransitions == 1)
        #expect(sleep.totalDeepToREMTransitions == 1)
        #expect(sleep.totalSleepToAwakeTransitions == 2)
        #expect(sleep.totalAwakeToSleepTransitions == 1)
        #expect(sleep.timeToWakeUp == 60)
    }

    @Test func `a session is ready when no sleep can follow`() throws {
        var study = try BraceletStudy()
        try cozie("2022-02-01T01:00:00Z", [("core", 60)], to: &study)
        try study.write()
        for (now, isReady) in [
            ("2022-02-01T02:59:59Z", false), ("2022-02-01T03:00:00Z", true),
        ] {
            let sleep = try study.summaries("2022-02-01") {
                $0.now = Timestamp(nanoseconds: Timestamp.nanoseconds(now))
            }.sleep()[0].summaries[0]
            #expect(sleep.readyForSync == isReady, "\(now)")
        }
    }

    @Test func `days in a row have what each has alone`() throws {
        var study = try BraceletStudy()
        for day in 1...9 {
            try cozie("2022-02-0\(day)T23:0\(day):00+01:00", night, to: &study)
            if day % 3 == 0 { try cozie("2022-02-0\(day)T13:00:00Z", [("core", 25)], to: &study) }
        }
        try study.write(flushes: true)
        let zone = "Europe/Helsinki"
        let all = try study.summaries("2022-02-01", days: 12, zone: zone).sleep()[0].summaries
        #expect(all.count == 12)
        let single = try (0..<12).flatMap { day in
            let date = try #require(LocalDate("2022-02-01")).advanced(by: day)
            return try study.summaries(date.description, zone: zone).sleep()[0].summaries
        }
        #expect(single == all)
    }

    /// The sessions of ten days, asked for together and day by day.
    private func sessions(
        _ study: BraceletStudy, _ zone: String,
        _ change: (inout SummaryRequest) throws -> Void = { _ in }
    ) throws -> (all: [SleepSummary], single: [SleepSummary]) {
        let all = try study.summaries("2022-02-01", days: 10, zone: zone, change).sleep()[0]
        let single = try (0..<10).flatMap { day in
            let date = try #require(LocalDate("2022-02-01")).advanced(by: day)
            return try study.summaries(date.description, zone: zone, change).sleep()[0].summaries
        }
        return (all.summaries, single)
    }

    @Test(arguments: ["UTC", "Asia/Singapore", "America/St_Johns"])
    func `sleep without end is cut in the same way whatever days are asked for`(
        zone: String
    ) throws {
        var nights = try BraceletStudy()
        for day in 1...9 { try cozie("2022-02-0\(day)T22:00:00Z", [("core", 480)], to: &nights) }
        try nights.write()
        let joined = try sessions(nights, zone) { $0.sleepGapSeconds = 17 * 3_600 }
        #expect(joined.all == joined.single)
        #expect(joined.all.reduce(0) { $0 + $1.totalSleepDuration } == 9 * 480 * 60)

        var slots = try BraceletStudy()
        let start = Timestamp.nanoseconds("2022-02-01T05:00:00Z")
        for slot in 0..<300 {
            try slots.add(start + Int64(slot) * 30 * minute, ["sleepType": .integer(2)])
        }
        try slots.write()
        let endless = try sessions(slots, zone) { $0.slotSeconds = 1_800 }
        #expect(endless.all == endless.single)
        #expect(endless.all.reduce(0) { $0 + $1.totalSleepDuration } == 150 * 3_600)
    }
}
