// Breath, temperatures, saturation and electrodermal activity of a day.

internal import CozDB
internal import CozStudy
internal import Testing

struct VitalSummaryTests {
    private static let midnight = Timestamp.nanoseconds("2022-02-01T00:00:00Z")

    @Test func `thousands of participants are answered in the order of the request`() throws {
        var study = try BraceletStudy()
        let names = (0..<2000).map { "p\($0)" }
        for name in names {
            try study.add("2022-02-01T00:01:00Z", of: name, ["last_steps": .integer(7)])
        }
        // The other half has no data on that day.
        for name in names.prefix(1000) {
            try study.add("2022-02-02T00:01:00Z", of: name, ["last_steps": .integer(9)])
        }
        try study.write()
        let answers = try study.summaries("2022-02-02") { $0.participants = names.reversed() }
            .steps()
        #expect(answers.map(\.participant) == names.reversed())
        #expect(answers[0].summaries[0].stepCount == 0)
        #expect(answers[1999].summaries[0].stepCount == 9)
    }

    @Test func `who has only a quality has no values, and nobody else's`() throws {
        var study = try BraceletStudy()
        for (name, rate) in [("p1", nil), ("p2", 60.0), ("p3", 150), ("p4", nil)] {
            var fields: [String: FieldValue] = ["resp_q": .integer(4)]
            if let rate { fields["respiration_rate"] = .float(rate) }
            try study.add("2022-02-01T00:01:00Z", of: name, fields)
        }
        try study.write()
        for basis in SummaryRequest.Basis.allCases {
            let answers = try study.summaries("2022-02-01") {
                $0.participants = []
                $0.basis = basis
            }.breath()
            #expect(answers.map(\.participant) == ["p1", "p2", "p3", "p4"])
            #expect(answers.map { $0.summaries[0].maxDayBreath } == [0, 60, 150, 0])
        }
    }

    @Test func `breath has the quality of each slot`() throws {
        var study = try BraceletStudy()
        // Slots of the documentation's example, in halves that differ by two.
        let rates: [Double] = [62, 51, 57, 57, 61, 60, 57, 56, 58, 56, 57]
        for (index, rate) in rates.enumerated() {
            let start = Self.midnight + Int64(index) * 30 * minute
            try study.add(
                start, ["respiration_rate": .float(rate - 1), "resp_q": .integer(0)])
            try study.add(
                start + minute,
                ["respiration_rate": .float(rate + 1), "resp_q": .integer(Int64(index % 5))])
        }
        try study.add(Self.midnight + 600 * minute, ["respiration_rate": .float(16.5)])
        try study.write()
        let summary = try study.summaries("2022-02-01").breath()[0].summaries[0]
        #expect(summary.slots.map(\.brpm) == [62, 51, 57, 57, 61, 60, 57, 56, 58, 56, 57, 17])
        #expect(summary.slots.map(\.brpmQ) == [0, 1, 1, 2, 2, 0, 1, 1, 2, 2, 0, 0])
        #expect(summary.maxDayBreath == 62)
        #expect(summary.lastBreath == 17)
        #expect(summary.averageBreath == 54)
        let good = try study.summaries("2022-02-01") { $0.qualityMin = 4 }.breath()[0]
        #expect(good.summaries[0].slots.map(\.brpm) == [62, 57])
        let possible = try study.summaries("2022-02-01") { $0.keepsPossibleValuesOnly = true }
            .breath()[0].summaries[0]
        #expect(possible.slots.map(\.brpm) == [17])
    }

    @Test func `temperatures are not rounded`() throws {
        var study = try BraceletStudy()
        // The ten slots of the documentation's example.
        let temperatures = [
            31.254609375, 34.0364453125, 34.99583984375, 35.64037109375, 35.57447265625,
            35.75228515625, 35.94892578125, 35.11261718750001, 35.65376953125, 35.81080078125,
        ]
        for (index, value) in temperatures.enumerated() {
            try study.add(
                Self.midnight + Int64(index) * 10 * minute,
                ["temp1": .float(value), "coreBodyTemperature": .float(value + 1)])
        }
        try study.write()
        let skin = try study.summaries("2022-02-01").skinTemperature()[0].summaries[0]
        #expect(skin.slots.map(\.temp) == temperatures)
        #expect(skin.maxDayTemp == 35.94892578125)
        #expect(skin.lastTemp == 35.81080078125)
        #expect(abs(skin.averageTemp - temperatures.reduce(0, +) / 10) < 1e-12)
        let core = try study.summaries("2022-02-01").coreTemperature()[0].summaries[0]
        #expect(core.slots.count == 4)
        #expect(core.slots[1].intervalDate.description == "2022-02-01T00:30:00.000000000Z")
        #expect(core.lastCoreBodyTemperature == 36.81080078125)
        let nothing = try study.summaries("2022-02-02").skinTemperature()[0].summaries[0]
        #expect(nothing.averageTemp == 0)
        #expect(nothing.slots.isEmpty)
    }

    @Test func `saturation comes from the bracelet or from Cozie`() throws {
        for field in ["spo2", "ts_oxygen_saturation", "ws_oxygen_saturation"] {
            var study = try BraceletStudy()
            for (index, value) in [97, 99, 98, 97.4].enumerated() {
                try study.add(
                    Self.midnight + Int64(index) * 30 * minute, [field: .float(value)])
            }
            try study.write()
            let summary = try study.summaries("2022-02-01").spo2()[0].summaries[0]
            #expect(summary.averageSpo2 == 98)
            #expect(summary.lastSpo2 == 97)
            #expect(summary.maxDaySpo2 == 99)
            #expect(summary.slots.map(\.spo2) == [97, 99, 98, 97])
        }
    }

    @Test func `electrodermal activity shows what is there`() throws {
        var study = try BraceletStudy()
        let rows: [(Int64, [String: FieldValue])] = [
            (0, ["stressLevelSkinConductance": .integer(10), "cognitiveZone": .integer(2)]),
            (1, ["stressLevelSkinConductance": .integer(21), "cognitiveZone": .integer(1)]),
            (
                2,
                ["cognitiveZone": .integer(2), "czHour": .integer(9), "predictiveCZ": .integer(3)]
            ),
            (3, ["czHour": .integer(8), "predictiveCZTransitionTime": .integer(77)]),
            (6, ["stressLevelSkinConductanceQ": .integer(4), "cortisolContribution": .integer(5)]),
            (11, ["stressLevelSkinConductance": .integer(40), "cognitiveZoneQ": .integer(1)]),
        ]
        for (at, fields) in rows { try study.add(Self.midnight + at * minute, fields) }
        try study.write()
        let summary = try study.summaries("2022-02-01").eda()[0].summaries[0]
        #expect(summary.stressLevelSkinConductanceAvg == 28)
        #expect(summary.slots.count == 3)
        let first = summary.slots[0]
        #expect(first.stressLevelSkinConductance == 16)
        #expect(first.cognitiveZone == 2)
        #expect(first.predictiveCZ == 3)
        #expect(first.czHour == 8)
        #expect(first.predictiveCZTransitionTime == 77)
        #expect(summary.slots[1].stressLevelSkinConductanceQ == 4)
        #expect(summary.slots[1].cortisolContribution == 5)
        #expect(summary.slots[1].stressLevelSkinConductance == 0)
        #expect(summary.slots[2].cognitiveZoneQ == 1)
    }

    @Test func `a caller names other fields`() throws {
        var study = try BraceletStudy()
        try study.add(
            Self.midnight,
            [
                "bpm": .integer(60), "mine": .integer(70), "how good": .integer(2),
                "text": .string(""),
            ])
        try study.add(Self.midnight + 5 * minute, ["bpm": .integer(80)])
        try study.write()
        let mine = try study.summaries("2022-02-01") { $0.fields[.bpm] = ["mine", "bpm"] }
        #expect(try mine.bpm()[0].summaries[0].slots.map(\.bpm) == [70, 80])
        let good = try study.summaries("2022-02-01") {
            $0.fields[.bpmQuality] = ["how good"]
            $0.qualityMin = 2
        }
        #expect(try good.bpm()[0].summaries[0].slots.map(\.bpm) == [60])
    }

    @Test func `what cannot be is refused with what is expected`() throws {
        var study = try BraceletStudy()
        try study.add(Self.midnight, ["bpm": .integer(60), "text": .string("x")])
        try study.write()
        typealias Change = (inout SummaryRequest) -> Void
        let cases: [(change: Change, kind: DatabaseError.Kind, part: String)] = [
            ({ $0.experiment = "studdy" }, .notFound, "did you mean \"study\"?"),
            ({ $0.participants = ["p2"] }, .notFound, "did you mean \"p1\"?"),
            ({ $0.fields[.bpm] = ["bmp"] }, .notFound, "did you mean \"bpm\"?"),
            ({ $0.fields[.bpm] = ["text"] }, .usage, "type string, expected numbers"),
            ({ $0.sources = [.cozie] }, .notFound, "ts_heart_rate, ws_heart_rate"),
            ({ $0.qualityMin = 1 }, .notFound, "no field with the quality of"),
            ({ $0.qualityMin = .nan }, .usage, "expected a number"),
            ({ $0.slotSeconds = 420 }, .usage, "a divisor of an hour"),
            ({ $0.slotSeconds = 7_200 }, .usage, "a divisor of an hour"),
            ({ $0.slotSeconds = 0 }, .usage, "a divisor of an hour"),
            ({ $0.dayCount = 0 }, .usage, "1 to 3660"),
            ({ $0.heightCentimetres = .nan }, .usage, "50 to 280"),
            ({ $0.stepGoal = 0 }, .usage, "above 0"),
            ({ $0.sleepGapSeconds = -1 }, .usage, "0 to 86400 s"),
            ({ $0.isCancelled = { true } }, .cancelled, ""),
        ]
        for (number, one) in cases.enumerated() {
            let summaries = try study.summaries("2022-02-01", one.change)
            let error = #expect(throws: DatabaseError.self, "\(number)") { try summaries.bpm() }
            #expect(error?.kind == one.kind, "\(number)")
            #expect(one.part.isEmpty || error?.message.contains(one.part) == true, "\(number)")
        }
        for quality in [SummaryKind.steps, .sleep] {
            let summaries = try study.summaries("2022-02-01") {
                $0.qualityMin = 1
                $0.fields = [.steps: ["bpm"], .sleepType: ["bpm"]]
            }
            let error = #expect(throws: DatabaseError.self) {
                if quality == .steps {
                    _ = try summaries.steps()
                } else {
                    _ = try summaries.sleep()
                }
            }
            #expect(error?.message.contains("has no quality") == true)
        }
    }

    @Test func `days at the ends of time are days without data`() throws {
        var study = try BraceletStudy()
        try study.add(
            Self.midnight,
            ["bpm": .integer(60), "sleepType": .integer(2), "last_steps": .integer(1)])
        let ends = [Timestamp.min.nanoseconds, Timestamp.max.nanoseconds]
        for end in ends {
            try study.add(
                end, ["bpm": .integer(70), "sleepType": .integer(3), "last_steps": .integer(2)])
        }
        try study.write()
        for day in [
            "0000-01-01", "1677-09-20", "1677-09-21", "2262-04-11", "2262-04-12", "9999-12-31",
        ] {
            for zone in ["UTC", "Pacific/Kiritimati", "America/New_York"] {
                let summaries = try study.summaries(day, days: 3, zone: zone)
                #expect(try summaries.bpm()[0].summaries.count == 3)
                #expect(try summaries.steps()[0].summaries.count == 3)
                #expect(try summaries.sleep()[0].summaries.isEmpty)
            }
        }
    }
}
