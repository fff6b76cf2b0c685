// `cozdb summary` from outside: names in JSON, lists and objects, rows, refusals, notes.

internal import Foundation
internal import Testing

struct SummaryCommandTests {
    private static let kinds = [
        "bpm", "breath", "steps", "activity", "skin-temperature", "core-temperature", "spo2",
        "eda", "sleep",
    ]

    /// Two participants of a bracelet, two days of one of them.
    private func database(_ folder: TemporaryFolder) throws -> String {
        let path = folder.path("b.cozdb")
        let lines = """
            b,id_participant=p1 bpm=60,bpm_q=4i,last_steps=300i,energy_exp=1500 1643673600000000000
            b,id_participant=p1 bpm=100,bpm_q=1i,spo2=97,temp1=35.5 1643673900000000000
            b,id_participant=p1 coreBodyTemperature=36.5,respiration_rate=14 1643673900000000000
            b,id_participant=p1 sleepType=2i,stressLevelSkinConductance=3i 1643673900000000000
            b,id_participant=p1 bpm=70 1643760000000000000
            b,id_participant=p2 bpm=90 1643673600000000000

            """
        let run = try Command.cozdb(["import", "--db", path, "-"], input: lines)
        try #require(run.status == 0, "\(run.errors)")
        return path
    }

    private func summary(
        _ path: String, _ kind: String, _ more: String...
    ) throws -> CommandRun {
        try Command.cozdb(
            ["summary", kind, "--db", path, "--participant", "p1", "--day", "2022-02-01"] + more)
    }

    private func json(_ run: CommandRun) throws -> Any {
        try #require(run.status == 0, "\(run.errors)")
        return try JSONSerialization.jsonObject(with: Data(run.output.utf8))
    }

    @Test func `one day is an object, several are an array`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        for kind in Self.kinds where kind != "sleep" {
            let one = try #require(try json(summary(path, kind)) as? [String: Any])
            #expect(one["date"] as? String == "2022-02-01")
            #expect((one["slots"] as? [Any])?.isEmpty == false, "\(kind)")
            let two = try json(summary(path, kind, "--days", "2")) as? [[String: Any]]
            #expect(two?.count == 2, "\(kind)")
            #expect(two?.first?["id_participant"] == nil)
        }
        let sleep = try json(summary(path, "sleep")) as? [[String: Any]]
        #expect(sleep?.first?["recordDate"] as? String == "2022-02-01")
        let awake = try json(summary(path, "sleep", "--to", "2022-02-01", "--tz", "Asia/Tokyo"))
        #expect((awake as? [Any])?.count == 1)
        #expect(try summary(path, "sleep", "--field", "spo2").output == "[]\n")
    }

    @Test func `properties come in the documentation's order`() throws {
        let folder = try TemporaryFolder()
        let run = try summary(try database(folder), "bpm", "--age", "30")
        #expect(run.errors.isEmpty)
        #expect(
            run.output == """
                {
                  "id": 19024,
                  "date": "2022-02-01",
                  "timeZone": "UTC",
                  "averageBPM": 80,
                  "lastBPM": 100,
                  "maxDayBPM": 100,
                  "durationRestZone": 300,
                  "durationWarmUpZone": 300,
                  "durationFatBurnZone": 0,
                  "durationEnduranceZone": 0,
                  "durationPerformanceZone": 0,
                  "durationMaxZone": 0,
                  "percentageRestZone": 50,
                  "percentageWarmUpZone": 50,
                  "percentageFatBurnZone": 0,
                  "percentageEnduranceZone": 0,
                  "percentagePerformanceZone": 0,
                  "percentageMaxZone": 0,
                  "readyForSync": true,
                  "slots": [
                    {"intervalDate": "2022-02-01T00:00:00.000000000Z", "bpm": 60},
                    {"intervalDate": "2022-02-01T00:05:00.000000000Z", "bpm": 100}
                  ]
                }

                """)
    }

    @Test func `every participant is named where there can be several`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let all = ["summary", "bpm", "--db", path, "--day", "2022-02-01", "--all-participants"]
        let list = try json(Command.cozdb(all)) as? [[String: Any]]
        #expect(list?.map { $0["id_participant"] as? String } == ["p1", "p2"])
        let rows = try Command.cozdb(all + ["--format", "csv", "--slots", "--min-quality", "1"])
        #expect(
            rows.output == """
                id_participant,intervalDate,bpm
                p1,2022-02-01T00:00:00.000000000Z,60
                p1,2022-02-01T00:05:00.000000000Z,100

                """)
        let one = try json(Command.cozdb(all + ["--min-quality", "4"])) as? [[String: Any]]
        #expect(one?.map { $0["id_participant"] as? String } == ["p1"])
    }

    @Test func `rows of days without data are empty, as objects they are zero`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let rows = try summary(path, "activity", "--days", "2", "--format", "csv")
        #expect(
            rows.output == """
                id_participant,id,date,timeZone,steps,distance,calories,readyForSync
                p1,19024,2022-02-01,UTC,300,202,1.5,true
                p1,19025,2022-02-02,UTC,,,,true

                """)
        let days = try json(summary(path, "activity", "--days", "2")) as? [[String: Any]]
        #expect(days?.last?["steps"] as? Int == 0)
        let table = try summary(path, "activity", "--days", "2", "--format", "table")
        #expect(table.lines.first?.contains("id_participant  date") == true)
        #expect(table.lines.count == 4)
        let upright = try summary(path, "activity", "--format", "table")
        #expect(upright.output.contains("\nsteps           300\n"))
    }

    @Test func `options change the rules of a summary`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        func value(_ kind: String, _ key: String, _ more: String...) throws -> Int? {
            let run = try Command.cozdb(
                ["summary", kind, "--db", path, "--participant", "p1", "--day", "2022-02-01"]
                    + more)
            return (try json(run) as? [String: Any])?[key] as? Int
        }
        #expect(try value("bpm", "durationMaxZone", "--zones", "20,30,40,50,60") == 600)
        #expect(try value("bpm", "durationMaxZone", "--max-heart-rate", "110") == 300)
        #expect(try value("bpm", "durationRestZone", "--slot", "1m", "--age", "20") == 60)
        #expect(try value("bpm", "averageBPM", "--min-quality", "4") == 60)
        #expect(try value("bpm", "averageBPM", "--field", "temp1,bpm") == 48)
        #expect(try value("bpm", "maxDayBPM", "--over", "values", "--slot", "1h") == 100)
        #expect(
            try value("bpm", "averageBPM", "--quality-field", "spo2", "--min-quality", "9") == 100)
        #expect(try value("steps", "stepDistance", "--height", "200") == 248)
        #expect(try value("steps", "goalStepPercentage", "--goal", "600") == 50)
        #expect(try value("steps", "moveEveryHour") == 1)
        #expect(try value("steps", "moveEveryHour", "--hourly-steps", "301") == 0)
        #expect(try value("steps", "stepCount", "--field", "steps=bpm") == 160)
    }

    @Test func `what is assumed of a person is told`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        #expect(try summary(path, "bpm").errors.contains("--age"))
        #expect(try summary(path, "steps").errors.contains("--height"))
        #expect(try summary(path, "steps", "--height", "170").errors.isEmpty)
        #expect(try summary(path, "spo2").errors.isEmpty)
        let early = try summary(path, "spo2", "--now", "2022-02-01T12:00:00Z")
        #expect(early.output.contains("\"readyForSync\": false"))
    }

    @Test(arguments: [
        (["--participant", "p3"], 5, "did you mean \"p1\"?"),
        (["--experiment", "c"], 5, "no experiment \"c\""),
        (["--field", "bmp"], 5, "did you mean \"bpm\"?"),
        (["--source", "cozie"], 5, "ts_heart_rate, ws_heart_rate"),
        (["--day", "2022-02-30"], 64, "expected a day such as 2025-10-15"),
        (["--days", "0"], 64, "expected 1 to 3660"),
        (["--days", "2", "--to", "2022-02-03"], 64, "both --days and --to"),
        (["--to", "2022-01-31"], 64, "expected 2022-02-01 or later"),
        (["--tz", "Asia/Singapoor"], 64, "unable to find time zone"),
        (["--slot", "7m"], 64, "a divisor of an hour"),
        (["--slot", "soon"], 64, "a duration in whole seconds"),
        (["--zones", "1,2,3"], 64, "five ascending lower limits"),
        (["--zones", "a,b,c,d,e"], 64, "five numbers"),
        (["--age", "30", "--max-heart-rate", "190"], 64, "several of --max-heart-rate"),
        (["--age", "300"], 64, "1 to 120"),
        (["--field", "heart=bpm"], 64, "expected one of bpm, bpm-quality"),
        (["--field", ""], 64, "expected a field name"),
        (["--all-participants"], 64, "--participant and --all-participants, expected one"),
        (["--slots"], 64, "--format table or csv"),
        (["--height", "3"], 64, "50 to 280"),
    ])
    func `what is wrong is refused with what is expected`(
        more: [String], status: Int32, part: String
    ) throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        var arguments = ["summary", "bpm", "--db", path]
        for (option, value) in [("--participant", "p1"), ("--day", "2022-02-01")]
        where !more.contains(option) {
            arguments += [option, value]
        }
        let run = try Command.cozdb(arguments + more)
        #expect(run.status == status, "\(more) \(run.output)")
        #expect(run.errors.contains(part), "\(more) \(run.errors)")
        #expect(run.output.isEmpty)
    }

    @Test func `an experiment is named where there are several`() throws {
        let folder = try TemporaryFolder()
        let path = try database(folder)
        let more = try Command.cozdb(
            ["import", "--db", path, "--identity", "all", "-"],
            input: "other,id_participant=p1,device=a bpm=60 1643673600000000000\n"
                + "other,id_participant=p1,device=b bpm=80 1643673600000000000\n")
        #expect(more.status == 0)
        let run = try summary(path, "bpm")
        #expect(run.status == 64)
        #expect(run.errors.contains("found 2 experiments (\"b\", \"other\")"))
        // With another identity the series of a participant are taken together.
        let other = try json(summary(path, "bpm", "--experiment", "other")) as? [String: Any]
        #expect(other?["averageBPM"] as? Int == 70)
    }

    // MARK: Real data

    private static let points = Command.packageRoot.deletingLastPathComponent()
        .appendingPathComponent("shared/data/cozie_v3/yanta006_write_points.lp")

    private static let isThere = FileManager.default.fileExists(atPath: points.path)

    @Test(.enabled(if: isThere, "no real files beside the package"))
    func `sleep of real data has all minutes that were sent`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("y.cozdb")
        #expect(try Command.cozdb(["import", "--db", path, Self.points.path]).status == 0)
        let text = String(decoding: try Data(contentsOf: Self.points), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains("_sleep_") }
        func minutes(_ stage: String) throws -> Double {
            // The watch's values are cut to whole minutes; they count where the phone's lack.
            let pattern = try Regex(
                "[ ,](ts|ws)_sleep_\(stage)=([0-9.]+)", as: (Substring, Substring, Substring).self)
            return lines.reduce(0) { sum, line in
                let found = line.matches(of: pattern).map { ($0.output.1, $0.output.2) }
                let counts = found.first { $0.0 == "ts" } ?? found.first
                return sum + (counts.flatMap { Double($0.1) } ?? 0)
            }
        }
        let run = try Command.cozdb([
            "summary", "sleep", "--db", path, "--participant", "yanta006", "--day", "2025-10-01",
            "--days", "365", "--tz", "Asia/Singapore",
        ])
        let sleeps = try #require(try json(run) as? [[String: Any]])
        #expect(sleeps.count > 10)
        for (key, stage) in [
            ("totalSecsLight", "core"), ("totalSecsDeep", "deep"), ("totalSecsREM", "REM"),
            ("totalSecsAwake", "awake"),
        ] {
            let sum = sleeps.reduce(0) { $0 + ($1[key] as? Int ?? 0) }
            #expect(Double(sum) == (try minutes(stage)) * 60, "\(stage)")
        }
    }
}
