// `cozdb catalogue`, what `schema` says of fields, and `import --rename`.

internal import CozStudy
internal import Foundation
internal import Testing

@testable internal import CozCommand

struct CatalogueCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func json(_ run: CommandRun) throws -> [[String: Any]] {
        let data = Data(run.output.utf8)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    // MARK: cozdb catalogue

    @Test func `all fields are listed in each format`() throws {
        let count = CozieCatalogue.v3.fields.count
        let list = try json(try Command.cozdb(["catalogue", "--format", "json"]))
        #expect(list.count == count)
        let csv = try Command.cozdb(["catalogue", "--format", "csv"])
        #expect(csv.lines.count == count + 1)
        let table = try Command.cozdb(["catalogue"])
        #expect(table.lines.count > count + 2)
        #expect(table.output.contains("\n**    when a watch survey is submitted\n"))
    }

    @Test func `a field has all that is known of it`() throws {
        let run = try Command.cozdb(["catalogue", "ts_oxygen_saturation", "--format", "json"])
        let field = try #require(try json(run).first)
        #expect(field["type"] as? String == "float")
        #expect(field["unit"] as? String == "%")
        #expect(field["rate"] as? String == "*")
        #expect(field["interval"] as? String == "1h")
        #expect(field["device"] as? String == "iphone")
        #expect(field["group"] as? String == "ts")
        #expect(field["v2_names"] as? [String] == ["ts_oxygenSaturation"])
        #expect(field["documented_as"] as? [String] == ["Integer", "**"])
        #expect(
            field["companions"] as? [String] == [
                "ts_oxygen_saturation_lambda", "ts_oxygen_saturation_trigger",
            ])
        let details = try Command.cozdb(["catalogue", "wss_reminder_enabeled"])
        #expect(
            details.output.hasPrefix(
                "wss_reminder_enabeled is an old name of wss_reminder_enabled\n"))
    }

    @Test func `patterns and groups choose fields`() throws {
        let sleep = try Command.cozdb(["catalogue", "ws_sleep_*", "--format", "csv"])
        #expect(sleep.lines.dropFirst().allSatisfy { $0.hasPrefix("ws_sleep_") })
        #expect(sleep.lines.count == 8)
        let both = try Command.cozdb(
            ["catalogue", "time", "--group", "wss", "--format", "csv"])
        #expect(both.lines.count == 4)
        #expect(both.output.contains("\nwss_time_out,"))
    }

    @Test func `an unknown name is not found, and similar names are shown`() throws {
        let name = try Command.cozdb(["catalogue", "ts_hart_rate"])
        #expect(name.status == 5)
        #expect(name.output.isEmpty)
        #expect(name.errors.contains("similar names: ts_heart_rate"))
        let far = try Command.cozdb(["catalogue", "xxxxxxxxxxxxxxxxxxxxxxx"])
        #expect(far.status == 5)
        #expect(far.errors.contains("cozdb catalogue lists all fields"))
        let group = try Command.cozdb(["catalogue", "--group", "tx"])
        #expect(group.status == 5)
        #expect(group.errors.contains("expected one of api, app, id"))
    }

    @Test(arguments: [30, 60, 80, 100, 140, 250])
    func `a table fits the terminal`(_ width: Int) {
        let fields = CozieCatalogue.v3.fields(matching: "ws_sleep")
        let lines = CatalogueText.table(fields, widthMax: width).split(separator: "\n")
            .prefix { !$0.hasPrefix("*") }
        #expect(lines.count == fields.count + 2)
        // Names, types and a little of the meaning stay in any case.
        let least = 31 + 2 + 5 + 2 + 24
        #expect(lines.allSatisfy { PlainText.width(String($0)) <= max(width, least) })
        #expect(
            lines.dropFirst(2).allSatisfy { $0.contains("ime in bed") || $0.contains("tretch") })
    }

    // MARK: cozdb schema

    @Test func `the schema says what fields are`() throws {
        let lines = """
            dev,id_participant=p1,id_password=x ts_HRV=50.5,ts_HRV_lambda="t",q_a="x",\
            door_trigger="x",ts_altitude="high" 1
            """
        let file = try folder.write(lines, to: "a.lp")
        for preset in ["none", "cozie-v3"] {
            let path = folder.path(preset)
            _ = try Command.cozdb(["import", "--db", path, "--preset", preset, file])
            let run = try Command.cozdb(["schema", "--db", path, "--format", "json"])
            let columns = try #require(try json(run).first?["columns"] as? [[String: Any]])
            var texts: [String: String] = [:]
            var units: [String: String] = [:]
            for column in columns {
                let name = try #require(column["name"] as? String)
                texts[name] = column["description"] as? String
                units[name] = column["unit"] as? String
            }
            #expect(texts["ts_HRV"]?.hasPrefix("Heart rate variability") == true)
            #expect(units["ts_HRV"] == "ms")
            #expect(texts["ts_HRV_lambda"]?.contains("ts_HRV") == true)
            #expect(texts["q_a"]?.hasPrefix("Answer to a question") == true)
            #expect(texts["id_password"]?.hasPrefix("Password of the participant") == true)
            // A field of other data may have such a name; a text is no altitude.
            #expect(texts["door_trigger"]?.isEmpty == (preset == "none"))
            if preset == "none" { #expect(texts["ts_altitude"] == "") }
        }
    }

    // MARK: import --rename

    @Test func `old names become new ones and are counted`() throws {
        let lines = """
            dev,id_participant=p1,id_one_signal=s vote_count=1i,wss_reminder_enabeled=true 1
            dev,id_participant=p1,id_one_signal=s vote_count=2i,ws_survey_count=3i 2
            """
        let file = try folder.write(lines, to: "a.lp")
        let path = folder.path("db")
        let run = try Command.cozdb(
            [
                "import", "--db", path, "--rename", "cozie-v2", "--rename", "id_participant=who",
                "--participant-tag", "who", file,
            ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output.contains(
                """
                renamed  2 values of 2 fields, and 2 tags
                         vote_count to ws_survey_count: 1 value; 1 kept vote_count \
                because their points have both names
                         wss_reminder_enabeled to wss_reminder_enabled: 1 value
                         tag id_one_signal to id_onesignal: 2 points
                         tag id_participant to who: 2 points

                """), "\(run.output)")
        let answer = try Command.cozdb(
            ["query", "--db", path, "--format", "csv", "SELECT * FROM dev"])
        #expect(
            answer.output == """
                time,id_onesignal,vote_count,who,ws_survey_count,wss_reminder_enabled
                1970-01-01T00:00:00.000000001Z,s,,p1,1,true
                1970-01-01T00:00:00.000000002Z,s,2,p1,3,

                """)
    }

    @Test(arguments: ["csv", "cozie-csv"])
    func `columns of tables have the types of their new names`(_ format: String) throws {
        let table = """
            ,index,id_participant,answer,vote_count,old_key
            0,2025-10-15 02:25:21.570000+0000,p1,7,1.0,5
            1,2025-10-15 02:26:21.570000+0000,p1,00,2.0,6

            """
        let file = try folder.write(table, to: "a.csv")
        let path = folder.path("db")
        let run = try Command.cozdb(
            [
                "import", "--db", path, "--format", format, "--experiment", "dev",
                "--preset", "cozie-v3", "--rename", "cozie-v2", "--rename", "answer=q_answer",
                "--rename", "old_key=api_read_key", file,
            ])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let answer = try Command.cozdb(
            [
                "query", "--db", path, "--format", "json",
                "SELECT q_answer, ws_survey_count, api_read_key FROM dev",
            ])
        #expect(
            answer.output.contains(
                #""q_answer":"00","ws_survey_count":2,"api_read_key":"6""#), "\(answer.output)")
        let schema = try Command.cozdb(["schema", "--db", path, "--format", "json"])
        #expect(!schema.output.contains("vote_count"))
    }

    @Test func `that nothing was renamed is said, without the option nothing is`() throws {
        let file = try folder.write("dev,id_participant=p1 x=1 1\n", to: "a.lp")
        let asked = try Command.cozdb(
            ["import", "--db", folder.path("a"), "--rename", "cozie-v2", file])
        #expect(asked.output.contains("\nrenamed  nothing\n"))
        let silent = try Command.cozdb(["import", "--db", folder.path("b"), file])
        #expect(!silent.output.contains("renamed"))
    }

    @Test(arguments: [["old"], ["=x"], ["x="], ["a=time"], ["a=b", "a=c"], ["cozie-v3"]])
    func `wrong renames are wrong usage`(_ words: [String]) throws {
        let file = try folder.write("dev,id_participant=p1 x=1 1\n", to: "a.lp")
        let options = words.flatMap { ["--rename", $0] }
        let run = try Command.cozdb(["import", "--db", folder.path("db")] + options + [file])
        #expect(run.status == 64)
        #expect(run.errors.contains("--rename: found"))
        #expect(!FileManager.default.fileExists(atPath: folder.path("db")))
    }
}
