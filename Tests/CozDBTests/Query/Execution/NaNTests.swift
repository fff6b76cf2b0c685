// A stored NaN, which only programs write: no smallest and no largest value, whichever part of an
// answer it is met in, and behind all others where values are sorted.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct NaNTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws { database = try Database.open(directory.path) }

    /// A value a second for each participant, with `w` beside it.
    private func write(_ values: [[Double]]) throws {
        var batch = WriteBatch()
        for (participant, values) in values.enumerated() {
            for (second, value) in values.enumerated() {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(participant)"],
                    time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000),
                    fields: ["v": .float(value), "w": .float(value)])
            }
        }
        _ = try database.write(batch)
    }

    /// The second column of the only series.
    private func answer(_ text: String) throws -> [Double?] {
        let series = try database.query(text).series
        return series.first?.columns[1].doubles ?? []
    }

    /// Asked in memory, in segments, and merged.
    private func expect(_ expected: KeyValuePairs<String, [Double?]>) throws {
        for state in ["memory", "segment", "merged"] {
            if state == "segment" { try database.flush() }
            if state == "merged" { try database.compact() }
            for (selection, values) in expected {
                let text = "SELECT \(selection)"
                #expect(try answer(text) == values, "\(text), \(state)")
            }
        }
    }

    @Test(arguments: [
        [[1, .nan, 3], [.nan, .nan], [2]], [[.nan, .nan], [2, .nan], [.nan, 1, 3]],
        [[3], [.nan, 1, .nan, .nan, 2]],
    ])
    func `is neither smallest nor largest, and sorts behind all others`(
        values: [[Double]]
    ) throws {
        try write(values)
        try expect([
            "max(v) FROM m": [3], "min(v) FROM m": [1], "spread(v) FROM m": [2],
            "max(v), w FROM m": [3], "min(v), w FROM m": [1],
            "max(v) FROM m WHERE time < 1h GROUP BY time(1h)": [3],
            "min(v) FROM m WHERE time < 1h GROUP BY time(1h)": [1],
            "max(v) FROM (SELECT v FROM m)": [3], "max(v) FROM m WHERE v = v OR w != w": [3],
            "percentile(v, 30) FROM m": [2],
        ])
        let extremes = try [
            database.query("SELECT top(v, 3) FROM m"), database.query("SELECT bottom(v, 3) FROM m"),
        ]
        for answer in extremes {
            let found = try #require(answer.series.first).columns[1].doubles.compactMap { $0 }
            #expect(found.sorted() == [1, 2, 3])
        }
    }
}
