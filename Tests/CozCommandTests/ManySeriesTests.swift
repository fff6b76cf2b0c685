// Many series of a row each: right answers in the memory of a few.

internal import CozTestSupport
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

    // MARK: Many columns

    /// Where many columns are.
    enum Columns: String, CaseIterable, Sendable {
        case fieldsOfLine, attributesOfLine, fieldsOfSeries

        var lines: String {
            let count = 30_000
            switch self {
            case .fieldsOfLine:
                let fields = (0..<count).map { "f\($0)=\($0).5" }
                return "m,id_participant=p \(fields.joined(separator: ",")) 1\n"
            case .attributesOfLine:
                let tags = (0..<count - 1).map { "a\($0)=v\($0)" }
                return "m,id_participant=p,\(tags.joined(separator: ",")) f7=7.5 1\n"
            case .fieldsOfSeries:
                return (0..<count).map { "m,id_participant=p\($0) f\($0)=\($0).5 1\n" }.joined()
            }
        }
    }

    @Test(
        .enabled(if: Growth.isMeasured, "takes half a minute; see Tools/nightly"),
        arguments: Columns.allCases)
    func `thirty thousand columns are imported, merged and read in 600 MB`(
        columns: Columns
    ) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(columns.lines, to: "wide.lp")
        func run(_ command: String) throws -> CommandRun {
            let run = try limited("cozdb \(command)", in: folder)
            #expect(run.status == 0, "\(command): \(run.errors)")
            return run
        }
        _ = try run("import --db d wide.lp")
        // A second part, so that there is something to merge.
        _ = try run("import --db d wide.lp")
        _ = try run("compact --db d")
        _ = try run("check --db d")
        let one = try run("query --db d --format csv --epoch ns 'SELECT f7 FROM m'")
        #expect(one.output == "time,f7\n1,7.5\n")
        let keys = columns == .attributesOfLine ? "SHOW TAG KEYS" : "SHOW FIELD KEYS"
        #expect(try run("query --db d --format csv '\(keys)'").lines.count == 30_001)
        let all = try run("query --db d --format csv 'SELECT count(*) FROM m'")
        let names = all.lines.first?.split(separator: ",").count
        #expect(names == (columns == .attributesOfLine ? 2 : 30_001))
    }
}
