// Real tables, imported with the options they need; and what queries and exports print, imported
// again.

internal import Foundation
internal import Testing

struct TableImportCommandTests {
    /// A file below `shared/data`, the options that suit it, and what comes of it.
    struct RealTable: CustomTestStringConvertible, Sendable {
        var file: String
        var options: [String]
        var points: Int
        /// Rows without a participant.
        var refused = 0
        /// Options without which the file must not be stored, and what the error says.
        var without: [String] = []
        var hint = ""

        var testDescription: String { file }

        var path: String {
            Command.packageRoot.deletingLastPathComponent()
                .appendingPathComponent("shared/data/\(file)").path
        }
    }

    private static let tables = [
        RealTable(
            file: "cozie_fitbit/cresh_2019-11-15_cozie_full_masked.csv",
            options: ["--experiment", "cresh", "--participant-column", "user_id"], points: 4378,
            without: ["--experiment", "cresh"], hint: "--participant-column"),
        RealTable(
            file: "cozie_fitbit/ema_fitness.csv",
            options: ["--experiment", "ema", "--participant-column", "Userid"], points: 52,
            refused: 30),
        RealTable(
            file: "cozie_fitbit/ema_infection.csv",
            options: ["--experiment", "ema", "--participant-column", "Userid"], points: 128,
            refused: 1),
        RealTable(
            file: "cozie_fitbit/ema_privacy.csv",
            options: ["--experiment", "ema", "--participant-column", "Userid"], points: 49,
            refused: 20),
        RealTable(
            file: "cozie_other/esse03_scoria.csv",
            options: ["--experiment", "gps", "--participant", "esse03", "--precision", "s"],
            points: 459, without: ["--experiment", "gps", "--participant", "esse03"],
            hint: "the precision to s for 2024-01-18"),
        RealTable(
            file: "cozie_other/esse07_skin_ibutton.csv",
            options: [
                "--experiment", "skin", "--participant", "esse07", "--skip-lines", "19",
                "--time-column", "Date/Time", "--time-format", "%m/%d/%y %I:%M:%S %p",
                "--tz", "Asia/Singapore",
            ], points: 2055, without: ["--experiment", "skin"], hint: "--time-column"),
        RealTable(
            file: "cozie_other/esse_column_information.csv",
            options: [
                "--experiment", "columns", "--tag-columns", "Column Names", "--identity",
                "Column Names", "--now", "2024-03-01T00:00:00Z",
            ], points: 94, without: ["--experiment", "columns"], hint: "--now"),
        RealTable(
            file: "cozie_other/jitai_2_weekly_survey_data_all_participants.csv",
            options: ["--experiment", "weekly"], points: 430, without: [],
            hint: "--experiment"),
        RealTable(
            file: "cozie_other/jitai_3_jitai_data_participants_phase1_orenth.csv",
            options: ["--experiment", "jitai"], points: 779),
        RealTable(
            file: "cozie_other/jitai_4_jitai_data_participants_phase2_usk.csv",
            options: ["--experiment", "jitai"], points: 2853),
        RealTable(
            file: "influx/annotated_csv_docs_1.csv", options: ["--identity", "all"], points: 3,
            without: [], hint: "--identity"),
        RealTable(
            file: "influx/annotated_csv_docs_2.csv", options: ["--identity", "host,region"],
            points: 6),
        RealTable(
            file: "influx/annotated_csv_docs_3.csv", options: ["--identity", "all"], points: 2),
        RealTable(
            file: "influx/annotated_csv_docs_4.csv", options: ["--identity", "all"], points: 2),
        RealTable(
            file: "influx/annotated_csv_docs_5.csv", options: [], points: -1, without: [],
            hint: "Failed to parse query"),
        RealTable(
            file: "influx/extended_annotated_csv_docs_1.csv", options: [], points: -1,
            without: [], hint: "annotations without a table"),
        RealTable(
            file: "influx/home-sensor-data.csv",
            options: ["--identity", "all", "--precision", "s"], points: 26,
            without: ["--identity", "all"], hint: "the precision to s for 2024-04-11"),
        RealTable(
            file: "influx/sample-sensor-info.csv",
            options: [
                "--experiment", "sensors", "--time-column", "last_inspected", "--time-format",
                "%m/%d/%Y", "--participant-tag", "sensor_id",
            ], points: 8, without: ["--experiment", "sensors"], hint: "--time-column"),
    ]

    private static let isThere = tables.allSatisfy {
        FileManager.default.fileExists(atPath: $0.path)
    }

    @Test func `a row without participant says which column is empty`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "time,v,Userid\n2024-01-01T00:00:00Z,1,\n2024-01-01T00:00:00Z,2,a\n", to: "t.csv")
        let run = try Command.cozdb([
            "import", "--db", folder.path("x"), "--experiment", "e", "--participant-column",
            "Userid", file,
        ])
        #expect(run.status == 7)
        let reason = "\"Userid\" is empty, expected the participant"
        #expect(run.output.contains("t.csv:2:24: column 3: \(reason)"), "\(run.output)")
        let list = try Command.cozdb(["rejects", "--db", folder.path("x"), "list"])
        #expect(list.output.contains("column 3: \(reason)\n"), "\(list.output)")
    }

    @Test func `refused rows of one file come back with its header`() throws {
        let folder = try TemporaryFolder()
        let run = try Command.shell(
            """
            printf 'time,id_participant,f\\n1,p,2\\n31.12.2024 10:00,p,3\\n' > a.csv
            printf 'time,id_participant,f\\nsoon,p,4\\n9,p,x\\n' > b.csv
            cozdb import --db d --experiment m a.csv b.csv > summary
            export="cozdb rejects --db d export"
            (head -n 1 a.csv; $export --source a.csv) > again.csv
            cat again.csv
            cozdb import --db d --experiment m --time-format '%d.%m.%Y %H:%M' again.csv
            $export --reason locked
            $export --source b.csv --reason 'the time'
            cozdb rejects --db d list --source c.csv
            """, in: folder.url)
        #expect(run.output.hasPrefix("time,id_participant,f\n31.12.2024 10:00,p,3\npoints   1\n"))
        let rest = run.lines.suffix(3)
        #expect(
            rest == ["m,id_participant=p f=\"x\" 9", "soon,p,4", "(no rejects)"],
            "\(run.output) \(run.errors)")
        let wrong = try Command.shell("cozdb rejects --db d clear --source a.csv", in: folder.url)
        #expect(wrong.status == 64 && wrong.errors.contains("expected list or export"))
    }

    @Test(.enabled(if: isThere, "no real files beside the package"), arguments: tables)
    func `real tables are stored with the options they need`(table: RealTable) throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        if !table.hint.isEmpty {
            let run = try Command.cozdb(
                ["import", "--db", database] + table.without + [table.path])
            #expect(run.status == 64 && run.errors.contains(table.hint), "\(run.errors)")
        }
        if table.points < 0 { return }
        let run = try Command.cozdb(["import", "--db", database] + table.options + [table.path])
        #expect(run.status == (table.refused > 0 ? 7 : 0), "\(run.errors)")
        let digits = run.lines.first?.filter(\.isNumber) ?? ""
        #expect(Int(digits) == table.points, "\(run.output)")
        if table.refused > 0 {
            let lines = table.refused == 1 ? "1 line" : "\(table.refused) lines"
            #expect(run.output.contains("\(lines), 0 points"), "\(run.output)")
        } else {
            #expect(run.output.contains("refused  nothing"), "\(run.output)")
        }
        let again = try Command.cozdb(["import", "--db", database] + table.options + [table.path])
        #expect(again.output.contains("rows     0 new"), "\(again.output)")
    }

    @Test func `what queries print comes back into the same database`() throws {
        let folder = try TemporaryFolder()
        func shell(_ line: String) throws -> String {
            let run = try Command.shell(line, in: folder.url)
            #expect(run.status == 0, "\(line): \(run.errors)")
            return run.output
        }
        _ = try shell(
            "cozdb sample --participants 2 --days 1 | cozdb import --db a --preset none -")
        let rows = "cozdb query --format lp 'SELECT * FROM /.*/' --db"
        let expected = try shell("\(rows) a | sort")
        for (format, options) in [
            ("csv", "--experiment demo"), ("ndjson", "--experiment demo"),
            ("json", "--experiment demo"), ("influx-json", ""),
        ] {
            _ = try shell(
                "cozdb query --db a --format \(format) 'SELECT * FROM demo' > a.\(format)")
            _ = try shell("cp -r a b && cozdb import --db b \(options) a.\(format)")
            #expect(try shell("\(rows) b | sort") == expected, "\(format)")
            _ = try shell("rm -r b")
        }
    }

    @Test func `of a pipe too the whole column decides its type`() throws {
        let folder = try TemporaryFolder()
        let long = "head -c 800000 /dev/zero | tr '\\0' x"
        let run = try Command.shell(
            """
            (printf 'time,id_participant,v,s\n1,p,00,'; \(long); printf '\n2,p,7,'; \(long)
             printf '\n3,p,7.5,\n') > a.csv
            cat a.csv | cozdb import --db pipe --format csv --experiment e --precision s - > out
            cozdb import --db file --format csv --experiment e --precision s a.csv > out
            cozdb import --db input --format csv --experiment e --precision s - < a.csv > out
            for db in pipe file input; do
                cozdb query --db $db --format csv 'SELECT v FROM e'
            done
            """, in: folder.url)
        let answer = """
            time,v
            1970-01-01T00:00:01.000000000Z,00
            1970-01-01T00:00:02.000000000Z,7
            1970-01-01T00:00:03.000000000Z,7.5

            """
        #expect(run.output == String(repeating: answer, count: 3), "\(run.errors)")
    }

    @Test func `what exports write makes the same database`() throws {
        let folder = try TemporaryFolder()
        func shell(_ line: String) throws -> String {
            let run = try Command.shell(line, in: folder.url)
            #expect(run.status == 0, "\(line): \(run.errors)")
            return run.output
        }
        _ = try shell("cozdb sample --participants 2 --days 1 | cozdb import --db a -")
        let more = #"#x,id_participant=p,a\ b=c v=1i,s="a,\"b\" 😀",e="",f=-0,t=true 5"#
        _ = try shell("cat <<'END' | cozdb import --db a -\nm\(more)\nEND")
        let rows = "cozdb query --format lp 'SELECT * FROM /.*/' --db"
        let expected = try shell("\(rows) a | sort")
        for format in ["csv", "ndjson", "lp"] {
            _ = try shell("cozdb export --db a --format \(format) --output a.\(format)")
            _ = try shell("cozdb import --db \(format) a.\(format)")
            #expect(try shell("\(rows) \(format) | sort") == expected, "\(format)")
        }
    }

    @Test func `options that make no sense say so`() throws {
        for (options, hint) in [
            (["--delimiter", "ab"], "one ASCII character"),
            (["--delimiter", "5"], "one ASCII character"),
            (["--column-types", "a=int"], "float, integer, boolean or string"),
            (["--time-format", "epoch"], "expected auto, rfc3339"),
            (["--time-format", "%Q"], "unknown directive %Q"),
            (["--time-format", "%Y-%m-%d%"], "unknown directive %, expected"),
            (["--time-format", "%H:%M"], "no year and day"),
            (["--time-zone", "Nowhere"], "Nowhere"), (["--skip-lines", "-1"], "skip-lines"),
            (["--format", "influx-csv", "--experiment", "x"], "see --experiment, --format\n"),
            (["--format", "influx-json", "--experiment", "x"], "influx-json"),
        ] {
            let folder = try TemporaryFolder()
            let run = try Command.cozdb(
                ["import", "--db", folder.path("x")] + options + ["-"], input: "time,v\n1,2\n")
            #expect(run.status == 64 && run.errors.contains(hint), "\(options): \(run.errors)")
        }
    }
}
