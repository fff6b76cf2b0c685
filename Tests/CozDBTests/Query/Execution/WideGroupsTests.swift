// Calls over many columns, of which each group has few: the answers are those of an experiment
// that has no other columns.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct WideGroupsTests {
    private static let usedCount = 8
    private static let wideCount = 1100

    /// Two experiments with equal rows. In one of them a participant more has all columns.
    private func database(_ random: inout SeededRandom) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        for participant in 0..<30 {
            let own = (0..<2).map { _ in Int.random(in: 1..<Self.usedCount, using: &random) }
            for time in 0..<6 where Bool.random(using: &random) {
                var fields: [String: FieldValue] = [:]
                for number in own where Int.random(in: 0..<3, using: &random) > 0 {
                    fields["f\(number)"] = .integer(.random(in: 0..<9, using: &random))
                }
                if participant % 3 == 0 { fields["f0"] = .integer(Int64(time)) }
                if fields.isEmpty { continue }
                for experiment in ["narrow", "wide"] {
                    try batch.add(
                        experiment: experiment,
                        tags: ["id_participant": "p\(participant)", "a": "a\(participant % 4)"],
                        time: Timestamp(nanoseconds: Int64(time)), fields: fields)
                }
            }
        }
        let all = (0..<Self.wideCount).map { ("f\($0)", FieldValue.integer(1)) }
        try batch.add(
            experiment: "wide", tags: ["id_participant": "all"], time: Timestamp(nanoseconds: 0),
            fields: Dictionary(uniqueKeysWithValues: all))
        try batch.add(
            experiment: "narrow", tags: ["id_participant": "all"], time: Timestamp(nanoseconds: 0),
            fields: Dictionary(uniqueKeysWithValues: all.prefix(Self.usedCount)))
        _ = try database.write(batch)
        return database
    }

    /// The values of a series, by the name of their column.
    private struct Answer: Equatable {
        var tags: [String]
        var times: [Int64]
        var columns: [String: [FieldValue?]]

        /// Columns without a value are left out.
        init(_ series: QueryResult.Series) {
            tags = series.header.tags.map { "\($0.name)=\($0.value)" }
            times = series.times.map(\.nanoseconds)
            columns = [:]
            for (index, column) in series.header.columns.enumerated() where !column.isTime {
                let values = (0..<series.rowCount).map { series.columns[index].value($0) }
                if values.contains(where: { $0 != nil }) { columns[column.name] = values }
            }
        }
    }

    @Test(arguments: [
        "SELECT count(*) FROM M GROUP BY id_participant",
        "SELECT max(*) FROM M GROUP BY id_participant",
        "SELECT elapsed(*) FROM M GROUP BY id_participant",
        "SELECT difference(*) FROM M GROUP BY id_participant ORDER BY time DESC",
        "SELECT percentile(*, 90), median(*), mode(*) FROM M GROUP BY id_participant",
        "SELECT first(*), last(*) FROM M GROUP BY id_participant",
        "SELECT last(*) FROM M AND f0 > 2 GROUP BY id_participant",
        "SELECT sum(*) FROM M AND time < 9 GROUP BY time(2ns), id_participant fill(previous)",
        "SELECT sum(*) FROM M GROUP BY time(2ns), id_participant fill(none)",
        "SELECT sum(*) FROM M AND time >= 0 AND time < 9 GROUP BY time(2ns), id_participant",
        "SELECT cumulative_sum(sum(*)) FROM M AND time < 9 GROUP BY time(2ns), id_participant",
        "SELECT coalesce(max(f1), 0) AS c, max(*) FROM M GROUP BY id_participant",
        "SELECT max(f1) + max(f2) AS s, max(*) FROM M GROUP BY id_participant",
        "SELECT count(*) FROM M GROUP BY a",
        "SELECT mode(*), max(f1) + max(f2) AS s FROM M GROUP BY a, time(3ns) fill(none)",
        "SELECT count(*) FROM M GROUP BY a, id_participant SLIMIT 3",
        "SELECT elapsed(*) FROM M GROUP BY id_participant LIMIT 1 OFFSET 1",
        "SELECT count(*) FROM (SELECT elapsed(*) FROM M GROUP BY id_participant)",
        "SELECT max(*) FROM (SELECT elapsed(*) FROM M GROUP BY id_participant) "
            + "GROUP BY id_participant",
        "SELECT sum(*) FROM (SELECT max(*) FROM M GROUP BY a, id_participant) GROUP BY a",
        "SELECT count(*) FROM (SELECT * FROM M) GROUP BY id_participant",
    ])
    func `a group has the columns of its rows`(_ statement: String) throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try database(&random)
        func answers(_ experiment: String) throws -> [Answer] {
            let source = "\(experiment) WHERE id_participant != 'all'"
            let text = statement.replacing("FROM M", with: "FROM \(source)")
            return try database.query(text).series.map { Answer($0) }
        }
        for _ in 0..<2 {
            let narrow = try answers("narrow")
            #expect(try answers("wide") == narrow, "seed \(seed)")
            #expect(!narrow.isEmpty)
            try database.flush()
        }
    }

    @Test func `fill with a number gives each column of each group a value`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try database(&random)
        for grouping in ["id_participant", "a"] {
            let series = try database.query(
                "SELECT count(*) FROM wide WHERE id_participant != 'all' AND time < 9 "
                    + "GROUP BY time(2ns), \(grouping) fill(7)"
            ).series
            #expect(series.count > 3, "seed \(seed)")
            for series in series {
                let column = try #require(series.column("count_f900"))
                #expect(
                    column.integers == Array(repeating: 7, count: series.rowCount), "seed \(seed)")
            }
        }
    }
}
