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

    private struct Row {
        var tags: [(String, String)]
        var time: Int64
        var fields: [(String, FieldValue)]
    }

    /// Rows of one or two series, some of whose fields are strings; `long` makes them large enough
    /// that they cut batches, or chunks of merges.
    private func same(_ rows: [Row], flushes: Int, long: Bool) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.batchSizeBytesMax = 64 << 20
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        for (index, row) in rows.enumerated() {
            var batch = WriteBatch()
            var fields: [String: FieldValue] = [:]
            for (name, value) in row.fields {
                fields[name] = value
                if long, case .string(let text) = value {
                    let filler = String(repeating: "abcdefgh", count: 60_000)
                    fields[name] = .string(text + "\(index)" + filler)
                }
            }
            try batch.add(
                experiment: "m", tags: Dictionary(row.tags, uniquingKeysWith: { $1 }),
                time: Timestamp(nanoseconds: row.time), fields: fields)
            _ = try database.write(batch)
            if (index + 1).isMultiple(of: max(1, rows.count / flushes)) { try database.flush() }
        }
        try database.flush()
        if flushes == 1 { try database.compact() }
        return database
    }

    private func statement(_ random: inout SeededRandom) throws -> String {
        let conditions = [
            "s =~ /^a/", "s =~ /^[bc]/", "s !~ /^a/", "t =~ /^b/", "i > 3", "i <= 6", "k = true",
            "att = 'x'", "id_participant = 'p'", "(s =~ /^b/ OR i > 5)", "(t =~ /^c/ OR k = true)",
        ]
        let calls = [
            "count(s)", "count(i), sum(i)", "count(t), mean(i)", "sum(i), count(k), count(s)",
            "max(i), count(*)", "first(i), last(i)", "count(distinct(i))", "first(s)", "last(s), i",
        ]
        let columns = ["i", "i, k", "k, s", "s, t", "i, t", "*"]
        var parts = ["time >= 0 AND time < \(Int.random(in: 1...101, using: &random))"]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            parts.append(try #require(conditions.randomElement(using: &random)))
        }
        let isRaw = Bool.random(using: &random)
        let selected = try #require((isRaw ? columns : calls).randomElement(using: &random))
        let ends = [
            isRaw ? "" : "GROUP BY time(15ns)", isRaw ? "LIMIT 9 OFFSET 11" : "GROUP BY att",
            "GROUP BY id_participant", isRaw ? "ORDER BY time DESC" : "",
        ]
        let end = try #require(ends.randomElement(using: &random))
        return "SELECT \(selected) FROM m WHERE \(parts.joined(separator: " AND ")) \(end)"
    }

    /// The cells of an answer, with the first letter of each string.
    private func cells(_ answer: QueryResult) -> [String] {
        answer.series.flatMap { series in
            (0..<series.rowCount).map { row in
                series.columns.map { column in
                    switch column.value(row) {
                    case .string(let text)?: String(text.prefix(1))
                    case let value?: "\(value)"
                    case nil: "-"
                    }
                }.joined(separator: " ")
            }
        }
    }

    @Test(arguments: [1, 3, 7], 1...4 as ClosedRange<UInt64>)
    func `large strings change no answer`(flushes: Int, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rows = (0..<90).map { _ in
            let letters = ["a", "b", "c"]
            var fields: [(String, FieldValue)] = []
            if Int.random(in: 0..<3, using: &random) > 0 {
                fields.append(("s", .string(letters.randomElement(using: &random)!)))
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                fields.append(("t", .string(letters.randomElement(using: &random)!)))
            }
            fields.append(("i", .integer(.random(in: 0..<9, using: &random))))
            if Bool.random(using: &random) { fields.append(("k", .boolean(true))) }
            return Row(
                tags: [
                    ("id_participant", Int.random(in: 0..<9, using: &random) == 0 ? "q" : "p"),
                    ("att", Bool.random(using: &random) ? "x" : "y"),
                ], time: .random(in: 0..<100, using: &random), fields: fields)
        }
        let short = try same(rows, flushes: flushes, long: false)
        let long = try same(rows, flushes: flushes, long: true)
        for _ in 0..<60 {
            let text = try statement(&random)
            let (expected, found) = (try short.query(text), try long.query(text))
            #expect(expected.statements.first?.error == nil, "\(text)")
            #expect(cells(found) == cells(expected), "seed \(seed), \(flushes) flushes: \(text)")
        }
    }
}
