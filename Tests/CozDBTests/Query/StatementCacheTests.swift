// A statement that is asked again is not planned again, and its answer is that of now all the same.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct StatementCacheTests {
    private static func write(_ times: Range<Int>, to path: String) throws {
        let database = try Database.open(path)
        var batch = WriteBatch()
        for second in times {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(second % 2)"],
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000),
                fields: ["x": .integer(Int64(second))])
        }
        _ = try database.write(batch)
        try database.close()
    }

    private static func rows(
        _ text: String, _ database: Database, now: Int64 = 0,
        _ change: (inout QueryOptions) -> Void = { _ in }
    ) throws -> [[Int64?]] {
        var options = QueryOptions(now: Timestamp(nanoseconds: now * 1_000_000_000))
        change(&options)
        let series = try database.query(text, options: options).series
        return series.flatMap { series in
            (0..<series.columns[0].count).map { row in
                series.columns.map { $0.integers[row] }
            }
        }
    }

    @Test func `a writer's snapshot is the same until something changes`() throws {
        let directory = TemporaryDirectory()
        try Self.write(0..<10, to: directory.path)
        let database = try Database.open(directory.path)
        let text = "SELECT count(x) FROM m"
        var last = try database.takeSnapshot()
        func changes(_ what: String, rows: Int, _ change: () throws -> Void) throws {
            #expect(try database.takeSnapshot() === last, "before \(what)")
            try change()
            #expect(try database.takeSnapshot() !== last, "after \(what)")
            #expect(try Self.rows(text, database).map { $0[1] } == [Int64(rows)], "\(what)")
            last = try database.takeSnapshot()
        }
        func add(_ second: Int64) throws {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p0"],
                time: Timestamp(nanoseconds: second * 1_000_000_000),
                fields: ["x": .integer(second)])
            _ = try database.write(batch)
        }
        try changes("a commit", rows: 11) { try add(10) }
        try changes("a flush", rows: 11) { try database.flush() }
        try changes("a merge", rows: 11) { try database.compact() }
        try changes("a deletion", rows: 10) {
            try database.delete(
                experiment: "m", in: TimeRange(lower: 10_000_000_000, upper: .max))
        }
        try database.close()
        #expect(throws: DatabaseError.self) { try database.takeSnapshot() }
    }

    @Test func `a reader's snapshot keeps what was planned until data changes`() throws {
        let directory = TemporaryDirectory()
        try Self.write(0..<10, to: directory.path)
        let database = try Database.open(directory.path, access: .readOnly)
        let text = "SELECT count(x) FROM m"
        #expect(try Self.rows(text, database).map { $0[1] } == [10])
        let snapshot = try database.takeSnapshot()
        let options = QueryOptions(now: Timestamp(nanoseconds: 0)).resolved(limits: QueryLimits())
        let prepared = try #require(StatementCache.of(snapshot).known(text, options))
        #expect(prepared.plan(0) != nil)
        #expect(StatementCache.of(snapshot).known(text, options) === prepared)
        try Self.write(10..<15, to: directory.path)
        #expect(try database.takeSnapshot() !== snapshot)
        #expect(try Self.rows(text, database).map { $0[1] } == [15])
    }

    @Test func `what depends on the clock is planned again`() throws {
        let directory = TemporaryDirectory()
        try Self.write(0..<10, to: directory.path)
        let database = try Database.open(directory.path, access: .readOnly)
        for _ in 0..<2 {
            for now in [5, 8] as [Int64] {
                let recent = "SELECT count(x) FROM m WHERE time >= NOW() - 3s AND time < now()"
                #expect(
                    try Self.rows(recent, database, now: now) == [[(now - 3) * 1_000_000_000, 3]])
                let buckets = "SELECT count(x) AS c FROM m WHERE time >= 4s GROUP BY time(1s)"
                #expect(try Self.rows(buckets, database, now: now).count == Int(now) - 3)
                let inner = "SELECT count(c) FROM (\(buckets))"
                #expect(try Self.rows(inner, database, now: now).map { $0[1] } == [now - 3])
                let age = "SELECT age(x, 1s) FROM m WHERE time < 4s"
                #expect(try Self.rows(age, database, now: now).map { $0[1] } == [now - 3])
            }
        }
    }

    @Test func `parameters and InfluxDB's rules are part of the question`() throws {
        let directory = TemporaryDirectory()
        try Self.write(0..<10, to: directory.path)
        let database = try Database.open(directory.path, access: .readOnly)
        for least in [3, 7] as [Int64] {
            let found = try Self.rows("SELECT count(x) FROM m WHERE x >= $least", database) {
                $0.parameters = ["least": .value(.integer(least))]
            }
            #expect(found.map { $0[1] } == [10 - least])
        }
        let unknown = "SELECT count(nothing) FROM m"
        for _ in 0..<2 {
            #expect(try Self.rows(unknown, database) { $0.influxCompatible = true } == [])
            #expect(throws: DatabaseError.self) { try Self.rows(unknown, database) }
        }
    }

    @Test func `more texts than are kept are answered all the same`() throws {
        let directory = TemporaryDirectory()
        try Self.write(0..<40, to: directory.path)
        let database = try Database.open(directory.path, access: .readOnly)
        for _ in 0..<2 {
            for least in 0..<40 as Range<Int64> {
                let text = "SELECT count(x) FROM m WHERE x >= \(least)"
                #expect(try Self.rows(text, database).map { $0[1] } == [40 - least])
            }
        }
    }
}
