// `cozdb survey`: checks, registrations, counts, and the questions in other answers.

internal import Foundation
internal import Testing

struct SurveyCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// One question whose options lead to `next`.
    private func survey(
        _ id: String = "q_a", question: String = "How?", options: [String] = ["yes", "no"],
        next: String = ""
    ) -> String {
        let list = options.map { option in
            """
            {"text": "\(option)", "icon": "", "icon_background_color": "",
             "use_sf_symbols": false, "sf_symbols_color": "", "next_question_id": "\(next)"}
            """
        }
        return """
            {"survey_name": "Test", "survey_id": "t", "survey": [
            {"question": "\(question)", "question_id": "\(id)",
             "response_options": [\(list.joined(separator: ","))]}
            ]}
            """
    }

    private func database(_ answers: [String]) throws -> String {
        let lines = answers.enumerated().map {
            "dev,id_participant=p q_a=\"\($1)\",x=1 \($0 + 1)"
        }
        let file = try folder.write(lines.joined(separator: "\n"), to: "a.lp")
        let path = folder.path("db")
        let run = try Command.cozdb(["import", "--db", path, file])
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    private func register(_ survey: String, in path: String, _ more: [String] = []) throws
        -> CommandRun
    {
        let file = try folder.write(survey, to: "survey.json")
        return try Command.cozdb(["survey", "--db", path, "--experiment", "dev"] + more + [file])
    }

    // MARK: Checks

    @Test func `a good survey is shown`() throws {
        let file = try folder.write(survey(), to: "good.json")
        let run = try Command.cozdb(["survey", "good.json"], in: folder.url)
        #expect(run.status == 0)
        #expect(
            run.output == """
                good.json: Test, 1 question
                no errors or flaws found

                q_a: How?
                    yes  -> end
                    no   -> end

                """)
        let input = try Command.cozdb(["survey", "-"], input: survey())
        #expect(input.status == 0)
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test func `findings have places and the status 64`() throws {
        _ = try folder.write(survey(next: "q_b"), to: "flaw.json")
        let flaw = try Command.cozdb(["survey", "flaw.json"], in: folder.url)
        #expect(flaw.status == 64)
        #expect(
            flaw.output.contains(
                "flaw.json:4:71: flaw: option \"yes\" of q_a leads to the unknown question q_b"))
        _ = try folder.write(survey() + "]", to: "bad.json")
        let bad = try Command.cozdb(["survey", "bad.json", "flaw.json"], in: folder.url)
        #expect(bad.status == 64)
        #expect(bad.output.contains("bad.json:6:3: error: invalid JSON"))
        #expect(bad.output.contains("flaw.json:4:71: flaw"))
        let json = try Command.cozdb(
            ["survey", "--format", "json", "bad.json"], in: folder.url)
        #expect(json.status == 64)
        let list = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let first = try #require((list as? [[String: Any]])?.first)
        #expect(first["errors"] as? Int == 1)
        let finding = try #require((first["findings"] as? [[String: Any]])?.first)
        #expect(finding["line"] as? Int == 6)
        #expect(finding["column"] as? Int == 3)
        #expect(finding["severity"] as? String == "error")
    }

    private static let usages: [([String], Int32)] = [
        ([], 64), (["--db", "x", "a.json"], 5), (["--experiment", "x", "a.json"], 64),
        (["missing.json"], 5), (["--keep-options", "missing.json"], 64),
        (["--db", "missing", "--experiment", "x"], 5),
    ]

    @Test(arguments: usages)
    func `wrong usage is told from what is missing`(_ words: [String], _ status: Int32) throws {
        let run = try Command.cozdb(["survey"] + words, in: folder.url)
        #expect(run.status == status)
        #expect(!run.errors.isEmpty)
    }

    @Test func `gzip and surveys without questions are told`() throws {
        let empty = try Command.cozdb(["survey", "-"], input: "{\"survey\":[]}", in: folder.url)
        #expect(empty.lines.first == "-: no name, 0 questions")
        _ = try folder.write(survey(), to: "a.json")
        let zipped = try Command.shell("gzip a.json; cozdb survey a.json.gz", in: folder.url)
        #expect(zipped.status == 64)
        #expect(zipped.errors.contains("found gzip data"))
    }

    @Test func `the only experiment needs no name`() throws {
        let path = try database(["yes", "no"])
        let file = try folder.write(survey(), to: "survey.json")
        let broken = try folder.write(survey("ws_survey_count"), to: "broken.json")
        let refused = try Command.cozdb(["survey", "--db", path, broken])
        #expect(refused.status == 64 && refused.errors.contains("found 1 error, expected"))
        let done = try Command.cozdb(["survey", "--db", path, file])
        #expect(done.status == 0 && done.output.contains("registered Test for dev"))
        let named = try Command.cozdb(["survey", "--db", path, "--experiment", "dev"])
        #expect(named.output.contains("yes"))
        #expect(try Command.cozdb(["survey", "--db", path]).output == named.output)
        let fresh = try Command.cozdb(["survey", "--db", folder.path("fresh"), file])
        #expect(fresh.status == 5)
    }

    @Test func `only a terminal gets long descriptions cut`() throws {
        let path = try database(["yes"])
        let question = String(repeating: "How about it? ", count: 12) + "End"
        _ = try register(survey(question: question), in: path)
        func shown(_ text: String) -> Substring? {
            text.split(whereSeparator: \.isNewline).first { $0.contains("field") }
        }
        let piped = try Command.cozdb(["schema", "--db", path])
        #expect(shown(piped.output)?.contains(question) == true)
        #expect(!piped.output.contains("…"))
        let terminal = try PseudoTerminal(
            Command.binaries.appendingPathComponent("cozdb"), ["schema", "--db", path],
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"], in: folder.url,
            columns: 120)
        let text = try #require(terminal.wait(for: "use --format json to see them in full"))
        #expect(shown(text)?.contains("How about it? How about it? How") == true)
        #expect(terminal.end() == 0)
    }

    // MARK: Registrations

    @Test func `registered questions show in schema, counts and queries`() throws {
        let path = try database(["yes", "no", "yes", "maybe"])
        let done = try register(survey(next: "q_b"), in: path)
        #expect(done.status == 0)
        #expect(done.output == "registered Test for dev: 1 question\n")
        #expect(done.errors.contains(": flaw: "))

        let schema = try Command.cozdb(["schema", "--db", path])
        #expect(schema.output.hasSuffix("\nquestions:\nq_a: How?\n    yes\n    no\n"))
        let json = try Command.cozdb(["schema", "--db", path, "--format", "json"])
        #expect(json.output.contains("\"question\": \"How?\""))
        #expect(json.output.contains("\"options\": [\"yes\", \"no\"]"))

        let counts = try Command.cozdb(["survey", "--db", path, "--experiment", "dev"])
        #expect(
            counts.output == """
                q_a: How?
                              rows
                    yes          2
                    no           1
                  1 answer not among the options:
                    maybe        1

                """)
        let list = try Command.cozdb(
            ["survey", "--db", path, "--experiment", "dev", "--format", "json"])
        #expect(
            list.output.contains(
                "\"outside\": [{\"answer\": \"maybe\", \"rows\": 1, \"surveys\": null}]"))

        let statement = "SELECT q_a AS a, q_a, x FROM dev WHERE time > 2"
        let table = try Command.cozdb(["query", "--db", path, "--questions", statement])
        #expect(
            table.output.hasSuffix(
                """

                questions:
                q_a: How?
                    yes
                    no
                  1 of the 2 answers shown is not among the options

                """), "\(table.output)")
        let csv = try Command.cozdb(
            ["query", "--db", path, "--questions", "--format", "csv", statement])
        #expect(csv.lines.first == "time,a,q_a: How?,x")
        let grouped = try Command.cozdb(
            [
                "query", "--db", path, "--questions", "--format", "csv",
                "SELECT count(x) FROM dev GROUP BY q_a::field",
            ])
        #expect(grouped.lines.first == "q_a: How?,time,count")
        let other = try Command.cozdb(
            ["query", "--db", path, "--questions", "--format", "ndjson", statement])
        #expect(other.status == 64)
        #expect(other.errors.contains("expected table or csv"))
    }

    @Test func `a survey with errors is not registered`() throws {
        let path = try database(["yes"])
        let before = try Command.cozdb(["schema", "--db", path])
        let run = try register(survey("ws_heart_rate"), in: path)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("Nothing was registered"))
        #expect(try Command.cozdb(["schema", "--db", path]).output == before.output)
    }

    @Test func `another version of a survey replaces options or adds to them`() throws {
        let path = try database(["yes", "never"])
        _ = try register(survey(), in: path)
        let replaced = try register(survey(options: ["never"]), in: path)
        #expect(replaced.output.contains("q_a: replaced an earlier question or earlier options"))
        let added = try register(survey(), in: path, ["--keep-options"])
        #expect(added.status == 0)
        let counts = try Command.cozdb(["survey", "--db", path, "--experiment", "dev"])
        #expect(
            counts.output == """
                q_a: How?
                              rows
                    yes          1
                    no           0
                    never        1

                """)
    }

    @Test func `a survey that was sent twice is one survey`() throws {
        let lines = """
            dev,id_participant=p q_a="yes",ws_timestamp_start="t1" 1
            dev,id_participant=p q_a="yes",ws_timestamp_start="t1" 2
            dev,id_participant=p q_a="yes",ws_timestamp_start="t2" 3
            dev,id_participant=p q_a="other" 4
            """
        let path = folder.path("twice")
        let file = try folder.write(lines, to: "twice.lp")
        _ = try Command.cozdb(["import", "--db", path, file])
        _ = try register(survey(), in: path)
        let counts = try Command.cozdb(["survey", "--db", path, "--experiment", "dev"])
        #expect(
            counts.output == """
                q_a: How?
                           surveys     rows
                    yes          2        3
                    no           0        0
                  1 answer not among the options:
                    other        0        1

                """)
    }

    @Test func `a registration can come before the data`() throws {
        let path = folder.path("new")
        let run = try register(survey(), in: path)
        #expect(run.status == 0)
        #expect(run.output.contains("dev is a new experiment, created with the preset cozie-v3"))
        let file = try folder.write("dev,id_participant=p q_a=\"no\",ts_HRV=50i 1\n", to: "b.lp")
        let imported = try Command.cozdb(["import", "--db", path, "--preset", "cozie-v3", file])
        #expect(imported.status == 0, "\(imported.errors)")
        let counts = try Command.cozdb(["survey", "--db", path, "--experiment", "dev"])
        #expect(
            counts.output == """
                q_a: How?
                            rows
                    yes        0
                    no         1

                """)
    }

    @Test func `an experiment that is not there is not found`() throws {
        let path = try database(["yes"])
        let run = try Command.cozdb(["survey", "--db", path, "--experiment", "deev"])
        #expect(run.status == 5)
        #expect(run.errors.contains("did you mean \"dev\"?"))
    }
}
