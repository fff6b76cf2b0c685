// What the summary of an import says of values that met others, and of values that were refused.

internal import Foundation
internal import Testing

struct ImportSummaryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func importing(_ text: String, _ options: [String] = []) throws -> CommandRun {
        let path = try folder.write(text, to: "input")
        return try Command.cozdb(["import", "--db", "a", path] + options, in: folder.url)
    }

    private func values(_ run: CommandRun) -> String {
        run.lines.first { $0.contains("inserted") }.map { $0.trimmingCharacters(in: .whitespaces) }
            ?? run.output
    }

    @Test func `a second import says what it replaced and what was there`() throws {
        let line = "dev,id_participant=p1 ts_heart_rate="
        #expect(
            try values(importing(line + "61 5\n"))
                == "1 inserted, 0 replaced a different value, 0 unchanged")
        #expect(
            try values(importing(line + "99 5\n"))
                == "0 inserted, 1 replaced a different value, 0 unchanged")
        #expect(
            try values(importing(line + "99 5\n" + line + "1 6\n" + line + "2 6\n"))
                == "1 inserted, 1 replaced a different value, 1 unchanged")
    }

    @Test func `what is not compared yet is said`() throws {
        let many = (0..<50_000).map { "dev,id_participant=p1 v=\($0) \($0)\n" }.joined()
        _ = try importing(many)
        let run = try importing("dev,id_participant=p1 v=7 5\n")
        let isCompared = values(run).hasPrefix("0 inserted, 1 replaced")
        #expect(values(run).hasPrefix("0 inserted"), "\(run.output)")
        #expect(isCompared != run.output.contains("1 for cells that already had a value, not"))
    }

    @Test func `one is told as one`() throws {
        let line = "dev,id_participant=p1 v=1 "
        let run = try importing(line + "1\n" + line + "x\n")
        #expect(run.output.contains("refused  1 line, 0 points, 0 values"), "\(run.output)")
        let other = try importing("dev,id_participant=p1 v=\"x\" 2\n" + line + "x\n")
        #expect(other.output.contains("refused  1 line, 0 points, 1 value;"), "\(other.output)")
        let replayed = try Command.cozdb(["rejects", "--db", "a", "replay"], in: folder.url)
        #expect(
            replayed.output.hasPrefix(
                """
                replayed    0 values
                superseded  0 values (the cell already has a value)
                refused     1 value (the type still does not fit)

                """), "\(replayed.output)")
    }

    @Test func `no commands are told for names that are longer than a line`() throws {
        let name = String(repeating: "x", count: 60_000)
        let fields = (0..<50).map { "f\($0)=" }
        func line(_ value: String, _ time: Int) -> String {
            "\(name),id_participant=p \(fields.map { $0 + value }.joined(separator: ",")) \(time)\n"
        }
        let run = try importing(line("1", 1) + line("\"s\"", 2))
        #expect(run.output.contains("50 values"), "\(run.output.prefix(2000))")
        #expect(run.output.utf8.count < 20_000)
    }

    @Test func `what is forgotten of one is told as one`() throws {
        let lines = ["dev,id_participant=p1 v=1,own=1 1", "dev,id_participant=p2 v=1 1"]
        let refused = "dev,id_participant=p1 v=\"x\" 2"
        let other = "other,id_participant=p1 v=1 1"
        let run = try importing((lines + [refused, other]).map { $0 + "\n" }.joined())
        #expect(run.status == 7, "\(run.errors)")
        let forgotten = try Command.cozdb(
            ["forget", "--db", "a", "--participant", "p1"], in: folder.url)
        #expect(forgotten.status == 0, "\(forgotten.errors)")
        for words in [
            "refused   1 entry in the rejects journal\n", "rejects   1 file rewritten\n",
            "names     1 column, 1 experiment removed\n",
        ] {
            #expect(forgotten.output.contains(words), "\(forgotten.output)")
        }
    }

    @Test func `no advice makes a text of a declared measurement`() throws {
        let line = "dev,id_participant=p1 "
        let texts = try importing(
            line + "ts_heart_rate=61 5\n" + line + "ts_heart_rate=\"abc\" 6\n",
            ["--preset", "cozie-v3"])
        #expect(texts.status == 7)
        #expect(!texts.output.contains("ALTER"), "\(texts.output)")
        #expect(texts.output.contains("cozdb rejects --db a list"))
        let widened = try importing(line + "ws_survey_count=1.5 7\n" + line + "own=1 7\n")
        #expect(widened.output.contains("\"ws_survey_count\" TYPE float"), "\(widened.output)")
        let own = try importing(line + "own=\"x\" 8\n")
        #expect(own.output.contains("\"own\" TYPE string"), "\(own.output)")
    }

    @Test(arguments: [["3", "x"], ["x", "3"]])
    func `no advice makes a text of a type that was asked for`(cells: [String]) throws {
        let rows = cells.enumerated().map { "\($0),p1,\($1)\n" }.joined()
        let run = try importing(
            "time,id_participant,a\n" + rows,
            ["--format", "csv", "--experiment", "dev", "--column-types", "a=integer"])
        #expect(run.status == 7)
        #expect(!run.output.contains("ALTER"), "\(run.output)")
        #expect(run.output.contains("do not fit the declared type"), "\(run.output)")
    }

    @Test func `a change that cannot be undone is not the first advice`() throws {
        let line = "dev,id_participant=p1 "
        let run = try importing(line + "x=61,n=1i 5\n" + line + "x=\"48,1\",n=1.5 6\n")
        let words = [
            "To store the values that were refused because of their type:", "\"n\" TYPE float",
            "If they are mistakes, correct the files and import them again.", "cannot be undone:",
            "\"x\" TYPE string",
        ]
        let places = words.map { run.output.range(of: $0)?.lowerBound }
        #expect(!places.contains(nil), "\(run.output)")
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
    }

    @Test func `refused values are listed with their tags`() throws {
        let line = "dev,id_participant=p1,device=a,id_password=secret "
        _ = try importing(line + "x=61 5\n" + line + "x=\"48,1\" 6\n")
        let list = try Command.cozdb(["rejects", "--db", "a", "list"], in: folder.url)
        #expect(list.output.contains("dev,device=a,id_participant=p1 x=\"48,1\""), "\(list.output)")
        #expect(!list.output.contains("secret"), "\(list.output)")
    }
}
