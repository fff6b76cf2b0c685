// Deleting for good: no file keeps a byte of what went, readers go on with what they have, and a
// deletion that fails or is cancelled changes nothing.

import CozImport
import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

struct ErasureTests {
    /// Which participants' texts are anywhere in the files of a database.
    static func found(_ markers: [String], in directory: TemporaryDirectory) throws -> Set<String> {
        var found: Set<String> = []
        for name in directory.files.keys {
            let path = directory.path + "/" + name
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            for marker in markers where data.range(of: Data(marker.utf8)) != nil {
                found.insert(marker)
            }
        }
        return found
    }

    /// The same in what the segments' dictionaries and blocks of strings hold, uncompressed, and in
    /// their keys: compression must not hide anything.
    static func stored(_ markers: [String], in database: Database) throws -> Set<String> {
        var texts: Set<String> = []
        for view in try database.takeSnapshot().experiments {
            for case .segment(let segment) in view.sources {
                try segment.forEachSeries {
                    texts.insert(String(decoding: $0.key.bytes, as: UTF8.self))
                }
                for field in segment.footer.fields.indices
                where segment.footer.fields[field].column.type == .string {
                    var tables = [try segment.dictionary(field)]
                    let blocks = try segment.directory(field)
                    for block in 0..<blocks.count
                    where blocks.encoding(block) == SegmentFormat.plainStrings {
                        tables.append(try segment.plainStrings(blocks, block: block))
                    }
                    for table in tables {
                        for code in 0..<table.count { texts.insert(table.text(UInt64(code))) }
                    }
                }
            }
        }
        return Set(markers.filter { marker in texts.contains { $0.contains(marker) } })
    }

    /// Texts that are found as they are: the first of many that begin alike is not compressed.
    static func marker(_ participant: Int) -> String { "Zq\(participant)xWv\(participant * 7919)" }

    /// Rows, attributes, refused values and refused lines of three participants.
    static func write(_ database: Database, round: Int) throws {
        var lines = ""
        for participant in 1...3 {
            let marker = marker(participant)
            for row in 0..<50 {
                let time = (round * 50 + row) * 1_000_000
                lines += "dev,id_participant=\(marker),device=\(marker)d "
                lines += "heart=\(row),note=\"\(marker)n\(round)-\(row)\" \(time)\n"
            }
            lines += "env,id_participant=\(marker) noise=\(round) \(round)\n"
            lines += "dev,id_participant=\(marker) heart=\"\(marker)r\(round)\" 7\n"
            lines += "dev,id_participant=\(marker) heart=\(marker)l\(round) 8\n"
        }
        var parser = LineProtocolParser(options: LineProtocolParser.Options())
        var batch = WriteBatch()
        batch.source = "round \(round)"
        parser.append(Array(lines.utf8).span)
        parser.finish()
        _ = try parser.parse(into: &batch, points: .max)
        _ = try database.write(batch)
    }

    @Test(arguments: [
        "DELETE WHERE id_participant = 'Zq2xWv15838'", "DROP SERIES WHERE id_participant =~ /^Zq2/",
    ])
    func `no byte of a deleted participant stays`(statement: String) throws {
        let markers = (1...3).map { Self.marker($0) }
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(directory.path, options: options)
        // In segments, in a retired log, in a merged segment's inputs, in the log.
        for round in 0..<4 {
            try Self.write(database, round: round)
            if round == 0 { try database.flush() }
            if round == 1 { try database.compact() }
            if round == 2 { try database.flush() }
        }
        #expect(try Self.found(markers, in: directory) == Set(markers))
        let report = try #require(try database.execute(statement).series.first)
        #expect(report.column("rows")?.integers == [200, 4])
        #expect(report.column("values")?.integers == [400, 4])
        #expect(report.column("refusals")?.integers == [8, 0])
        #expect(try Self.found(markers, in: directory) == [markers[0], markers[2]])
        #expect(try Self.stored(markers, in: database) == [markers[0], markers[2]])
        #expect(try database.rowCount() == 2 * (200 + 4))
        var kept = 0
        try database.rejects { entry in
            kept += 1
            #expect(entry.state == .waiting)
            return true
        }
        #expect(kept == 16)
        // Refused again, it is stored again.
        try Self.write(database, round: 3)
        #expect(try database.info().rejects == 18)
        try database.close()
        #expect(try Self.found(markers, in: directory) == Set(markers))
    }

    /// What stays are names of the schema, and lines that only a search of bytes would find.
    @Test(arguments: ["DELETE", "DROP SERIES"])
    func `no value is left in any block, frame or payload`(verb: String) throws {
        let planted = PlantedDatabase(identity: .standard)
        let system = FaultyFileSystem()
        try planted.make(on: system)
        let database = try planted.open(on: system)
        _ = try database.write(try planted.batch(3))
        let name = PlantedDatabase.him
        _ = try database.execute("\(verb) WHERE id_participant = '\(name)'")
        let stored = try StoredBytes(PlantedDatabase.path, on: system)
        let left = stored.places(of: PlantedDatabase.markers)
        let names = ["csv", "source", "participant", "field", "tag", "experiment"]
        #expect(left.allSatisfy { place in names.contains { place.hasPrefix($0 + " in") } })
        #expect(!left.contains { $0.hasSuffix(".seg") || $0.hasSuffix(".wal") })
        #expect(stored.unnamed == [])
        try database.close()
    }

    @Test func `a dropped experiment leaves nothing but its absence`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        for round in 0..<2 { try Self.write(database, round: round) }
        _ = try database.execute("DROP MEASUREMENT dev; DROP MEASUREMENT env")
        #expect(try Self.found((1...3).map { Self.marker($0) } + ["heart"], in: directory).isEmpty)
        #expect(try database.schemas().isEmpty)
        #expect(try database.info().rejects == 0)
        // A new one of the same name has types and identity of its own.
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .allTags)
        try batch.add(
            experiment: "dev", tags: ["a": "b"], time: Timestamp(nanoseconds: 0),
            fields: ["heart": .string("x")])
        #expect(try database.write(batch).values == 1)
        try database.close()
        let again = try Database.open(directory.path)
        #expect(try again.schemas().first?.identity == .allTags)
        try again.close()
    }

    @Test func `single values and rows leave no byte either`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try Self.write(database, round: 0)
        let note = Self.marker(1) + "n0-17"
        let refused = Self.marker(1) + "r0"
        #expect(try Self.found([note, refused], in: directory) == [note, refused])
        _ = try database.execute("DELETE note FROM dev WHERE note = '\(note)'")
        #expect(try Self.found([note, refused], in: directory) == [refused])
        #expect(try Self.stored([note, Self.marker(1) + "n0-18"], in: database).count == 1)
        #expect(
            try database.query("SELECT count(heart), count(note) FROM dev").series[0]
                .columns.map { $0.integers.first } == [0, 150, 149])
        // A refused value has a time and a field, too.
        _ = try database.execute("DELETE heart FROM dev WHERE time < 1ms")
        #expect(try Self.found([note, refused], in: directory).isEmpty)
        try database.close()
    }

    @Test func `readers go on with the files they have open`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try Self.write(database, round: 0)
        try database.flush()
        let reader = try Database.open(directory.path, access: .readOnly)
        let count = "SELECT count(heart) FROM dev"
        let before = (try database.snapshot(), try reader.snapshot())
        _ = try database.execute("DELETE FROM dev WHERE id_participant = '\(Self.marker(1))'")
        #expect(try before.0.query(count).series[0].columns[1].integers == [150])
        #expect(try before.1.query(count).series[0].columns[1].integers == [150])
        #expect(try database.query(count).series[0].columns[1].integers == [100])
        #expect(try reader.query(count).series[0].columns[1].integers == [100])
        try database.close()
    }

    @Test func `a reader beside a deleting writer sees each participant whole or not at all`()
        throws
    {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        for round in 0..<2 { try Self.write(database, round: round) }
        let isDone = Atomic<Bool>(false)
        let failures = Mutex<[String]>([])
        let path = directory.path
        onThreads(3) { thread in
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .relaxed) }
                    for round in 2..<12 {
                        let one = Self.marker(1)
                        _ = try database.execute("DELETE WHERE id_participant = '\(one)'")
                        try Self.write(database, round: round)
                        if round % 3 == 0 { try database.compact() }
                    }
                    return
                }
                let reader = try Database.open(path, access: .readOnly)
                while !isDone.load(ordering: .relaxed) {
                    let one = Self.marker(1)
                    let found = try reader.query(
                        "SELECT count(heart) FROM dev WHERE id_participant = '\(one)'")
                    let count = found.series.first?.columns[1].integers.first ?? 0
                    if ![0, 50, 100].contains(count) {
                        failures.withLock { $0.append("found \(count ?? -1) rows") }
                    }
                    try reader.rejects { _ in true }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try database.close()
    }

    @Test func `writes and deletions of several threads keep each other out`() throws {
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.compactionSegmentCount = 2
        let database = try Database.open(directory.path, options: options)
        let failures = Mutex<[String]>([])
        onThreads(4) { thread in
            do {
                for round in 0..<8 {
                    var batch = WriteBatch()
                    for row in 0..<20 {
                        try batch.add(
                            experiment: "dev", tags: ["id_participant": "p\(thread)"],
                            time: Timestamp(nanoseconds: Int64(round * 20 + row)),
                            fields: ["v": .integer(Int64(row))])
                    }
                    _ = try database.write(batch)
                    if round == 3 { try database.flush() }
                    if round % 4 == 3 {
                        let where_ = "id_participant = 'p\(thread)' AND v >= 10"
                        let done = try database.execute("DELETE FROM dev WHERE \(where_)")
                        let rows = done.series[0].column("rows")?.integers
                        if rows != [40] { failures.withLock { $0.append("\(done)") } }
                    }
                }
            } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try database.rowCount() == 4 * 8 * 10)
        try database.close()
        let again = try Database.open(directory.path)
        #expect(try again.rowCount() == 4 * 8 * 10)
        try again.close()
    }

    @Test func `a cancelled deletion changes nothing`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try Self.write(database, round: 0)
        try database.flush()
        let before = directory.files.filter { $0.key.hasSuffix(".seg") }
        for limit in 0..<12 {
            let asked = Atomic<Int>(0)
            var options = QueryOptions(now: Timestamp(nanoseconds: 0))
            options.isCancelled = {
                asked.add(1, ordering: .relaxed).oldValue >= limit
            }
            do {
                _ = try database.execute("DELETE FROM dev WHERE heart > 10", options: options)
                #expect(limit > 4, "it asked \(limit) times only")
                break
            } catch {
                #expect(error.kind == .cancelled)
                #expect(directory.files.filter { $0.key.hasSuffix(".seg") } == before)
                #expect(try database.rowCount() == 153)
            }
        }
        try database.close()
    }

    @Test func `nothing is deleted where reading is all that is allowed`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try Self.write(database, round: 0)
        let reader = try Database.open(directory.path, access: .readOnly)
        for text in ["DELETE FROM dev", "DROP SERIES FROM dev", "DROP MEASUREMENT dev"] {
            #expect(throws: DatabaseError.self) { try reader.execute(text) }
            for text in [text, "SELECT heart FROM dev; " + text] {
                let queries: [() throws -> Void] = [
                    { _ = try reader.query(text) }, { _ = try database.query(text) },
                    { _ = try database.snapshot().query(text) },
                    {
                        let cursor = try database.cursor(text)
                        while try cursor.next() != nil {}
                    },
                ]
                for query in queries {
                    let error = #expect(throws: DatabaseError.self) { try query() }
                    #expect(error?.message.contains("run it with Database.execute") == true)
                }
            }
            #expect(Database.changesData(text))
            var options = QueryOptions(now: Timestamp(nanoseconds: 0))
            options.isDryRun = true
            #expect(!Database.changesData(text, options: options))
            #expect(try reader.query(text, options: options).series[0].rowCount > 0)
            #expect(try database.snapshot().query(text, options: options).series[0].rowCount > 0)
        }
        #expect(try database.rowCount() == 153)
        try database.close()
    }

    @Test func `the typed calls do what the statements do`() async throws {
        let directory = TemporaryDirectory()
        let database = try await Database.open(directory.path)
        try Self.write(database, round: 0)
        let one = Self.marker(1)
        let fields = try await database.delete(
            experiment: "dev", tags: ["device": one + "d"],
            in: TimeRange(lower: 10_000_000, upper: 20_000_000), fields: ["note"])
        #expect(fields.rows == 0 && fields.values == 10 && fields.experiments.count == 1)
        let rows = try await database.delete(tags: ["id_participant": one])
        #expect(rows.rows == 51 && rows.values == 91 && rows.refusals == 2)
        #expect(rows.experiments.map(\.name) == ["dev", "env"])
        #expect(rows.experiments.map(\.series) == [1, 1])
        #expect(try Self.found([one], in: directory).isEmpty)
        let dropped = try await database.drop(experiment: "env")
        #expect(dropped.rows == 2 && dropped.values == 2 && dropped.refusals == 0)
        #expect(try await database.schemas().map(\.name) == ["dev"])
        for attempt in [
            { _ = try database.delete() }, { _ = try database.delete(experiment: "none") },
            { _ = try database.delete(tags: ["id_participnt": "x"]) },
            { _ = try database.delete(experiment: "dev", fields: ["device"]) },
            { _ = try database.drop(experiment: "none") },
        ] as [() throws -> Void] {
            #expect(throws: DatabaseError.self, performing: attempt)
        }
        #expect(try database.rowCount() == 100)
        try await database.close()
    }

    /// Refusals left after a statement, of a database in which every tag is identity.
    @Test(arguments: [
        // Host c has nothing but refusals.
        ("DELETE WHERE host = 'c'", 4), ("DELETE FROM m WHERE host != 'a'", 2),
        ("DELETE FROM m WHERE host = 'a' AND time < 15", 5), ("DELETE v FROM m", 3),
        ("DELETE FROM m WHERE w > 0", 6), ("DELETE FROM m WHERE host = 'a' OR w > 0", 4),
        ("DELETE w FROM m WHERE host = 'a'", 6), ("DROP MEASUREMENT m", 0),
    ])
    func `refusals go where tags, time and field tell that they are meant`(
        statement: String, left: Int
    ) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        var parser = LineProtocolParser(options: LineProtocolParser.Options())
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .allTags)
        let lines = """
            m,host=a v=1,w=1 10
            m,host=b v=2,w=1 20
            m,host=a v="a" 10
            m,host=b v="b" 20
            m,host=c v="c" 30
            m,host=a v=1x
            m,host=b v=1x
            m,host=c v=1x
            """
        parser.append(Array(lines.utf8).span)
        parser.finish()
        _ = try parser.parse(into: &batch, points: .max)
        _ = try database.write(batch)
        #expect(try database.info().rejects == 6)
        _ = try database.execute(statement)
        #expect(try database.info().rejects == left)
        try database.close()
        let again = try Database.open(directory.path)
        #expect(try again.info().rejects == left)
        try again.close()
    }
}
