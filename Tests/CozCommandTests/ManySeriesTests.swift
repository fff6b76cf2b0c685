// Many series of a row each: right answers in the memory of a few.

internal import Foundation
internal import Testing

struct ManySeriesTests {
    private static let count = 12_000

    /// A database in which every row is a series of its own, imported under a limit of memory.
    private func database() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        var lines = ""
        for number in 0..<Self.count {
            let name = (number * 7919) % Self.count
            lines += "m,id_participant=p\(name),host=h\(number % 10) v=\(number)i,w=0.5 \(number)\n"
        }
        _ = try folder.write(lines, to: "many.lp")
        let run = try limited("cozdb import --db x.cozdb --identity all many.lp", in: folder)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("12,000 new"))
        return folder
    }

    /// Runs a line of shell with 600 MB of address space; many times that is what a decoded
    /// block per series would take.
    private func limited(_ line: String, in folder: TemporaryFolder) throws -> CommandRun {
        let limit = Command.isSanitized ? "unlimited" : "600000"
        return try Command.shell("ulimit -v \(limit); \(line)", in: folder.url)
    }

    private func answer(
        _ statement: String, in folder: TemporaryFolder
    ) throws -> [Substring] {
        let run = try limited(
            "cozdb query --db x.cozdb --format csv --epoch ns \"\(statement)\"", in: folder)
        #expect(run.status == 0, "\(statement): \(run.errors)")
        return run.lines
    }

    @Test func `every row a series: imported, found, grouped and read in order`() throws {
        let folder = try database()
        let last = Self.count - 1
        let questions: [(statement: String, lines: Int, last: String)] = [
            ("SELECT v FROM m LIMIT 3", 4, "2,2"),
            ("SELECT v FROM m ORDER BY time DESC LIMIT 2", 3, "\(last - 1),\(last - 1)"),
            ("SELECT v, w FROM m", Self.count + 1, "\(last),\(last),0.5"),
            ("SELECT v FROM m WHERE id_participant = 'p7919'", 2, "1,1"),
            ("SELECT count(v), sum(w) FROM m", 2, "0,12000,6000"),
            ("SELECT count(v) FROM m GROUP BY host", 11, "h9,0,1200"),
            ("SELECT v FROM m WHERE v > 10 GROUP BY host SLIMIT 1", 1199, "h0,11990,11990"),
            ("SHOW SERIES LIMIT 2", 3, "\"m,host=h0,id_participant=p10\""),
        ]
        for question in questions {
            let lines = try answer(question.statement, in: folder)
            #expect(lines.count == question.lines, "\(question.statement)")
            #expect(lines.last.map(String.init) == question.last, "\(question.statement)")
        }
        #expect(try limited("cozdb check --db x.cozdb", in: folder).status == 0)
        #expect(try limited("cozdb info --db x.cozdb", in: folder).output.contains("12,000"))
    }
}
