// Conditions that storage tests by bits of rows, beside the same ones in a form of which it knows
// nothing: whatever the columns, the sources and the shape of the answer.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct RowFilterTests {
    private static let second: Int64 = 1_000_000_000
    private static let texts = ["watch_survey", "push", "", "ä", "2025-10-15T02:25:21.000Z"]

    /// Rows of three participants, with columns that are dense, sparse, and there for some alone.
    private static func fill(
        _ database: Database, _ rows: Range<Int>, _ random: inout SeededRandom
    ) throws {
        var batch = WriteBatch()
        for row in rows {
            var fields: [String: FieldValue] = ["i": .integer(Int64(row / 50 % 40))]
            if row % 3 != 1 { fields["f"] = .float(Double(row % 700) / 4 - 40) }
            if row % 211 == 0 { fields["f"] = .float(.nan) }
            if row % 2 == 0 { fields["s"] = .string(Self.texts[row / 7 % 5]) }
            if row % 97 == 0 { fields["rare"] = .integer(Int64(row)) }
            if row % 5 == 0 { fields["b"] = .boolean(row % 15 == 0) }
            if row > 4000 { fields["late"] = .string("t\(row % 2000)") }
            // More text than the dictionary of a segment takes, with times in between.
            if row % 2 == 1 { fields["note"] = .string(note(row)) }
            if row % 4 == 1 || row % 8 == 3 { fields["copy"] = .string(note(row)) }
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(row % 7 / 3)"],
                time: Timestamp(nanoseconds: Int64(row) * second), fields: fields)
        }
        _ = try database.write(batch)
    }

    private static func note(_ row: Int) -> String {
        row % 4 == 1 || row < 40
            ? Timestamp(nanoseconds: Int64(row / 8) * second).text()
            : "note \(row / 8) " + String(repeating: "x", count: 300)
    }

    /// A comparison, and the same said in a way that asks the engine to look at each row.
    private static func comparison(
        _ random: inout SeededRandom
    ) -> (known: String, unknown: String) {
        let symbols = ["=", "!=", "<", "<=", ">", ">="]
        let symbol = symbols.randomElement(using: &random)!
        switch Int.random(in: 0..<8, using: &random) {
        case 7: return noteComparison(&random)
        case 0, 1:
            let number = Int.random(in: -2...42, using: &random)
            return ("i \(symbol) \(number)", "i + 0 \(symbol) \(number)")
        case 2:
            let number = Double(Int.random(in: -200...600, using: &random)) / 4
            return ("f \(symbol) \(number)", "f + 0 \(symbol) \(number)")
        case 3:
            let number = Double(Int.random(in: -2...84, using: &random)) / 2
            return ("\(number) \(symbol) i", "\(number) \(symbol) i + 0")
        case 4:
            let number = Int.random(in: 0...9000, using: &random)
            return ("rare \(symbol) \(number)", "rare + 0 \(symbol) \(number)")
        case 5:
            let text = Self.texts.randomElement(using: &random)!
            let symbol = ["=", "!="].randomElement(using: &random)!
            return ("s \(symbol) '\(text)'", "(s \(symbol) '\(text)') = true")
        default:
            let pattern = ["/s/", "/^p/", "/t1[0-9]$/"].randomElement(using: &random)!
            let field = ["s", "late"].randomElement(using: &random)!
            let symbol = ["=~", "!~"].randomElement(using: &random)!
            return ("\(field) \(symbol) \(pattern)", "(\(field) \(symbol) \(pattern)) = true")
        }
    }

    /// The same for texts of which a segment keeps only some in its dictionary.
    private static func noteComparison(
        _ random: inout SeededRandom
    ) -> (known: String, unknown: String) {
        let field = ["note", "copy"].randomElement(using: &random)!
        let digit = Int.random(in: 0...9, using: &random)
        let texts = (0..<2).map { _ in "'\(note(Int.random(in: 0..<1500, using: &random) * 4 + 3))'"
        }
        let test = [
            "= \(texts[0])", "!= \(texts[0])", "IN (\(texts[0]), \(texts[1]))",
            "=~ /^note [0-9]*\(digit) /", "!~ /^note [0-9]*\(digit) /",
            "=~ /:\(digit % 6)\(digit)Z/",
        ].randomElement(using: &random)!
        return ("\(field) \(test)", "(\(field) \(test)) = true")
    }

    private static func condition(
        _ random: inout SeededRandom
    ) -> (known: String, unknown: String) {
        let (a, b, c) = (comparison(&random), comparison(&random), comparison(&random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: return a
        case 2: return ("\(a.known) AND \(b.known)", "\(a.unknown) AND \(b.unknown)")
        case 3: return ("\(a.known) OR \(b.known)", "\(a.unknown) OR \(b.unknown)")
        case 4:
            return (
                "(\(a.known) OR \(b.known)) AND \(c.known)",
                "(\(a.unknown) OR \(b.unknown)) AND \(c.unknown)"
            )
        default:
            // Of one part storage knows nothing.
            return ("\(a.known) AND \(b.unknown)", "\(a.unknown) AND \(b.unknown)")
        }
    }

    private static let shapes = [
        ("count(i), sum(i), mean(f)", ""), ("count(s)", ""), ("count(*)", ""),
        ("max(f), min(i), count(late)", " GROUP BY time(1000s)"), ("median(f), mode(s)", ""),
        ("first(f), last(s)", " GROUP BY id_participant"), ("max(rare), s, f", ""), ("*", ""),
        ("count(note), last(copy)", ""), ("distinct(note)", " GROUP BY id_participant"),
        ("mode(copy), first(note)", " GROUP BY time(500s)"), ("note, copy", " LIMIT 300"),
        ("f, rare", " AND time >= 1234s AND time < 5678s"), ("i", " LIMIT 7 OFFSET 3"),
        ("s, late", " ORDER BY time DESC LIMIT 9"), ("sum(rare)", " GROUP BY id_participant"),
        ("distinct(late)", " AND time > 6000s"), ("i + f", " LIMIT 2000"),
        ("spread(f), percentile(i, 90)", " GROUP BY time(3000s) fill(none)"),
    ]

    private static func compare(
        _ database: Database, _ count: Int, _ random: inout SeededRandom, _ note: String
    ) throws {
        let options = QueryOptions(now: Timestamp(nanoseconds: 1_000_000 * second))
        for number in 0..<count {
            let condition = number % 4 == 3 ? noteComparison(&random) : condition(&random)
            let (head, tail) = shapes.randomElement(using: &random)!
            func answer(_ condition: String) throws -> String {
                try database.query(
                    "SELECT \(head) FROM m WHERE (\(condition))\(tail)", options: options
                ).description
            }
            let (known, unknown) = (try answer(condition.known), try answer(condition.unknown))
            #expect(known == unknown, "\(note): SELECT \(head) … \(condition.known)\(tail)")
        }
    }

    @Test func `conditions answer the same whether storage tests them or not`() throws {
        let seed = TestSeed.seed()
        print("row filter seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(directory.path, options: options)
        defer { try? database.close() }
        try Self.fill(database, 0..<6000, &random)
        try Self.compare(database, 12, &random, "seed \(seed), in memory")
        try database.compact()
        try Self.compare(database, 45, &random, "seed \(seed), one segment")
        try Self.fill(database, 5990..<6100, &random)
        try Self.compare(database, 12, &random, "seed \(seed), a segment and memory")
        try database.alter(experiment: "m", field: "i", type: .float)
        try Self.compare(database, 12, &random, "seed \(seed), a widened column")
        try database.compact()
        try Self.compare(database, 12, &random, "seed \(seed), widened and merged")
    }

    @Test func `a series of more rows than a window has`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        var batch = WriteBatch()
        for row in 0..<140_000 {
            var fields: [String: FieldValue] = ["v": .integer(Int64(row % 1000))]
            if row % 10_000 == 9_999 { fields["w"] = .float(Double(row) + 0.5) }
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row) * Self.second), fields: fields)
        }
        _ = try database.write(batch)
        try database.compact()
        func answer(_ text: String) throws -> QueryResult { try database.query(text) }
        let counted = try answer("SELECT count(v), sum(w), last(v) FROM m WHERE v = 999")
        #expect(counted.series[0].column("count")?.integers == [140])
        #expect(counted.series[0].column("last")?.integers == [999])
        let expected = (0..<14).reduce(0.0) { $0 + Double($1 * 10_000 + 9_999) + 0.5 }
        #expect(counted.series[0].column("sum")?.doubles == [expected])
        let rows = try answer("SELECT v, w FROM m WHERE w > 65000 AND v > 5")
        #expect(rows.series[0].rowCount == 8)
        #expect(rows.series[0].column("w")?.doubles.first == 69_999.5)
        // Sixteen columns of one block each would be more than was read.
        #expect(rows.counters.blocksRead < 20, "\(rows.counters)")
    }
}
