// Rows of one millisecond: kept apart, and the same however often and in however many files they
// come.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Glibc
internal import Testing

struct BeiweOrdinalTests {
    private static let folder = "\(BeiweExport.patient)/proximity/"

    private static func text(_ rows: [(Int, String)]) -> String {
        "timestamp,event\n" + rows.map { "\($0.0),\($0.1)\n" }.joined()
    }

    private static func rows(_ export: BeiweExport, _ name: String = "db") throws -> [String] {
        try export.ask("SELECT event FROM proximity", name).dropFirst(2).map { line in
            line.split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `different rows of a millisecond follow each other by a nanosecond`() throws {
        let export = try BeiweExport([
            Self.folder + "a.csv": Self.text([
                (1000, "a"), (1000, "b"), (1000, "a"), (1000, "c"), (1001, "a"), (1001, "a"),
            ])
        ])
        let expected = [
            "1970-01-01T00:00:01Z a", "1970-01-01T00:00:01.000000001Z b",
            "1970-01-01T00:00:01.000000002Z c", "1970-01-01T00:00:01.001Z a",
        ]
        for _ in 0..<2 {
            #expect(try !export.load().hasRefusals)
            #expect(try Self.rows(export) == expected)
        }
    }

    @Test func `more surveys of a millisecond than it has places keep all questions`() throws {
        var files: [String: String] = [:]
        for (milliseconds, count) in [(1_639_530_204_861, 230), (1_639_530_204_862, 5)] {
            for number in 0..<count {
                let survey = "\(BeiweExport.patient)/survey_answers/s\(number)"
                files["\(survey)/\(milliseconds).csv"] =
                    "question id,question type,question text,question answer options,answer\n"
                    + "q1,slider,How?,min = 0,\(number)\n"
            }
        }
        let export = try BeiweExport(files)
        for _ in 0..<2 {
            #expect(try !export.load().hasRefusals)
            for name in ["survey_answers", "survey_questions"] {
                let rows = try export.ask("SELECT * FROM \(name)").dropFirst(2)
                #expect(rows.count == 235, "\(name)")
            }
        }
    }

    @Test func `rows that come back out of order, over blocks and hours, keep their places`()
        throws
    {
        // Longer than a block of the tokenizer, so that earlier rows are not in memory any more.
        var rows: [(Int, String)] = []
        for number in 0..<9000 { rows.append((number * 1000, "event \(number)")) }
        rows += [(5000, "late"), (5000, "event 5"), (8_999_000, "last"), (8_998_000, "late")]
        rows += [(5000, "later"), (9_000_000, "new"), (9_000_000, "newer"), (8_998_000, "late")]
        let export = try BeiweExport([Self.folder + "a.csv": Self.text(rows)])
        try export.load()
        let stored = try Self.rows(export)
        #expect(stored.count == 9006)
        for line in [
            "1970-01-01T00:00:05Z event 5", "1970-01-01T00:00:05.000000001Z late",
            "1970-01-01T00:00:05.000000002Z later", "1970-01-01T02:29:59Z event 8999",
            "1970-01-01T02:29:59.000000001Z last", "1970-01-01T02:29:58Z event 8998",
            "1970-01-01T02:29:58.000000001Z late", "1970-01-01T02:30:00.000000001Z newer",
        ] {
            #expect(stored.contains(line), "\(line)")
        }
    }

    @Test func `columns in another order, and empty ones, make no other row`() throws {
        let folder = "\(BeiweExport.patient)/power_state/"
        let export = try BeiweExport([
            folder + "a.csv": "timestamp,event,level\n1000,Locked,0.5\n1000,Full,\n",
            folder + "b.csv": "timestamp,level,extra,event\n1000,,,Full\n1000,0.5,,Locked\n",
            folder + "c.csv": "timestamp,event\n1000,Full\n1000,Locked\n",
        ])
        try export.load()
        let stored = try export.ask("SELECT event, level FROM power_state").dropFirst(2)
        #expect(
            stored.map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
                "Locked 0.5", "Full -", "Locked -",
            ])
    }

    /// What must be stored: in the order of files and lines, each different row of a millisecond.
    private static func model(_ files: [(name: String, rows: [(Int, String)])]) -> Set<String> {
        var seen: [Int: [String]] = [:]
        for file in files.sorted(by: { $0.name < $1.name }) {
            for (time, event) in file.rows where seen[time]?.contains(event) != true {
                seen[time, default: []].append(event)
            }
        }
        var lines: Set<String> = []
        for (time, events) in seen {
            for (ordinal, event) in events.enumerated() {
                let time = Timestamp(nanoseconds: Int64(time) * 1_000_000 + Int64(ordinal))
                lines.insert("\(time) \(event)")
            }
        }
        return lines
    }

    @Test(arguments: 0..<40)
    func `however rows are spread over overlapping files, each different one is stored once`(
        seed: Int
    ) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let export = try BeiweExport()
        var files: [(name: String, rows: [(Int, String)])] = []
        for number in 0..<Int.random(in: 1...6, using: &random) {
            let isSorted = Bool.random(using: &random)
            var rows: [(Int, String)] = []
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                // Few milliseconds in three hours, few events: many meet.
                let time =
                    Int.random(in: 0..<3, using: &random) * 3_600_000
                    + Int.random(in: 0..<6, using: &random)
                rows.append((time, "e\(Int.random(in: 0..<4, using: &random))"))
            }
            if isSorted { rows.sort { $0.0 < $1.0 } }
            let name = "\(number).csv"
            files.append((name, rows))
            try export.write(Self.text(rows), Self.folder + name)
        }
        export.options.batchRows = Int.random(in: 1...20, using: &random)
        if Bool.random(using: &random) {
            // Less than all rows, as many as one hour can have.
            export.beiwe.ordinalLimits.rowCountMax = Int.random(in: 24...40, using: &random)
        }
        let expected = Self.model(files)
        try export.load()
        #expect(Set(try Self.rows(export)) == expected)
        try export.load()
        #expect(Set(try Self.rows(export)) == expected, "imported again")
        // A folder has no order of its own, and one commit or many makes no difference.
        export.options.batchRows = 10_000
        try export.load(into: "other")
        #expect(try export.contents() == export.contents("other"))
    }

    // MARK: Limits

    /// Imports a file of rows with low limits, and returns the error.
    private static func error(
        _ rows: [(Int, String)], rowCountMax: Int, rereadLineCountMax: Int = 1000
    ) throws -> String? {
        let export = try BeiweExport([folder + "a.csv": text(rows)])
        export.beiwe.ordinalLimits.rowCountMax = rowCountMax
        export.beiwe.ordinalLimits.rereadLineCountMax = rereadLineCountMax
        do {
            try export.load()
            return nil
        } catch let error as DatabaseError {
            #expect(error.kind == .usage && error.file?.hasSuffix("/a.csv") == true)
            return error.message
        }
    }

    @Test func `rows in order need no memory`() throws {
        let rows = (0..<1000).map { ($0 * 60_000, "e\($0)") }
        #expect(try Self.error(rows, rowCountMax: 10) == nil)
    }

    @Test func `an hour out of order has a limit`() throws {
        var rows = (0..<11).map { ($0, "e\($0)") }
        #expect(try Self.error(rows + [(3, "late")], rowCountMax: 12) == nil)
        let message = "found more than 11 rows of one hour, in several files or out of order"
        #expect(
            try Self.error(rows + [(3, "late")], rowCountMax: 11)?.hasPrefix(message) == true)
        // The same where the hour is read again.
        rows += [(3_600_000, "next"), (3, "late")]
        #expect(try Self.error(rows, rowCountMax: 11)?.hasPrefix(message) == true)
        #expect(try Self.error(rows, rowCountMax: 12) == nil)
    }

    @Test func `files are not read again without end`() throws {
        // Five hours in turn, of which two are remembered.
        let rows = (0..<200).map { ($0 % 5 * 3_600_000, "e") }
        #expect(try Self.error(rows, rowCountMax: 2, rereadLineCountMax: 100_000) == nil)
        let message = try Self.error(rows, rowCountMax: 2, rereadLineCountMax: 100)
        #expect(message?.contains("takes too long; sort the rows of each file") == true)
        #expect(try Self.error(rows, rowCountMax: 5, rereadLineCountMax: 100) == nil)
    }

    @Test func `rows of an hour in two pipes count once`() throws {
        let export = try BeiweExport()
        export.beiwe.ordinalLimits.rowCountMax = 20
        export.beiwe.stream = "proximity"
        export.options.participant = "p"
        let rows = (0..<20).map { ($0 * 1000, "e") }
        let pipes = ["a", "b"].map { export.path($0) }
        for (pipe, rows) in zip(pipes, [rows, [(3000, "e")]]) {
            try #require(unsafe mkfifo(pipe, 0o600) == 0)
            let text = Data(Self.text(rows).utf8)
            Thread { try? text.write(to: URL(fileURLWithPath: pipe)) }.start()
        }
        #expect(try export.load(pipes).points == 21)
        #expect(try Self.rows(export).count == 20)
    }

    @Test func `input that cannot be read again has a limit`() throws {
        for (count, isRefused) in [(20, false), (21, true)] {
            let export = try BeiweExport()
            export.beiwe.ordinalLimits.rowCountMax = 20
            export.beiwe.stream = "proximity"
            export.options.participant = "p"
            let pipe = export.path("pipe")
            try #require(unsafe mkfifo(pipe, 0o600) == 0)
            // Equal rows do not count.
            let rows = (0..<count).map { ($0 * 1000, "e") }
            let text = Data(Self.text(rows + rows.reversed()).utf8)
            let writer = Thread { try? text.write(to: URL(fileURLWithPath: pipe)) }
            writer.start()
            if isRefused {
                let error = #expect(throws: DatabaseError.self) { try export.load([pipe]) }
                #expect(error?.message.contains("name the file instead of a pipe") == true)
            } else {
                #expect(try export.load([pipe]).points == 40)
                #expect(try Self.rows(export).count == 20)
            }
        }
    }

    // MARK: Identities

    /// These texts have one 64-bit FNV-1a.
    @Test func `rows that were made to have one hash are kept apart`() throws {
        let texts = ["c$1{=V8+J[Ba", "bd1E5H:+xDup"]
        let export = try BeiweExport([
            Self.folder + "a.csv": Self.text(texts.map { (1000, $0) })
        ])
        try export.load()
        #expect(
            try Self.rows(export) == [
                "1970-01-01T00:00:01Z \(texts[0])", "1970-01-01T00:00:01.000000001Z \(texts[1])",
            ])
    }

    /// Rows of an hour that is met again are compared with those before, survey included.
    @Test func `equal rows of a survey below its folder are one row`() throws {
        let rows = [
            "1639530000000,q1,A", "1639534000000,q1,B", "1639530000000,q1,A",
            "1639530000000,q1,C",
        ]
        let export = try BeiweExport([
            "\(BeiweExport.patient)/survey_timings/S0/extra/a.csv":
                "timestamp,question id,answer\n" + rows.joined(separator: "\n") + "\n"
        ])
        try export.load()
        let stored = try export.ask("SELECT answer FROM survey_timings", "db").dropFirst(2).map {
            $0.split(separator: " ").joined(separator: " ")
        }
        #expect(
            stored == [
                "2021-12-15T01:00:00Z A", "2021-12-15T01:00:00.000000001Z C",
                "2021-12-15T02:06:40Z B",
            ])
    }
}
