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

    @Test func `is shown by selectors, and null where it is computed`() throws {
        try write([[.nan, 1, .nan, 2, .nan]])
        let all = [0.0, 1, 0, 2, 0].map { $0 == 0 ? Double.nan : $0 }
        for state in ["memory", "segment"] {
            if state == "segment" { try database.flush() }
            for (selection, expected) in [
                ("first(v) FROM m", [Double.nan]), ("last(v) FROM m", [.nan]),
                ("first(v), w FROM m", [.nan]), ("mode(v) FROM m", [.nan]),
                ("percentile(v, 100) FROM m", [.nan]), ("top(v, 5) FROM m", all),
                ("sample(v, 9) FROM m", all), ("coalesce(v, 5.0) FROM m", all),
                ("valid_votes(v, 1ns) FROM m", all), ("v FROM (SELECT v FROM m)", all),
                ("v FROM (SELECT first(v) AS v FROM m)", [.nan]),
                ("nearest(v) OVER (1s BEFORE w) FROM m", all),
                ("last(v) FROM m WHERE time < 5s GROUP BY time(2s)", [1, 2, .nan]),
            ] as [(String, [Double])] {
                let found = try answer("SELECT \(selection)")
                #expect(
                    found.map { $0?.bitPattern } == expected.map { $0.bitPattern },
                    "\(selection), \(state): \(found)")
            }
            for selection in [
                "mean(v) FROM m", "sum(v) FROM m", "v + 1 FROM m WHERE w != w AND time = 0",
                "first(v) + 1 FROM m", "sqrt(v) FROM m WHERE time = 0",
            ] {
                #expect(try answer("SELECT \(selection)").compactMap { $0 } == [], "\(selection)")
            }
        }
    }
}
