// Rows of a series in one segment are those that were in memory, column by column.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct SegmentRowsTests {
    private static func fill(_ database: Database, _ random: inout SeededRandom) throws {
        var batch = WriteBatch()
        for row in 0..<6000 {
            let participant = row % 9 == 0 ? "q" : "p"
            var fields: [String: FieldValue] = [:]
            if row % 2 == 0 { fields["i"] = .integer(Int64(row)) }
            if row % 7 < 5 { fields["f"] = .float(Double(row) / 8) }
            if Int.random(in: 0..<40, using: &random) == 0 { fields["s"] = .string("s\(row % 5)") }
            if row > 5900 { fields["late"] = .boolean(row % 4 == 0) }
            if row % 11 == 0 {
                let time = Timestamp(nanoseconds: Int64(row) * 1_000_000_000)
                fields["t"] = .string(time.text())
            }
            guard !fields.isEmpty else { continue }
            try batch.add(
                experiment: "m", tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000), fields: fields)
        }
        _ = try database.write(batch)
    }

    /// Of each answer the columns of all series.
    private static func answers(_ database: Database) throws -> [[[FieldValue?]]] {
        let statements = [
            "SELECT * FROM m GROUP BY id_participant", "SELECT s, late FROM m",
            "SELECT i, s FROM m WHERE time >= 1000s AND time < 4321s",
            "SELECT f FROM m WHERE time >= 5990s", "SELECT i FROM m WHERE time >= 9999s",
            "SELECT * FROM m WHERE id_participant = 'q' LIMIT 2000 OFFSET 30",
            "SELECT i + f FROM m WHERE time < 3000s",
        ]
        return try statements.map { statement in
            try database.query(statement).series.flatMap(\.columns).map { column in
                (0..<column.count).map { column.value($0) }
            }
        }
    }

    @Test func `rows of one segment are those of memory, also where a type was widened`() throws {
        let seed = TestSeed.seed()
        print("segment rows seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try Self.fill(database, &random)
        let before = try Self.answers(database)
        try database.compact()
        let isSame = try Self.answers(database) == before
        #expect(isSame, "seed \(seed)")
        try database.alter(experiment: "m", field: "i", type: .float)
        // Backwards rows are put together another way; so are series.
        let head = "SELECT i, f FROM m GROUP BY id_participant"
        let widened = try database.query(head)
        let backwards = try database.query(head + " ORDER BY time DESC")
        for (up, down) in zip(widened.series, backwards.series.reversed()) {
            for column in 1...2 {
                let isSame = up.columns[column].doubles == down.columns[column].doubles.reversed()
                #expect(isSame, "seed \(seed), column \(column)")
            }
        }
        #expect(widened.series.count == 2)
    }
}
