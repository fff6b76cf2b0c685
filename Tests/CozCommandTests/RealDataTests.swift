// Real files, where they lie beside the package: one participant's data in two shapes.

internal import Foundation
internal import Testing

struct RealDataTests {
    private static let folder = Command.packageRoot.deletingLastPathComponent()
        .appendingPathComponent("shared/data/cozie_v3")

    private static let files = ["yanta006_write_points.lp", "yanta006_influx_inspect_export.txt"]

    private static let isThere = files.allSatisfy {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent($0).path)
    }

    /// Known answers, each asked of both databases in every state.
    private static let facts = [
        ("SELECT count(ts_heart_rate), mean(ts_heart_rate) FROM yanta", "2332,55.1582332761578"),
        ("SELECT count(v) FROM (SELECT ts_heart_rate + ws_heart_rate AS v FROM yanta)", "2328"),
    ]

    private func check(_ database: String, _ state: String) throws {
        for (statement, answer) in Self.facts {
            let run = try Command.cozdb(["query", "--db", database, "--format", "csv", statement])
            let row = run.lines.last?.split(separator: ",", maxSplits: 1).last
            #expect(row.map(String.init) == answer, "\(state): \(statement) \(run.errors)")
        }
        let info = try Command.cozdb(["info", "--db", database, "--format", "json"])
        for part in ["\"rows\": 6683", "\"values\": 48869", "\"fields\": 138"] {
            #expect(info.output.contains(part), "\(state): \(part)")
        }
    }

    private func segmentBytes(_ database: String) throws -> Int {
        let info = try Command.cozdb(["info", "--db", database, "--format", "json"])
        let match = info.output.firstMatch(of: /"segment_bytes": (\d+)/)
        return match.flatMap { Int($0.1) } ?? -1
    }

    @Test(.enabled(if: isThere, "no real files beside the package"), arguments: files)
    func `a real file in either shape has the known answers`(name: String) throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.cozdb")
        let paths = Self.files.map { Self.folder.appendingPathComponent($0).path }
        let first = Self.folder.appendingPathComponent(name).path
        #expect(try Command.cozdb(["import", "--db", database, first]).status == 0)
        try check(database, "imported")
        #expect(try Command.cozdb(["compact", "--db", database]).status == 0)
        try check(database, "compacted")
        let size = try segmentBytes(database)
        for path in paths {
            #expect(try Command.cozdb(["import", "--db", database, path]).status == 0)
        }
        try check(database, "imported again")
        #expect(try Command.cozdb(["compact", "--db", database]).status == 0)
        try check(database, "compacted again")
        #expect(try segmentBytes(database) <= size + size / 100, "the database does not grow")
        #expect(try Command.cozdb(["check", "--db", database]).status == 0)
    }
}
