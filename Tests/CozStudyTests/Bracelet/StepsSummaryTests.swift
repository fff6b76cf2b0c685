// Steps of a day: the documentation's example, phone and watch, goals, hours of moving.

internal import CozDB
internal import CozStudy
internal import Testing

struct StepsSummaryTests {
    private static let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")

    /// The slots of the example, and the twelve steps between them and its sum.
    private func example() throws -> BraceletStudy {
        var study = try BraceletStudy()
        let slots: [(steps: Int64, energy: Double, speed: Double)] = [
            (15, 39_164, 7), (0, 33_645, 12), (0, 33_042, 0), (0, 33_060, 6), (0, 33_060, 3),
            (0, 34_327, 9), (10, 33_690, 10), (12, 329_670, 1),
        ]
        for (index, slot) in slots.enumerated() {
            try study.add(
                Self.midnight + Int64(index) * 30 * minute,
                [
                    "last_steps": .integer(slot.steps), "energy_exp": .float(slot.energy),
                    "speed": .float(slot.speed), "activity_type": .integer(7),
                ])
        }
        try study.write()
        return study
    }

    @Test func `the documentation's example comes out`() throws {
        let summary = try example().summaries("2022-02-01").steps()[0].summaries[0]
        #expect(summary.stepCount == 37)
        #expect(summary.stepDistance == 25)
        #expect(abs(summary.stepCalories - 569.658) < 1e-9)
        #expect(summary.goalStepPercentage == 0)
        #expect(summary.moveEveryHour == 0)
        #expect(summary.workoutsCount == 0)
        #expect(summary.slots.prefix(7).map(\.stepCount) == [15, 0, 0, 0, 0, 0, 10])
        #expect(summary.slots.prefix(7).map(\.distance) == [10, 0, 0, 0, 0, 0, 7])
        #expect(summary.slots.prefix(7).map(\.speed) == [7, 12, 0, 6, 3, 9, 10])
        #expect(summary.slots.allSatisfy { $0.activityType == 7 })
        #expect(abs(summary.slots[0].energyExp - 39.164) < 1e-9)
    }

    @Test(arguments: [(5000, 185.0, 3830), (200, 125, 104), (5000, 175, 3623)])
    func `halves of a meter are rounded away from zero`(
        _ steps: Int64, _ height: Double, _ distance: Int
    ) throws {
        var study = try BraceletStudy()
        try study.add(Self.midnight, ["last_steps": .integer(steps)])
        try study.write()
        let found = try study.summaries("2022-02-01") { $0.heightCentimetres = height }
        #expect(try found.steps()[0].summaries[0].stepDistance == Double(distance))
        #expect(try found.activity()[0].summaries[0].distance == distance)
    }

    @Test func `activity is the same in short`() throws {
        let summary = try example().summaries("2022-02-01").activity()[0].summaries[0]
        #expect(summary.steps == 37)
        #expect(summary.distance == 25)
        #expect(abs(summary.calories - 569.658) < 1e-9)
        #expect(summary.slots.map(\.steps) == [15, 0, 0, 0, 0, 0, 10, 12])
        #expect(summary.slots.allSatisfy { !$0.isEdited })
        #expect(summary.slots[6].distance == 7)
    }

    @Test func `distance goes with the height`() throws {
        for (height, distance) in [(150.0, 23.0), (163, 25), (170, 26), (200, 31)] {
            let summary = try example().summaries("2022-02-01") { $0.heightCentimetres = height }
                .steps()[0].summaries[0]
            #expect(summary.stepDistance == distance, "\(height)")
        }
    }

    @Test func `goals are cut to whole percents and go beyond hundred`() throws {
        for (goal, percentage) in [(37, 100), (38, 97), (10, 370), (3_700, 1), (3_701, 0)] {
            let summary = try example().summaries("2022-02-01") { $0.stepGoal = goal }.steps()[0]
                .summaries[0]
            #expect(summary.goalStepPercentage == percentage, "\(goal)")
        }
    }

    @Test func `hours of moving are those with enough steps`() throws {
        var study = try BraceletStudy()
        let minutes: [(Int64, Int64)] = [(0, 249), (61, 125), (119, 125), (121, 1_000), (300, 250)]
        for (at, steps) in minutes {
            try study.add(Self.midnight + at * minute, ["last_steps": .integer(steps)])
        }
        try study.write()
        let summary = try study.summaries("2022-02-01").steps()[0].summaries[0]
        #expect(summary.moveEveryHour == 3)
        // Hours are those of local clocks: half an hour apart in India.
        let india = try study.summaries("2022-02-01", zone: "Asia/Kolkata").steps()[0]
        #expect(india.summaries[0].moveEveryHour == 2)
        let all = try study.summaries("2022-02-01") { $0.hourlySteps = 1 }.steps()[0].summaries[0]
        #expect(all.moveEveryHour == 4)
    }

    @Test func `the hour that comes twice is two hours`() throws {
        var study = try BraceletStudy()
        // In New York one o'clock comes at 05:00 and 06:00 UTC.
        for time in ["2024-11-03T05:30:00Z", "2024-11-03T06:30:00Z"] {
            try study.add(time, ["last_steps": .integer(300)])
        }
        try study.write()
        let summary = try study.summaries("2024-11-03", zone: "America/New_York").steps()[0]
            .summaries[0]
        #expect(summary.moveEveryHour == 2)
        #expect(summary.slots.map(\.intervalDate.offsetSeconds) == [-14_400, -18_000])
    }

    @Test func `phone and watch count the same steps`() throws {
        var study = try BraceletStudy()
        try study.add(
            Self.midnight,
            [
                "ts_step_count_phone": .integer(100), "ws_step_count_phone": .integer(100),
                "ts_step_count_watch": .integer(120),
            ])
        try study.add(Self.midnight + minute, ["ws_step_count_phone": .integer(50)])
        try study.add(Self.midnight + 40 * minute, ["ws_step_count_watch": .integer(7)])
        try study.add(Self.midnight + 80 * minute, ["ts_step_count": .integer(9)])
        try study.write()
        let summary = try study.summaries("2022-02-01").steps()[0].summaries[0]
        #expect(summary.slots.map(\.stepCount) == [150, 7, 9])
        #expect(summary.stepCount == 166)
    }

    @Test func `of Cozie energy is active plus basal, and workouts are counted`() throws {
        var study = try BraceletStudy()
        try study.add(
            Self.midnight,
            [
                "ts_step_count": .integer(1), "ts_active_energy_burned": .float(2.5),
                "ws_active_energy_burned": .float(2.5), "ts_workout_duration": .float(600),
            ])
        try study.add(Self.midnight + minute, ["ts_basal_energy_burned": .float(1.25)])
        try study.add(Self.midnight + 60 * minute, ["ws_workout_duration": .float(60)])
        try study.write()
        let summary = try study.summaries("2022-02-01").steps()[0].summaries[0]
        #expect(summary.stepCalories == 3.75)
        #expect(summary.workoutsCount == 2)
        #expect(summary.slots[0].activityType == 0)
    }
}
