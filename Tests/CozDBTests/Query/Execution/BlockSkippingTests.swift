// Blocks that need not be read: those that a condition rules out, and all but the ends where first
// and last values are asked for. Counters tell what was read, and other ways what is right.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct BlockSkippingTests {
    private static let second: Int64 = 1_000_000_000
    private let directory = TemporaryDirectory()
    private let database: Database
    private let options = QueryOptions(now: Timestamp(nanoseconds: 1_000_000 * second))

    init() throws {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        database = try Database.open(directory.path, options: options)
    }

    private func write(
        _ rows: some Sequence<Int>, device: String = "d",
        _ fields: (Int) -> [String: FieldValue]
    ) throws {
        var batch = WriteBatch()
        for row in rows {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(row % 2)", "device": device],
                time: Timestamp(nanoseconds: Int64(row) * Self.second), fields: fields(row))
        }
        _ = try database.write(batch)
    }

    private func answer(_ text: String) throws -> QueryResult {
        try database.query(text, options: options)
    }

    // MARK: Conditions

    @Test func `blocks without a value that WHERE asks for are skipped`() throws {
        try write(0..<20_000) {
            ["v": .integer(Int64($0)), "w": .float(Double($0) / 2), "s": .string("s\($0 % 7)")]
        }
        try database.flush()
        for condition in ["v >= 19000", "19000 <= v", "w >= 9500", "w > 9499.6", "v > 18999.5"] {
            let raw = try answer("SELECT v, w, s FROM m WHERE \(condition)")
            #expect(raw.series[0].rowCount == 1000, "\(condition)")
            // Of 20 blocks of each column those of the last 1000 rows.
            #expect(raw.counters.blocksRead <= 6, "\(condition): \(raw.counters)")
            #expect(raw.counters.blocksSkipped >= 3 * 16, "\(condition): \(raw.counters)")
            let count = try answer("SELECT count(s) FROM m WHERE \(condition)")
            #expect(count.series[0].column("count")?.integers == [1000], "\(condition)")
            #expect(count.counters.blocksRead <= 6, "\(condition): \(count.counters)")
        }
        let one = try answer("SELECT s FROM m WHERE v = 12345 AND w < 10000")
        #expect(one.series[0].rowCount == 1)
        // Three columns of the two series.
        #expect(one.counters.blocksRead <= 6)
        let none = try answer("SELECT s FROM m WHERE v = 5 AND v = 15000")
        #expect(none.series.isEmpty)
        #expect(none.counters.blocksRead == 0)
    }

    @Test func `what only some rows must fulfil rules no block out`() throws {
        try write(0..<4000) { ["v": .integer(Int64($0))] }
        try database.flush()
        for condition in ["v > 3000 OR v < 1050", "v != 5", "NOT_THERE = 1 OR v > 10"] {
            var lenient = options
            lenient.influxCompatible = true
            let result = try database.query("SELECT v FROM m WHERE \(condition)", options: lenient)
            #expect(result.counters.blocksSkipped == 0, "\(condition)")
        }
    }

    @Test func `a column with few values spares the blocks of its neighbors`() throws {
        try write(0..<20_000) { row in
            row / 2 == 5_000
                ? ["v": .integer(1), "rare": .integer(7)] : ["v": .integer(Int64(row))]
        }
        try database.flush()
        let result = try answer("SELECT rare FROM m WHERE v = 1")
        #expect(result.series[0].rowCount == 2)
        #expect(result.counters.blocksRead <= 6)
    }

    @Test func `a newer value that WHERE refuses hides an older one that it takes`() throws {
        try write(0..<10_000) { ["v": .integer(Int64($0)), "w": .integer(1)] }
        try database.flush()
        // Old blocks that fit get values that do not, and the other way round.
        try write(8000..<9000) { _ in ["v": .integer(0)] }
        try database.flush()
        try write(1000..<1010) { _ in ["v": .integer(9500)] }
        let expected = 1000 + 10
        for isFlushed in [false, true] {
            if isFlushed { try database.flush() }
            let result = try answer("SELECT v, w FROM m WHERE v >= 8000")
            #expect(result.series[0].rowCount == expected, "flushed \(isFlushed)")
            #expect(result.series[0].column("w")?.integers.allSatisfy { $0 == 1 } == true)
            #expect(result.counters.blocksSkipped > 0)
        }
    }

    @Test func `conditions answer the same with and without statistics`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for start in [0, 5500, 5000, 2100] {
            let rows = Array(stride(from: start, to: start + 6000, by: start % 1000 == 0 ? 1 : 7))
            var values: [Int: [String: FieldValue]] = [:]
            for row in rows {
                let base = Int64(row / 500 * 100) + Int64.random(in: 0..<50, using: &random)
                var fields: [String: FieldValue] = ["i": .integer(base)]
                if Bool.random(using: &random) { fields["f"] = .float(Double(base) / 4) }
                if row % 97 == 0 { fields["x"] = .float(.nan) }
                values[row] = fields
            }
            try write(rows) { values[$0] ?? [:] }
            if start != 2100 { try database.flush() }
        }
        var skipped = 0
        for _ in 0..<40 {
            let symbol = ["=", "<", "<=", ">", ">=", "!="].randomElement(using: &random) ?? "="
            let field = ["i", "f", "x"].randomElement(using: &random) ?? "i"
            let number = Double(Int.random(in: -100...9000, using: &random)) / 4
            let condition = "\(field) \(symbol) \(number)"
            // The same, in a form that storage knows nothing of.
            let plain = "\(field) + 0 \(symbol) \(number)"
            for (head, tail) in [
                ("count(i), sum(f), count(x)", ""), ("count(i), last(f)", " AND i > 200"),
                ("*", " ORDER BY time DESC LIMIT 5"),
            ] {
                let fast = try answer("SELECT \(head) FROM m WHERE \(condition)\(tail)")
                let slow = try answer("SELECT \(head) FROM m WHERE \(plain)\(tail)")
                #expect(fast.description == slow.description, "seed \(seed): \(condition)\(tail)")
                skipped += fast.counters.blocksSkipped
            }
        }
        #expect(skipped > 0)
    }

    // MARK: Ends

    /// Blocks decoded by a statement that asks 4 columns of 2 series.
    private func blocks(_ text: String, rows: Int) throws -> Int {
        let result = try answer(text)
        let times = result.series.map { $0.column("last_v")?.integers.last ?? nil }
        #expect(times == [Int64(rows - 2), Int64(rows - 1)], "\(text)")
        #expect(result.counters.rowsRead <= 2 * 4 * 2, "\(text): \(result.counters)")
        return result.counters.blocksRead
    }

    @Test func `last values cost the same however long a series is`() throws {
        func fields(_ row: Int) -> [String: FieldValue] {
            [
                "v": .integer(Int64(row)), "w": .float(1), "s": .string("s\(row)"),
                "b": .boolean(row % 3 == 0),
            ]
        }
        let statement = "SELECT last(*) FROM m GROUP BY id_participant"
        try write(0..<4000, fields)
        try database.flush()
        #expect(try blocks(statement, rows: 4000) == 8)
        try write(4000..<20_000, fields)
        try database.flush()
        #expect(try blocks(statement, rows: 20_000) == 8)
        // Late values reach over all of it: each source gives one block more.
        try write(stride(from: 1, to: 19_000, by: 501)) { fields($0) }
        try database.flush()
        #expect(try blocks(statement, rows: 20_000) <= 16)
        try write(stride(from: 2, to: 19_999, by: 999)) { fields($0) }
        #expect(try blocks(statement, rows: 20_000) <= 24)
        try write(20_000..<20_002, device: "e", fields)
        #expect(try blocks(statement, rows: 20_002) <= 24)
        let bounded = "SELECT last(*) FROM m WHERE time < 10000s GROUP BY id_participant"
        let result = try answer(bounded)
        #expect(
            result.series.map { $0.column("last_v")?.integers ?? [] } == [[9998], [9999]])
        #expect(result.counters.blocksRead <= 24, "\(result.counters)")
    }

    @Test func `first and last under a condition are read from the ends`() throws {
        try write(0..<20_000, device: "d") { ["v": .integer(Int64($0)), "w": .float(1)] }
        try database.flush()
        let result = try answer(
            "SELECT first(v), last(v), last(w) FROM m WHERE device = 'd' AND v < 19000 "
                + "GROUP BY id_participant")
        #expect(result.series.map { $0.column("last")?.integers ?? [] } == [[18_998], [18_999]])
        #expect(result.series.map { $0.column("first")?.integers ?? [] } == [[0], [1]])
        #expect(result.counters.blocksRead <= 24, "\(result.counters)")
    }

    @Test func `first and last values are those of the newest source at their time`() throws {
        for value in 0..<4 {
            try write([0, 100, 200, 4000]) { row in
                ["v": .integer(Int64(value * 10_000 + row)), "w": .integer(0)]
            }
            if value < 3 { try database.flush() }
        }
        let result = try answer("SELECT first(v), last(v) FROM m")
        #expect(result.series[0].column("first")?.integers == [30_000])
        #expect(result.series[0].column("last")?.integers == [34_000])
    }

    // MARK: SHOW FIELDS

    @Test func `counts of whole fields read no values`() throws {
        try write(0..<6000) { row in
            var fields: [String: FieldValue] = ["v": .integer(Int64(row))]
            if row % 3 == 0 { fields["s"] = .string("s") }
            return fields
        }
        try database.flush()
        func counts(_ result: QueryResult) -> [[Int64?]] {
            result.series.map { $0.column("count")?.integers ?? [] }
        }
        let whole = try answer("SHOW FIELDS FROM m")
        #expect(counts(whole) == [[2000, 6000]])
        #expect(whole.counters.blocksRead == 0)
        #expect(whole.counters.rowsRead == 0)
        let grouped = try answer("SHOW FIELDS FROM m GROUP BY id_participant")
        #expect(counts(grouped) == [[1000, 3000], [1000, 3000]])
        #expect(grouped.counters.blocksRead == 0)
        // One block of each field and series lies across the bound.
        let part = try answer("SHOW FIELDS FROM m WHERE time < 3000s")
        #expect(counts(part) == [[1000, 3000]])
        #expect(part.counters.blocksRead <= 4, "\(part.counters)")
        #expect(part.counters.blocksSummarized >= 2)
        // A value written again counts once, whatever statistics say of both.
        try write([0, 3, 6, 12_000]) { ["v": .integer(Int64($0)), "s": .string("t")] }
        let again = try answer("SHOW FIELDS FROM m")
        #expect(counts(again) == [[2001, 6001]])
        #expect(again.series[0].column("last")?.integers.last == 12_000 * Self.second)
    }
}
