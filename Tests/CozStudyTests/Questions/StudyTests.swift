// A study as a library call: what is chosen, what is said where there is nothing, and statements
// that stand for themselves.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct StudyTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(directory.path)
    }

    private func write(
        _ fields: [String: FieldValue], _ participant: String = "p01", at seconds: Int64 = 0,
        experiment: String = "dev"
    ) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: experiment, tags: ["id_participant": participant],
            time: Timestamp(nanoseconds: seconds * 1_000_000_000), fields: fields)
        _ = try database.write(batch)
    }

    private func study(
        _ experiment: String = "dev", _ change: (inout StudyOptions) -> Void = { _ in }
    ) throws -> Study {
        var options = StudyOptions(now: Timestamp(nanoseconds: 86_400_000_000_000))
        change(&options)
        return try Study(try database.snapshot(), experiment: experiment, options: options)
    }

    private func failure(
        _ experiment: String = "dev", _ change: (inout StudyOptions) -> Void = { _ in }
    ) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try study(experiment, change) } as DatabaseError?
    }

    @Test func `a field named as the participant tag changes nothing`() throws {
        try write(["ws_survey_count": .integer(1)])
        try write(["ws_survey_count": .integer(2), "id_participant": .string("x")], at: 60)
        let all = try study()
        let chosen = try study { $0.participants = ["p01"] }
        #expect(try chosen.responses().rows.map(\.responses) == [2])
        #expect(try chosen.responses().rows == all.responses().rows)
        #expect(try chosen.votes().rows == all.votes().rows)
        #expect(try chosen.silence().rows == all.silence().rows)
        #expect(try chosen.intervals().rows == all.intervals().rows)
    }

    @Test(arguments: ["id_participant", "who"])
    func `delays are ordered by participant, whatever their tag is called`(tag: String) throws {
        var batch = WriteBatch()
        batch.settings.identity = .participant(tag: tag)
        for (number, trigger) in ["b", "a", "b", "a"].enumerated() {
            try batch.add(
                experiment: "dev", tags: [tag: "p\(number / 2)"],
                time: Timestamp(nanoseconds: Int64(number) * 1_000_000_000),
                fields: [
                    "timestamp_lambda": .string("1970-01-01T00:01:00Z"),
                    "transmit_trigger": .string(trigger),
                ])
        }
        _ = try database.write(batch)
        let rows = try study { $0.isByParticipant = true }.delays().rows
        #expect(rows.map(\.participant) == ["p0", "p0", "p1", "p1"])
        #expect(rows.map(\.trigger) == ["a", "b", "a", "b"])
        #expect(rows.map(\.count) == [1, 1, 1, 1])
    }

    @Test func `the goal of a day that occurs twice is the last one`() throws {
        // Sitka had October 18, 1867 twice.
        for hour in stride(from: Int64(0), through: 44, by: 4) {
            try write(
                ["ws_survey_count": .integer(1), "wss_goal": .integer(50)],
                at: -3_225_312_000 + hour * 3_600)
        }
        let rows = try study { $0.zone = "America/Sitka" }.goal().rows
        #expect(!rows.isEmpty && rows.allSatisfy { $0.goal == 50 })
        #expect(rows.last?.responses == 12)
    }

    // MARK: Names

    @Test func `an unknown name is told apart from an empty answer`() throws {
        try write(["ws_survey_count": .integer(1)], "participant01")
        let experiment = failure("dv")
        #expect(experiment?.kind == .notFound)
        #expect(experiment?.message.contains("did you mean \"dev\"") == true)
        #expect(failure("something else")?.message.contains("there is \"dev\"") == true)
        let participant = failure { $0.participants = ["participant02"] }
        #expect(participant?.kind == .notFound)
        #expect(participant?.message.contains("did you mean \"participant01\"") == true)
        let field = failure { $0.modalities = ["ws_survey_cuont"] }
        #expect(field?.kind == .notFound)
        #expect(field?.message.contains("ws_survey_count") == true)
        #expect(failure { $0.zone = "Asia/Singapur" }?.kind == .usage)
        #expect(failure { $0.minGap = .seconds(-1) }?.kind == .usage)
        #expect(failure { $0.surveyField = "vote_log" }?.kind == .notFound)
    }

    @Test func `names that need quotes are quoted`() throws {
        let (experiment, participant) = ("it's \"x\"\\\n", "p'\\\"; DROP MEASUREMENT dev; --")
        try write(
            [
                "ts_a \"b\"": .float(1), "ws_survey_count": .integer(1),
                "timestamp_lambda_ms": .float(9),
            ], participant, experiment: experiment)
        let study = try study(experiment) {
            $0.participants = [participant]
            $0.isByParticipant = true
        }
        #expect(study.modalities == ["ws_survey_count", "ts_a \"b\""])
        #expect(try study.overview().rows.map(\.participant) == [participant])
        #expect(try study.votes().rows.map(\.valid) == [1])
        #expect(try study.goal().rows.map(\.valid) == [1])
        #expect(
            try study.silence().rows.map(\.silence) == [86_400_000_000_000, 86_400_000_000_000])
        #expect(try study.availability().rows.map(\.count) == [1, 1])
        #expect(try study.delays().rows.map(\.participant) == [participant])
    }

    @Test func `a silence of more than 292 years keeps its time`() throws {
        try write(["ws_survey_count": .integer(1)], at: -9_223_300_000)
        let entry = try #require(try study().silence().rows.first)
        #expect(entry.last == Timestamp(nanoseconds: -9_223_300_000_000_000_000))
        #expect(entry.silence == .max)
    }

    @Test func `names that differ only in normalisation are two participants`() throws {
        try write(["ws_survey_count": .integer(1)], "caf\u{E9}")
        try write(["ws_survey_count": .integer(1)], "cafe\u{301}")
        try write(["ws_survey_count": .integer(2)], "cafe\u{301}", at: 9)
        let all = try study()
        #expect(try all.responses().rows.map(\.responses) == [2, 1])
        let one = try study { $0.participants = ["caf\u{E9}"] }
        #expect(try one.responses().rows.map(\.responses) == [1])
    }

    @Test func `names that differ only in normalisation are two fields`() throws {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for (number, name) in names.enumerated() {
            let time = -9_223_300_000 + number * 100
            try write([name: .integer(1), name + "_lambda_ms": .float(1e12)], at: Int64(time))
        }
        for order in [names, names.reversed()] {
            let study = try study { $0.modalities = order }
            for entry in try study.silence().rows {
                let number = entry.field.utf8.elementsEqual(names[0].utf8) ? 0 : 1
                let seconds = Int64(-9_223_300_000 + number * 100)
                #expect(entry.last == Timestamp(nanoseconds: seconds * 1_000_000_000))
            }
            let fields = try study.delays().rows.compactMap(\.field)
            #expect(fields.map { Array($0.utf8) } == order.map { Array($0.utf8) })
        }
    }

    @Test func `a modality that is named twice counts once`() throws {
        try write(["hr": .integer(70), "hr_lambda_ms": .float(1_000)])
        let (once, twice) = (
            try study { $0.modalities = ["hr"] }, try study { $0.modalities = ["hr", "hr"] }
        )
        #expect(try once.delays().rows.map(\.count) == [1])
        #expect(try twice.delays().rows == once.delays().rows)
        #expect(try twice.silence().rows == once.silence().rows)
        #expect(try twice.intervals().rows == once.intervals().rows)
        #expect(try twice.availability().rows == once.availability().rows)
    }

    @Test func `a field named as a group of the delays is like any other`() throws {
        let names = ["trigger", "trigger_delay", "id_participant", "hr"]
        for (number, trigger) in ["b", "a", "b"].enumerated() {
            for name in names {
                try write(
                    [
                        name: .integer(1), name + "_lambda_ms": .float(1_000),
                        "transmit_trigger": .string(trigger),
                    ], at: Int64(number))
            }
        }
        for isByParticipant in [false, true] {
            let both = try study { $0.modalities = Array(names[..<2]) }
            #expect(try both.delays().rows.map(\.count) == [1, 1, 2, 2])
            for name in names {
                let study = try study {
                    $0.modalities = [name]
                    $0.isByParticipant = isByParticipant
                }
                let rows = try study.delays().rows
                #expect(rows.map(\.trigger) == ["a", "b"] && rows.map(\.count) == [1, 2])
                #expect(rows.allSatisfy { $0.field == name })
                #expect(rows.allSatisfy { ($0.participant == "p01") == isByParticipant })
            }
        }
    }

    // MARK: Choice of fields

    @Test func `modalities are measurements with values`() throws {
        try write([
            "ts_heart_rate": .integer(70), "ws_heart_rate": .integer(70),
            "ts_heart_rate_lambda_ms": .float(1), "ts_latitude": .float(1),
            "ts_longitude": .float(1), "ts_altitude": .integer(1),
            "ts_location_accuracy_vertical": .integer(1), "ws_location_floor": .integer(0),
            "ts_workout_type": .string("Walking"), "wss_goal": .integer(9),
            "si_iphone_battery_charge_state": .integer(3), "q_mood": .string("good"),
            "ws_survey_count": .integer(1),
        ])
        #expect(
            try study().modalities
                == ["ws_survey_count", "ts_heart_rate", "ts_latitude", "ws_heart_rate"])
        let named = try study { $0.modalities = ["q_mood", "ts_workout_type"] }
        #expect(try named.availability().rows.map(\.count) == [1, 1])
        try write(["x": .float(1), "y": .string("s"), "z": .integer(2)], experiment: "other")
        #expect(try study("other").modalities == ["x", "z"])
    }

    @Test func `fields without values are no modalities`() throws {
        try write(["ws_survey_count": .integer(1), "ts_heart_rate": .integer(2)])
        _ = try database.execute("DELETE ts_heart_rate FROM dev")
        #expect(try study().modalities == ["ws_survey_count"])
    }

    // MARK: Nothing

    @Test func `a study without surveys says so`() throws {
        try write(["ts_heart_rate": .integer(70)])
        let study = try study()
        for note in [
            try study.responses().note, try study.votes().note, try study.goal().note,
        ] {
            #expect(note?.contains("\"dev\" has no survey rows") == true)
        }
        #expect(study.statement(of: .votes) == nil)
        #expect(try study.silence().rows.map(\.field) == ["ts_heart_rate"])
    }

    @Test func `participants without surveys have days of none`() throws {
        try write(["ws_survey_count": .integer(1)], "a")
        try write(["ts_heart_rate": .integer(70)], "b")
        try write(["ts_heart_rate": .integer(70)], "b", at: 200_000)
        #expect(try study().rowCount() == 3)
        let rows = try study().responses().rows
        #expect(rows.map(\.responses) == [1, 0, 0, 0])
        #expect(rows.map(\.day.dayNumber) == [0, 0, 1, 2])
        let alone = try study { $0.participants = ["b"] }.votes()
        #expect(alone.note == "these participants have no survey rows")
        let later = Timestamp(nanoseconds: 400_000_000_000_000)
        let silence = try study { $0.query.now = later }.silence().rows
            .filter { $0.participant == "b" }
        #expect(silence.map(\.last?.nanoseconds) == [nil, 200_000_000_000_000])
    }

    @Test func `a range without data is not a study without data`() throws {
        try write(["ws_survey_count": .integer(1)])
        let study = try study { $0.from = Timestamp(nanoseconds: 86_400_000_000_000 * 400) }
        for note in [
            try study.overview().note, try study.responses().note, try study.silence().note,
            try study.availability().note,
        ] {
            #expect(note?.contains("1970-01-01T00:00:00Z") == true, "\(note ?? "none")")
        }
    }

    @Test func `a study without times of arrival says what to do`() throws {
        try write(["ts_heart_rate": .integer(70)])
        let answer = try study().delays()
        #expect(answer.statement == nil)
        #expect(answer.note?.contains("timestamp_lambda") == true)
        #expect(answer.note?.contains("enrichment") == true)
    }

    @Test func `an experiment that lost its rows says so`() throws {
        try write(["ws_survey_count": .integer(1)])
        _ = try database.execute("DELETE FROM dev")
        let study = try study()
        #expect(study.participants.isEmpty)
        #expect(try study.overview().note == "experiment \"dev\" has no rows")
        #expect(try study.votes().note == "experiment \"dev\" has no rows")
        #expect(try study.availability().note == "experiment \"dev\" has no rows")
    }

    @Test func `statements of many fields may be longer than those that are typed`() throws {
        let names = (0..<1500).map { "ts_\($0)_" + String(repeating: "x", count: 200) }
        try write(Dictionary(uniqueKeysWithValues: names.map { ($0, .integer(1)) }))
        try write(Dictionary(uniqueKeysWithValues: names.map { ($0, .integer(2)) }), at: 60)
        let answer = try study().intervals()
        #expect((answer.statement?.utf8.count ?? 0) > QueryLimits().textSizeBytesMax)
        #expect(answer.rows.count == names.count)
        #expect(answer.rows.allSatisfy { $0.median == 60 })
    }

    @Test func `a missing goal is a note`() throws {
        try write(["ws_survey_count": .integer(1)])
        #expect(try study().goal().note?.contains("wss_goal") == true)
        #expect(try study { $0.goal = 3 }.goal().note == nil)
        try write(["wss_goal": .integer(.max)], at: 1)
        #expect(try study().goal().rows.map(\.goal) == [Int.max])
    }

    // MARK: Delays of fields

    @Test func `delays of a field are those of its own arrival`() throws {
        try write([
            "ts_heart_rate": .integer(70), "ts_heart_rate_lambda_ms": .float(5_000),
            "ts_heart_rate_trigger": .string("background_task"),
            "timestamp_lambda_ms": .float(9_000), "transmit_trigger": .string("watch_survey"),
        ])
        let rows = try study().delays().rows
        #expect(rows.map(\.median) == [9] && rows.map(\.trigger) == ["watch_survey"])
        let own = try study { $0.modalities = ["ts_heart_rate"] }.delays().rows
        #expect(own.map(\.median) == [5] && own.map(\.trigger) == ["background_task"])
        #expect(own.map(\.field) == ["ts_heart_rate"])
    }

    @Test func `fields say when they arrived where rows do not`() throws {
        try write([
            "ts_heart_rate": .integer(70),
            "ts_heart_rate_lambda": .string("1970-01-01T00:00:02Z"), "ws_hr": .integer(1),
            "ws_hr_lambda_ms": .float(3_000), "ws_hr_trigger": .string("t"),
        ])
        let rows = try study().delays().rows
        #expect(rows.map(\.field) == ["ts_heart_rate", "ws_hr"])
        #expect(rows.map(\.trigger) == ["", "t"])
        #expect(rows.map(\.max) == [2, 3])
    }

    // MARK: Other identities

    @Test func `participants are told apart by the tag that the identity names`() throws {
        var batch = WriteBatch()
        batch.settings.identity = .tags(["user", "device"])
        for (user, device) in [("u1", "phone"), ("u1", "watch"), ("u2", "phone")] {
            try batch.add(
                experiment: "dev", tags: ["user": user, "device": device],
                time: Timestamp(nanoseconds: 0), fields: ["ws_survey_count": .integer(1)])
        }
        _ = try database.write(batch)
        #expect(try study().participants.map(\.participant) == ["u1", "u2"])
        let devices = try study { $0.participantTag = "device" }
        #expect(try devices.responses().rows.map(\.responses) == [2, 1])
        #expect(failure { $0.participantTag = "nobody" }?.message.contains("nobody") == true)
    }

    @Test func `votes of a participant do not depend on who else is asked for`() throws {
        var batch = WriteBatch()
        for (seconds, room) in [(0, "A"), (1800, "B"), (30_000, "B")] {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p1", "room": room],
                time: Timestamp(nanoseconds: Int64(seconds) * 1_000_000_000),
                fields: ["ws_survey_count": .integer(1)])
        }
        _ = try database.write(batch)
        let all = try study { $0.participantTag = "room" }
        let chosen = try study {
            $0.participantTag = "room"
            $0.participants = ["B"]
        }
        #expect(try all.votes().rows.map(\.valid) == [1, 1])
        #expect(try chosen.votes().rows == all.votes().rows.filter { $0.participant == "B" })
        #expect(try chosen.goal().rows == all.goal().rows.filter { $0.participant == "B" })
    }

    @Test func `the survey field can be another one`() throws {
        try write(["vote_log": .integer(1)])
        try write(["vote_log": .integer(2)], at: 60)
        let answer = try study { $0.surveyField = "vote_log" }.votes()
        #expect(answer.rows.map(\.responses) == [2] && answer.rows.map(\.valid) == [1])
    }

    // MARK: Statements

    @Test func `statements are complete and ask one thing each`() throws {
        try write([
            "ws_survey_count": .integer(1), "timestamp_lambda_ms": .float(1),
            "wss_goal": .integer(3), "transmit_trigger": .string("t"),
        ])
        let study = try study {
            $0.zone = "Asia/Singapore"
            $0.participants = ["p01"]
            $0.from = Timestamp(nanoseconds: 0)
            $0.until = Timestamp(nanoseconds: 1)
        }
        for question in StudyQuestion.allCases {
            let statement = try #require(study.statement(of: question))
            let result = try database.query(statement)
            #expect(result.statements.count == 1, "\(question)")
            #expect(result.statements[0].error == nil, "\(question)")
            #expect(statement.contains("id_participant = 'p01'"), "\(question)")
            #expect(statement.contains("1970-01-01T07:30:00"), "\(statement)")
        }
    }

    @Test func `data of the future counts, though days end now`() throws {
        try write(["ws_survey_count": .integer(1)])
        try write(["ws_survey_count": .integer(2)], at: 10 * 86_400)
        let study = try study()
        #expect(try study.responses().rows.map(\.responses).reduce(0, +) == 2)
        #expect(try study.goal().rows.last?.responses == 2)
    }

    @Test func `silence is as of now, whatever came later`() throws {
        let day: Int64 = 86_400_000_000_000
        try write(["ws_survey_count": .integer(1)])
        try write(["ws_survey_count": .integer(2)], at: 10 * 86_400)
        #expect(try study().silence().rows.map(\.silence) == [day])
        // Nor with an end that is later than now; one that is earlier counts.
        let now = Timestamp(nanoseconds: day)
        let later = try study { $0.until = Timestamp(nanoseconds: 20 * day) }
        #expect(try later.silence().rows.map(\.silence) == [day])
        let earlier = try study { $0.until = Timestamp(nanoseconds: 1) }
        #expect(try earlier.silence().rows.map(\.last) == [Timestamp(nanoseconds: 0)])
        let before = try study { $0.from = now }
        #expect(try before.silence().rows.map(\.silence) == [nil])
    }
}
