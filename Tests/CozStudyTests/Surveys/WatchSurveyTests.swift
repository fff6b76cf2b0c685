// Watch surveys: what is read of a file, what is found, how surveys are registered and counted.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct WatchSurveyTests {
    /// A survey of questions written as `id: answer>next, answer>next`.
    private func survey(_ questions: [String], more: String = "") -> String {
        let list = questions.map { line in
            let parts = line.components(separatedBy: ": ")
            let options = (parts.count > 1 ? parts[1] : "").components(separatedBy: ", ")
                .filter { !$0.isEmpty }.map { option in
                    let words = option.components(separatedBy: ">")
                    return """
                        {"text": "\(words[0])", "icon": "", "icon_background_color": "",
                         "use_sf_symbols": false, "sf_symbols_color": "",
                         "next_question_id": "\(words.count > 1 ? words[1] : "")"}
                        """
                }
            return """
                {"question": "About \(parts[0])?", "question_id": "\(parts[0])",
                 "response_options": [\(options.joined(separator: ",\n"))]}
                """
        }
        return """
            {"survey_name": "Test", "survey_id": "t", \(more)
            "survey": [
            \(list.joined(separator: ",\n"))
            ]}
            """
    }

    private func messages(_ questions: [String], more: String = "") -> [String] {
        SurveyCheck(survey(questions, more: more)).findings.map {
            "\($0.severity.rawValue): \($0.message)"
        }
    }

    // MARK: Reading

    @Test func `questions and options are read in order`() throws {
        let check = SurveyCheck(survey(["q_a: yes>q_b, no", "q_b: x, y"]))
        #expect(check.findings.isEmpty)
        #expect(check.isUsable)
        let survey = try #require(check.survey)
        #expect(survey.name == "Test")
        #expect(survey.id == "t")
        #expect(survey.questions.map(\.id) == ["q_a", "q_b"])
        #expect(survey.questions[0].text == "About q_a?")
        #expect(survey.questions[0].options.map(\.text) == ["yes", "no"])
        #expect(survey.questions[0].options.map(\.next) == ["q_b", ""])
        #expect(survey.question("q_b")?.options.count == 2)
        let field = try #require(survey.declarations.first)
        #expect(field.name == "q_a")
        #expect(field.type == .string)
        #expect(field.question == "About q_a?")
        #expect(field.options == ["yes", "no"])
    }

    @Test func `findings quote the beginning of a long name`() {
        let id = String(repeating: "n", count: 100_000)
        let options = Array(repeating: "{\"text\": \"A\"}", count: 2_000).joined(separator: ",")
        let check = SurveyCheck(
            """
            {"survey": [
            {"question_id": "\(id)", "question": "x", "response_options": [\(options)]}
            ]}
            """)
        #expect(check.findings.count > 2_000)
        #expect(check.findings.allSatisfy { $0.message.utf8.count < 500 })
    }

    @Test(arguments: [
        (#"{"survey": [{"question": 1}]}"#, "1:26", "found a number as question of the question "),
        ("[]", "1:1", "found an array, expected an object"),
        ("{}", "1:1", "found no \"survey\""),
        ("{\n \"survey\": 3}", "2:12", "found a number as \"survey\", expected a list"),
        (#"{"survey": []}"#, "1:12", "found no question"),
        (#"{"survey": [7]}"#, "1:13", "found a number, expected a question"),
        ("{\"survey\": [\n{\"question_id\": \"q\"}]}", "2:1", "has no response_options"),
        (#"{"survey": [{"question_id": ""}]}"#, "1:29", "found an empty question_id"),
        (#"{"survey": [{"response_options": [8]}]}"#, "1:35", "found a number, expected an option"),
        (#"{"survey": [{"response_options": [{}]}]}"#, "1:35", "an option of  has no text"),
        ("", "1:1", "invalid JSON: found nothing"),
        ("{\n  \"survey\" 1}", "2:12", "invalid JSON: found \"1}\""),
    ]) func `what is no survey is an error with its place`(
        _ text: String, _ place: String, _ message: String
    ) {
        let check = SurveyCheck(text)
        #expect(!check.isUsable)
        #expect(
            check.findings.contains { finding in
                finding.severity == .error && "\(finding.line):\(finding.column)" == place
                    && finding.message.contains(message)
            }, "\(check.findings)")
    }

    @Test func `a comma too many is an error, and the rest is checked all the same`() {
        let text = survey(["q_a: yes>q_x"]).replacingOccurrences(of: "]}\n]}", with: "]},\n]}")
        let check = SurveyCheck(text)
        #expect(check.count(.error) == 1)
        #expect(check.findings.contains { $0.message.hasPrefix("invalid JSON") })
        #expect(check.findings.contains { $0.message.contains("unknown question q_x") })
        #expect(check.survey?.questions.count == 1)
        #expect(!check.isUsable)
    }

    @Test func `no text crashes the check`() {
        let text = survey(["q_a: yes>q_b, no", "q_b: x>q_a, y"])
        let bytes = Array(text.utf8)
        var random = SeededRandom(seed: 4_711)
        for _ in 0..<300 {
            var damaged = bytes
            for _ in 0...Int(random.next() % 3) {
                let place = Int(random.next() % UInt64(damaged.count))
                switch random.next() % 3 {
                case 0: damaged[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: damaged.remove(at: place)
                default: damaged.insert(bytes[place % bytes.count], at: place)
                }
            }
            let check = SurveyCheck(String(decoding: damaged, as: UTF8.self))
            let lines = damaged.count { $0 == UInt8(ascii: "\n") } + 1
            #expect(check.findings.allSatisfy { (1...lines).contains($0.line) && $0.column > 0 })
            #expect(check.survey != nil || check.count(.error) > 0)
        }
    }

    // MARK: Ids and ways

    @Test func `an id that stands twice is an error`() {
        #expect(
            messages(["q_a: yes>q_b", "q_b: x", "q_a: y"]) == [
                "error: found the id q_a again, first used in line 3: the app shows only the first "
                    + "question, and the answers would be ambiguous"
            ])
    }

    @Test func `an option that leads nowhere is a flaw, with a suggestion`() {
        let found = messages(["q_start: yes>q_ned, no>q_end", "q_end: x"])
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "flaw: option \"yes\" of q_start leads to the unknown question q_ned") == true)
        #expect(found.first?.hasSuffix("did you mean \"q_end\"?") == true)
    }

    @Test func `a question that nothing leads to is a flaw`() {
        #expect(
            messages(["q_a: yes", "q_b: x>q_c", "q_c: y"]) == [
                "flaw: q_b cannot be reached: no option leads to it",
                "flaw: q_c cannot be reached: no option leads to it",
            ])
    }

    @Test func `a survey that never ends is a flaw`() {
        let found = messages(["q_a: x>q_b", "q_b: y>q_a, z>q_b"])
        #expect(found.count == 2)
        #expect(found.allSatisfy { $0.contains("the survey cannot end") })
        #expect(messages(["q_a: x>q_b", "q_b: y>q_a, z"]).isEmpty)
    }

    @Test func `ids and texts that answers cannot be told by are found`() {
        #expect(
            messages(["thermal: x"]).first?.contains("expected a name that begins with q_") == true)
        #expect(messages(["ws_heart_rate: x"]).first?.hasPrefix("error: ") == true)
        #expect(messages(["q_a: x, x"]).first?.contains("two options \"x\"") == true)
        #expect(messages(["q_a:  x"]).first?.hasPrefix("note: ") == true)
        #expect(messages(["q_a"]).first?.contains("has no options") == true)
    }

    @Test func `a first question that the app does not begin with is a flaw`() {
        let questions = ["q_a: x>q_b", "q_b: y"]
        #expect(messages(questions, more: "\"firstQuestionID\": \"q_a\",").isEmpty)
        let found = messages(questions, more: "\"firstQuestionID\": \"q_b\",")
        #expect(found.first?.contains("begins with the first question of the list, q_a") == true)
    }

    @Test func `an option without the keys the app needs is a flaw`() {
        let text = survey(["q_a: x, y"]).replacingOccurrences(of: "\"icon\"", with: "\"ikon\"")
        let found = SurveyCheck(text).findings.map(\.message)
        #expect(
            found == [
                "2 of the 2 options of q_a have no icon: the app needs it to load the "
                    + "survey"
            ])
    }

    @Test func `long surveys are checked in a moment`() {
        // Each leads to the one before it: the slowest order for a search from the first on.
        let questions = (0..<2_000).map { "q_\($0): x>q_\($0 - 1)" }
        let found = SurveyCheck(survey(questions)).findings
        #expect(found.count == 2_000)
    }

    // MARK: Registering and counting

    private let directory = TemporaryDirectory()

    private func database() throws -> Database {
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        return try Database.open(directory.path, options: options)
    }

    private func write(_ answers: [String?], to database: Database) throws {
        var batch = WriteBatch()
        for (index, answer) in answers.enumerated() {
            var fields: [String: FieldValue] = ["x": .float(1)]
            if let answer { fields["q_a"] = .string(answer) }
            try batch.add(
                experiment: "dev \"1\"", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(index)), fields: fields)
        }
        _ = try database.write(batch)
    }

    private func usable(_ questions: [String]) throws -> WatchSurvey {
        try #require(SurveyCheck(survey(questions)).survey)
    }

    @Test func `answers are counted by option, others besides`() throws {
        let database = try database()
        try write(["yes", "no", "yes", nil, "", "Yes", "other", "other"], to: database)
        let done = try database.register(
            usable(["q_a: yes, no, perhaps", "q_b: x"]), for: "dev \"1\"")
        #expect(!done.isNewExperiment)
        #expect(done.fields == ["q_a", "q_b"])
        let answers = try database.surveyAnswers(of: "dev \"1\"")
        #expect(answers.map(\.field) == ["q_a", "q_b"])
        #expect(answers[0].question == "About q_a?")
        #expect(answers[0].offered.map(\.rows) == [2, 1, 0])
        #expect(answers[0].others.map(\.answer) == ["other", "", "Yes"])
        #expect(answers[0].others.map(\.rows) == [2, 1, 1])
        #expect(answers[0].total == 7)
        #expect(answers[1].total == 0)
        try database.close()
    }

    @Test(arguments: [
        Identity.standard, .allTags, .tags(["id_participant", "site"]), .participant(tag: "site"),
    ])
    func `surveys of two participants may begin at the same time`(identity: Identity) throws {
        let database = try database()
        var batch = WriteBatch()
        batch.settings.identity = identity
        // p1 answers a survey that is sent twice from two sites, p2 another one that begins at the
        // same time.
        for (row, participant) in ["p1", "p1", "p2"].enumerated() {
            for site in ["a", "b"] {
                let time = row * 2 + (site == "a" ? 0 : 1)
                try batch.add(
                    experiment: "dev", tags: ["id_participant": participant, "site": site],
                    time: Timestamp(nanoseconds: Int64(time)),
                    fields: ["q_a": .string("yes"), "ws_timestamp_start": .string("09:00")])
            }
        }
        _ = try database.write(batch)
        let answers = try database.surveyAnswers(of: "dev")
        #expect(answers.first?.others.map(\.rows) == [6])
        #expect(answers.first?.others.map(\.surveys) == [2])
        try database.close()
    }

    @Test func `a question that nobody answered has no surveys`() throws {
        let database = try database()
        var batch = WriteBatch()
        batch.declare(
            SchemaPreset.Field("q_b", .string, question: "b", options: ["x"]),
            experiment: batch.experiment("dev".utf8.span))
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["q_a": .string("x"), "ws_timestamp_start": .string("09:00")])
        _ = try database.write(batch)
        let answers = try database.surveyAnswers(of: "dev")
        #expect(answers.map(\.field) == ["q_b", "q_a"])
        #expect(answers.first?.offered.map(\.surveys) == [0])
        try database.close()
    }

    @Test func `questions without a survey are counted too`() throws {
        let database = try database()
        try write(["yes", "no", "yes"], to: database)
        let answers = try database.surveyAnswers(of: "dev \"1\"")
        #expect(answers.count == 1)
        #expect(answers.first?.isRegistered == false)
        #expect(answers.first?.others.map(\.rows) == [2, 1])
        let error = #expect(throws: DatabaseError.self) {
            try database.surveyAnswers(of: "dev 1")
        }
        #expect(error?.kind == .notFound)
        try database.close()
    }

    @Test func `a later registration replaces options, or adds to them`() throws {
        let database = try database()
        #expect(try database.register(usable(["q_a: yes, no"]), for: "dev").conflicts.isEmpty)
        let again = try database.register(usable(["q_a: yes, no"]), for: "dev")
        #expect(again.changedFields.isEmpty)
        let kept = try database.register(
            usable(["q_a: perhaps, no"]), for: "dev", keepsOptions: true)
        #expect(kept.changedFields == ["q_a"])
        func options() throws -> [String]? {
            try database.schemas().first?.declaration(of: "q_a")?.options
        }
        #expect(try options() == ["perhaps", "no", "yes"])
        let other = try database.register(usable(["q_a: never"]), for: "dev")
        #expect(other.changedFields == ["q_a"] && other.conflicts.isEmpty)
        #expect(try options() == ["never"])
        try database.close()
    }

    @Test func `registrations outlive the database being closed`() throws {
        let first = try database()
        let done = try first.register(
            usable(["q_a: yes, no"]), for: "new",
            settings: ExperimentSettings(preset: "cozie-v3"))
        #expect(done.isNewExperiment)
        try first.close()
        let second = try Database.open(directory.path, access: .readOnly)
        let schema = try #require(try second.schemas().first)
        #expect(schema.preset == "cozie-v3")
        #expect(schema.declaration(of: "q_a")?.question == "About q_a?")
        try second.close()
    }

    @Test func `a field of another type keeps it, and is named`() throws {
        let database = try database()
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["q_a": .float(7)])
        _ = try database.write(batch)
        let done = try database.register(usable(["q_a: 7, 8"]), for: "dev")
        #expect(done.conflicts.map(\.field) == ["q_a"])
        #expect(try database.surveyAnswers(of: "dev").first?.total == 0)
        try database.close()
    }

    // MARK: Real surveys

    private static let hasSources = CatalogueSources.directory != nil

    /// The findings of each file, as `line:column severity id`.
    private static let expected: [String: Set<String>] = [
        "arda_survey_en.json": ["66:26 flaw", "734:26 flaw", "742:26 flaw", "750:26 flaw"],
        "arda_survey_ko.json": ["66:26 flaw", "733:26 flaw", "741:26 flaw", "749:26 flaw"],
        "esse_ws_esse_2024-02-18_1421.json": ["368:19 note"],
        "esse_ws_esse_2024-02-18_1423.json": ["368:19 note"],
        "watch_survey_demo.json": ["54:3 error"],
        "watch_survey_privacy.json": ["272:22 flaw"],
        "watch_survey_weather_short.json": ["7:25 flaw", "33:25 flaw"],
    ]

    @Test(.enabled(if: hasSources, "the surveys are not beside the package"))
    func `real surveys have the findings they have`() throws {
        let files = try CatalogueSources.files("data/watch_surveys", ending: ".json")
        #expect(files.count == 18)
        for file in files {
            let check = SurveyCheck(try CatalogueSources.text(file))
            let found = Set(
                check.findings.map { "\($0.line):\($0.column) \($0.severity.rawValue)" })
            let name = file.components(separatedBy: "/").last ?? file
            #expect(found == Self.expected[name] ?? [], "\(name)")
            #expect(check.survey?.questions.isEmpty == false, "\(name)")
        }
    }
}
