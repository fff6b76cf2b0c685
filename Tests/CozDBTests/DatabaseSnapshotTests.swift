// Snapshots, cursors and the calls for tasks.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(2))) struct DatabaseSnapshotTests {
    private let directory = TemporaryDirectory()
    private let database: Database
    private static let rowCount = 50_000

    init() throws {
        database = try Database.open(directory.path)
        var batch = WriteBatch()
        for row in 0..<Self.rowCount {
            try batch.add(
                experiment: "m", tags: ["id_participant": "a"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                fields: ["v": .integer(Int64(row))])
        }
        _ = try database.write(batch)
    }

    private func add(_ row: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "a"],
            time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
            fields: ["v": .integer(Int64(row))])
        return batch
    }

    private static func count(_ result: QueryResult) -> Int64? {
        result.series.first?.column("count")?.integers.first ?? nil
    }

    @Test func `all queries on a snapshot see one moment, after closing too`() throws {
        let snapshot = try database.snapshot()
        _ = try database.write(add(Self.rowCount))
        try database.compact()
        try database.close()
        let counted = try Self.count(snapshot.query("SELECT count(v) FROM m"))
        #expect(counted == Int64(Self.rowCount))
        #expect(snapshot.sequence == 1)
        #expect(snapshot.schemas.map(\.name) == ["m"])
        let refused = #expect(throws: DatabaseError.self) {
            try snapshot.query("ALTER EXPERIMENT m FIELD v TYPE float")
        }
        #expect(refused?.kind == .usage)
    }

    @Test func `a cursor gives every row once, in order`() throws {
        let cursor = try database.cursor("SELECT v FROM m; SELECT count(v) FROM m")
        var next: Int64 = 0
        var last: QueryBatch?
        while let batch = try cursor.next() {
            if batch.statement == 0 {
                for value in batch.column("v")?.integers ?? [] {
                    #expect(value == next)
                    next += 1
                }
            }
            last = batch
        }
        #expect(next == Int64(Self.rowCount))
        #expect(last?.statement == 1)
        #expect(cursor.counters?.rowsReturned == Self.rowCount + 1)
        #expect(try cursor.next() == nil)
    }

    /// Statements and the names of their columns.
    private static let columns = [
        ("SELECT v, v * 2 AS w FROM m", ["time", "v", "w"]),
        ("SELECT v, v * 2 AS w FROM m WHERE v < 0", ["time", "v", "w"]),
        ("SELECT mean(v) FROM m WHERE v < 0 GROUP BY id_participant", ["time", "mean"]),
        ("SELECT max(x) FROM (SELECT v AS x FROM m WHERE v < 0)", ["time", "max"]),
        ("SHOW MEASUREMENTS", ["name"]), ("SHOW TAG VALUES WITH KEY = k", []),
        ("SHOW TAG VALUES WITH KEY = k; SELECT v FROM m", []),
        ("EXPLAIN SELECT v FROM m", ["QUERY PLAN"]),
    ]

    @Test(arguments: columns)
    func `columns are known before the first batch, of an empty answer too`(
        text: String, names: [String]
    ) throws {
        let cursor = try database.cursor(text)
        let columns = try cursor.columns()
        #expect(columns.map(\.name) == names)
        let result = try database.query(text)
        #expect(result.columns == columns)
        #expect(result.series.allSatisfy { $0.header.columns == columns })
        while let batch = try cursor.next() {
            #expect(batch.statement > 0 || batch.series.columns == columns)
        }
        #expect(try cursor.columns() == columns, "known after the end")
    }

    @Test(arguments: columns)
    func `a task that waits for columns gets them`(text: String, names: [String]) async throws {
        let cursor = try await database.cursor(text)
        #expect(try await cursor.columns().map(\.name) == names)
    }

    private func bytes(_ texts: [String?]) -> [[UInt8]?] { texts.map { $0.map { Array($0.utf8) } } }

    @Test func `string columns come as values and as a dictionary`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        var expected: [String?] = []
        let memory = try Database.inMemory()
        for part in 0..<3 {
            var batch = WriteBatch()
            for row in 0..<2000 {
                // A few words, unique texts, times, and texts equal but for normalization.
                let number = Int.random(in: 0..<2000, using: &random)
                let texts: [String?] = [
                    nil, "", "a", "\u{E9}", "e\u{301}", "text \(number)",
                    "2024-03-01T08:00:00Z", "2024-03-01T08:00:0\(number % 10)Z",
                ]
                let text = texts.randomElement(using: &random)!
                var fields: [String: FieldValue] = ["v": .integer(1)]
                if let text { fields["s"] = .string(text) }
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: Int64(part * 2000 + row)), fields: fields)
                expected.append(text)
            }
            _ = try memory.write(batch)
            if part == 1 { try memory.flush() }
        }
        for limit in ["", " LIMIT 100", " LIMIT 10 OFFSET 5990"] {
            let rows = try memory.query("SELECT v, s FROM m" + limit).series[0]
            let column = try #require(rows.column("s"))
            let first = Int(rows.times[0].nanoseconds)
            let wanted = bytes(Array(expected[first..<(first + rows.rowCount)]))
            #expect(bytes(column.texts) == wanted, "seed \(seed)")
            let dictionary = try #require(column.dictionary)
            let decoded = dictionary.codes.map { $0 < 0 ? nil : dictionary.texts[Int($0)] }
            #expect(bytes(decoded) == wanted, "seed \(seed)")
            #expect(Set(dictionary.texts.map { Array($0.utf8) }).count == dictionary.texts.count)
            #expect(rows.column("v")?.dictionary == nil)
        }
    }

    @Test func `a query that fails has no columns`() throws {
        let broken = try database.cursor("SELECT FROM")
        for _ in 0..<2 {
            let error = #expect(throws: DatabaseError.self) { try broken.columns() }
            #expect(error?.kind == .usage)
        }
        #expect(throws: DatabaseError.self) { try broken.next() }
        #expect(throws: DatabaseError.self) { try broken.columns() }
        let cancelled = try database.cursor("SELECT v FROM m")
        cancelled.cancel()
        if let columns = try? cancelled.columns() { #expect(columns.count == 2) }
    }

    @Test func `a cursor computes two batches ahead, and stops when it is dropped`() async throws {
        let watch = Watch()
        var options = QueryOptions(now: Timestamp(nanoseconds: Int64.max / 2))
        options.isCancelled = { watch.ask() }
        var cursor: QueryCursor? = try await database.cursor(
            "SELECT v FROM m", options: options)
        _ = try await cursor?.next()
        try await Task.sleep(for: .milliseconds(200))
        let waiting = watch.count
        try await Task.sleep(for: .milliseconds(100))
        #expect(watch.count == waiting, "the query waits for its batches to be taken")
        cursor = nil
        let whole = Watch()
        options.isCancelled = { whole.ask() }
        _ = try await database.query("SELECT v FROM m", options: options)
        #expect(waiting * 3 < whole.count * 2)
    }

    /// Which threads asked whether to go on, and which of them are there.
    private final class ThreadWatch: Sendable {
        private let numbers = Mutex<Set<String>>([])

        func ask() -> Bool {
            let own = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/thread-self")
            numbers.withLock { _ = $0.insert(own ?? "no thread") }
            return false
        }

        var seen: Int { numbers.withLock { $0.count } }
        var alive: Int {
            let all = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
            let tasks = Set(all ?? [])
            return numbers.withLock { numbers in
                numbers.count { tasks.contains(String($0.split(separator: "/").last ?? "")) }
            }
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["SELECT v FROM m", "SELECT v FROM m LIMIT 9"])
    func `a cursor has a thread only while it computes`(_ statement: String) async throws {
        try await database.flush()
        let watch = ThreadWatch()
        var options = QueryOptions(now: Timestamp(nanoseconds: Int64.max / 2))
        options.isCancelled = { watch.ask() }
        let expected = try await database.query(statement, options: options)
        var cursors: [QueryCursor] = []
        var mostAlive = 0
        for number in 0..<200 {
            cursors.append(try await database.cursor(statement, options: options))
            if number % 20 == 19 { mostAlive = max(mostAlive, watch.alive) }
        }
        for cursor in cursors { _ = try await cursor.columns() }
        while watch.alive > 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(mostAlive < 100, "200 cursors, \(mostAlive) threads")
        for cursor in cursors {
            var values: [Int64?] = []
            for try await batch in cursor { values += batch.column("v")?.integers ?? [] }
            #expect(values == expected.series[0].column("v")?.integers)
        }
    }

    @Test func `a cancelled cursor says so, and a broken text too`() throws {
        let cursor = try database.cursor("SELECT v FROM m")
        #expect(try cursor.next() != nil)
        cursor.cancel()
        let error = #expect(throws: DatabaseError.self) { try cursor.next() }
        #expect(error?.kind == .cancelled)
        #expect(cursor.counters == nil)

        let broken = try database.cursor("SELECT FROM")
        let refused = #expect(throws: DatabaseError.self) { try broken.next() }
        #expect(refused?.kind == .usage)
    }

    @Test func `tasks write, ask and close`() async throws {
        let other = TemporaryDirectory()
        let study = try await Database.open(other.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for row in 0..<300 {
                let batch = try add(row)
                group.addTask { _ = try await study.write(batch) }
            }
            try await group.waitForAll()
        }
        let all = try await study.query("SELECT count(v) FROM m")
        #expect(Self.count(all) == 300)
        try await study.flush()
        try await study.compact()
        let snapshot = try await study.snapshot()
        try await study.close()
        let later = try await snapshot.query("SELECT count(v) FROM m")
        #expect(Self.count(later) == 300)
    }

    @Test func `batches come as a sequence`() async throws {
        var sum: Int64 = 0
        for try await batch in try await database.cursor("SELECT v FROM m") {
            sum += (batch.column("v")?.integers ?? []).compactMap(\.self).reduce(0, +)
        }
        let count = Int64(Self.rowCount)
        #expect(sum == count * (count - 1) / 2)
    }

    @Test func `a cancelled task stops its query`() async throws {
        let database = database
        let query = Task {
            while true { _ = try await database.query("SELECT v, v * 2 FROM m") }
        }
        try await Task.sleep(for: .milliseconds(20))
        query.cancel()
        let result = await query.result
        let error = #expect(throws: DatabaseError.self) { try result.get() }
        #expect(error?.kind == .cancelled)

        let cursor = try await database.cursor("SELECT v FROM m")
        let walk = Task {
            for try await _ in cursor { try? await Task.sleep(for: .seconds(60)) }
        }
        try await Task.sleep(for: .milliseconds(20))
        walk.cancel()
        let ended = await #expect(throws: DatabaseError.self) { try await walk.value }
        #expect(ended?.kind == .cancelled)
    }
}

/// Counts how often a query asks whether to stop.
private final class Watch: Sendable {
    private let asked = Atomic<Int>(0)

    var count: Int { asked.load(ordering: .relaxed) }

    func ask() -> Bool {
        asked.add(1, ordering: .relaxed)
        return false
    }
}
