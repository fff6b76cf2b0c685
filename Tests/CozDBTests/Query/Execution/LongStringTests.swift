// Memory does not grow with the length of strings: a batch has fewer rows if they are long.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct LongStringTests {
    private static let stringSizeBytes = 256 << 10
    private static let rowCount = 200

    private static func text(_ time: Int) -> String {
        "\(time)" + String(repeating: "abcdefgh", count: stringSizeBytes / 8)
    }

    /// Rows of one or two participants in one or two segments that overlap.
    private func database(participantCount: Int, segmentCount: Int) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        for segment in 0..<segmentCount {
            for time in stride(from: segment, to: Self.rowCount, by: segmentCount) {
                var batch = WriteBatch()
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(time % participantCount)"],
                    time: Timestamp(nanoseconds: Int64(time)),
                    fields: ["s": .string(Self.text(time)), "k": .integer(Int64(time))])
                _ = try database.write(batch)
            }
            try database.flush()
        }
        return database
    }

    @Test(
        arguments: [(1, 1), (1, 2), (2, 1), (2, 2)],
        [
            "SELECT s, k FROM m", "SELECT s, k FROM m ORDER BY time DESC",
            "SELECT s, k FROM m WHERE k >= 0", "SELECT s, k FROM m WHERE s =~ /abc/ AND k >= 0",
        ])
    func `a batch has a few megabytes`(
        _ shape: (participantCount: Int, segmentCount: Int), _ statement: String
    ) throws {
        let database = try database(
            participantCount: shape.participantCount, segmentCount: shape.segmentCount)
        let cursor = try database.cursor(statement)
        var times: [Int64] = []
        while let batch = try cursor.next() {
            var sizeBytes = 0
            for (row, text) in try #require(batch.column("s")).texts.enumerated() {
                let time = Int(batch.times[row].nanoseconds)
                #expect(text == Self.text(time))
                sizeBytes += text?.utf8.count ?? 0
                times.append(Int64(time))
            }
            #expect(sizeBytes <= 10 << 20, "\(sizeBytes) bytes in a batch of \(batch.times.count)")
        }
        let expected = Array(0..<Int64(Self.rowCount))
        #expect(times == (statement.contains("DESC") ? expected.reversed() : expected))
    }

    /// The same rows in one compacted segment.
    private func compacted(rowCount: Int, sizeBytes: Int) throws -> Database {
        var options = DatabaseOptions()
        options.stringSizeBytesMax = 16 << 20
        options.batchSizeBytesMax = 64 << 20
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        for row in 0..<rowCount {
            var batch = WriteBatch()
            let text = "\(row)" + String(repeating: "x", count: sizeBytes)
            try batch.add(
                experiment: "m", tags: ["id_participant": "p", "att": "a\(row % 3)"],
                time: Timestamp(nanoseconds: Int64(row)),
                fields: ["s": .string(text), "i": .integer(1)])
            _ = try database.write(batch)
        }
        try database.flush()
        try database.compact()
        return database
    }

    @Test func `aggregates count each row once where strings are many megabytes`() throws {
        let database = try compacted(rowCount: 1000, sizeBytes: 30_000)
        for (condition, expected) in [
            ("s != 'x'", 1000), ("i = 1", 1000), ("s =~ /^1/", 111), ("att = 'a1'", 333),
            ("i = 1 AND s !~ /^1/", 889),
        ] {
            let answer = try database.query(
                "SELECT count(s), sum(i), count(i) FROM m WHERE \(condition)")
            let counts = try #require(answer.series.first).columns.dropFirst().map { $0.value(0) }
            #expect(
                counts == Array(repeating: .integer(Int64(expected)), count: 3),
                "\(condition): \(counts)")
            let buckets = try database.query(
                "SELECT count(s) FROM m WHERE \(condition) AND time >= 0 AND time < 1000 "
                    + "GROUP BY time(100ns)")
            let series = try #require(buckets.series.first)
            #expect(series.times.map(\.nanoseconds) == (0..<10).map { $0 * 100 })
            let rows = try database.query("SELECT s FROM m WHERE \(condition) LIMIT 700 OFFSET 90")
            #expect(rows.series.first?.rowCount == min(700, expected - 90))
        }
    }

    @Test(arguments: ["SELECT s FROM m", "SELECT s FROM m WHERE i = 1"])
    func `strings that exceed the size of a batch come one by one`(statement: String) throws {
        let database = try compacted(rowCount: 6, sizeBytes: 9 << 20)
        let cursor = try database.cursor(statement)
        var count = 0
        while let batch = try cursor.next() {
            #expect(batch.times.count == 1)
            count += batch.times.count
        }
        #expect(count == 6)
    }

    @Test func `rows before a damaged block of strings are answered`() throws {
        let system = FaultyFileSystem()
        var database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: system)
        for row in 0..<100 {
            var batch = WriteBatch()
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)),
                fields: ["s": .string(Self.text(row)), "i": .integer(1)])
            _ = try database.write(batch)
        }
        try database.flush()
        try database.compact()
        try database.close()
        let name = try #require(system.files.first { $0.hasSuffix(".seg") })
        system[name][system[name].count / 2] ^= 1
        database = try Database.open(
            "db", access: .readOnly, options: DatabaseOptions(), on: system)
        for condition in ["", "WHERE i = 1"] {
            let answer = try database.query("SELECT s FROM m \(condition) LIMIT 1")
            #expect(answer.series.first?.columns[1].texts == [Self.text(0)], "\(condition)")
            #expect(throws: DatabaseError.self) {
                try database.query("SELECT s FROM m \(condition)")
            }
        }
    }

    @Test func `a selector keeps only the strings that it returns`() throws {
        let database = try database(participantCount: 1, segmentCount: 2)
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.memorySizeBytesMax = 4 << 20
        let answer = try database.query(
            "SELECT first(s), last(s) FROM m GROUP BY time(100ns) fill(none)",
            options: options)
        let series = try #require(answer.series.first)
        #expect(series.columns[1].texts == [Self.text(0), Self.text(100)])
        #expect(series.columns[2].texts == [Self.text(99), Self.text(199)])
    }
}
