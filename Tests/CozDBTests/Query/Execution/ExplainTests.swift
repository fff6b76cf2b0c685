// EXPLAIN ANALYZE: what it says was read is what was read. Plans are in Queries/explain.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct ExplainTests {
    private let directory = TemporaryDirectory()
    private let database: Database
    private let options = QueryOptions(now: Timestamp(nanoseconds: 1_000_000_000_000_000))

    init() throws {
        database = try Database.open(directory.path)
        var batch = WriteBatch()
        for row in 0..<8192 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                fields: ["v": .integer(Int64(row)), "w": .float(Double(row) / 2)])
        }
        _ = try database.write(batch)
        try database.flush()
    }

    private func lines(_ text: String) throws -> [String] {
        let result = try database.query(text, options: options)
        #expect(result.series.count == 1)
        #expect(result.series[0].name == "")
        return result.series[0].columns[0].texts.compactMap { $0 }
    }

    @Test func `the plan of a statement reads no values`() throws {
        let result = try database.query("EXPLAIN SELECT median(v) FROM m", options: options)
        #expect(result.series[0].header.columns.map(\.name) == ["QUERY PLAN"])
        #expect(result.counters.blocksRead == 0)
        #expect(result.counters.rowsRead == 0)
        #expect(result.counters.rowsReturned == 0)
    }

    @Test(arguments: ["previous(v)", "valid_votes(v, 5s)", "sum(v) OVER (10s BEFORE v)"])
    func `what several threads read is counted`(_ call: String) throws {
        let database = try Database.inMemory()
        var batch = WriteBatch()
        for row in 0..<40_000 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(row % 4)"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                fields: ["v": .integer(Int64(row))])
        }
        _ = try database.write(batch)
        try database.flush()
        let text = "SELECT \(call) FROM m GROUP BY id_participant"
        #expect(try database.query(text).counters.rowsRead >= 40_000)
    }

    @Test func `a statement that is analyzed tells what it read`() throws {
        let summed = try lines("EXPLAIN ANALYZE SELECT sum(v) FROM m WHERE time < 2048s")
        #expect(summed.contains("  returned: 1 rows in 1 series"))
        #expect(
            summed.contains(
                "  blocks: 2 in the time range, 6 outside, 0 skipped by statistics, "
                    + "2 answered from statistics, 0 decoded"))
        #expect(
            summed.contains {
                $0.contains("  time: parse ") && $0.contains(", plan ") && $0.contains(", execute ")
            })
        let skipped = try lines("EXPLAIN ANALYZE SELECT w FROM m WHERE v >= 8000")
        #expect(skipped.contains("  returned: 192 rows in 1 series"))
        #expect(skipped.contains { $0.contains("14 skipped by statistics, 0 answered") })
        #expect(skipped.contains { $0.contains("2 decoded") && $0.hasPrefix("  read: ") })
        let header = try database.query("EXPLAIN ANALYZE SELECT v FROM m", options: options)
        #expect(header.series[0].header.columns.map(\.name) == ["EXPLAIN ANALYZE"])
        #expect(header.series.count == 1)
        #expect(header.counters.blocksRead == 8)
        #expect(header.counters.rowsRead == 8192)
    }

    @Test func `a call is answered by the access path that is printed`() throws {
        func path(_ statement: String) throws -> String? {
            try lines("EXPLAIN " + statement).first { $0.hasPrefix("call: ") }?
                .split(separator: ": ").last.map(String.init)
        }
        let statistics =
            "from block statistics if a block lies in one bucket, otherwise from values"
        #expect(try path("SELECT mean(v) FROM m") == statistics)
        #expect(try path("SELECT last(v) FROM m") == "from the ends of each series")
        #expect(try path("SELECT median(v) FROM m") == "from values, all kept in memory")
        #expect(
            try path("SELECT mean(coalesce(w, w)) FROM m")
                == "from values, the first of several columns")
        let filtered = "from values of the rows that pass WHERE, by bitmap"
        #expect(try path("SELECT mean(v) FROM m WHERE v > 3") == filtered)
        #expect(try path("SELECT mean(v) FROM m WHERE v + w > 3") == "from rows")
        // The series now lies in two sources.
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 5),
            fields: ["v": .integer(5)])
        _ = try database.write(batch)
        #expect(
            try path("SELECT mean(v) FROM m WHERE v > 3")
                == "from values of one column, filtered while reading")
        #expect(try path("SELECT mean(v) FROM m WHERE w > 3") == "from rows")
        let count = try database.query("SELECT count(v) FROM m WHERE v > 8190", options: options)
        #expect(count.series[0].columns.last?.integers == [1])
    }

    @Test func `sources of a subquery are told apart`() throws {
        let nested = try lines(
            "EXPLAIN ANALYZE SELECT max(s) FROM (SELECT sum(v) AS s FROM m WHERE time >= 0 "
                + "GROUP BY time(1024s)), (SELECT w AS s FROM m WHERE v = 17)")
        let reads = nested.filter { $0.contains("read: ") && $0.hasPrefix("    ") }
        #expect(reads.count == 2)
        #expect(reads[0].contains("8 answered from statistics, 0 decoded"))
        #expect(reads[1].contains("14 blocks skipped by statistics"))
        #expect(nested.contains("  returned: 1 rows in 1 series"))
    }

    @Test func `what fails to run fails to be explained`() {
        for text in ["SELECT nosuch FROM m", "SELECT v FROM nosuch", "SELECT mean(v), v FROM m"] {
            for words in ["EXPLAIN", "EXPLAIN ANALYZE"] {
                #expect(throws: DatabaseError.self) {
                    try database.query("\(words) \(text)", options: options)
                }
            }
        }
    }
}
