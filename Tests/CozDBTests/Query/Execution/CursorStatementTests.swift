// Statements of every kind, taken batch by batch: a query that pauses gives the same rows.

internal import CozDB
internal import CozTestSupport
internal import Testing

@Suite(.timeLimit(.minutes(2))) struct CursorStatementTests {
    private let database: Database
    private static let statements = [
        "SELECT * FROM a",
        "SELECT v, s FROM a, b",
        "SELECT * FROM a ORDER BY time DESC LIMIT 9000 OFFSET 5",
        "SELECT v, s, t, u FROM a, b WHERE v > 20 ORDER BY time DESC",
        "SELECT * FROM b GROUP BY id_participant SLIMIT 5 SOFFSET 1",
        "SELECT count(v), mean(f), last(s) FROM a GROUP BY time(10s), id_participant",
        "SELECT mean(v) FROM a WHERE time < 70000s GROUP BY time(1s) fill(previous)",
        "SELECT v, top(f, 5000) FROM a",
        "SELECT distinct(v) FROM a, b GROUP BY *",
        "SELECT v FROM a GROUP BY s",
        "SELECT mean(f), max(v) FROM a, b GROUP BY s, t",
        "SELECT v - previous(v), valid_votes(v, 20s) FROM a GROUP BY id_participant",
        "SELECT derivative(mean(f), 1s) FROM a GROUP BY time(30s), id_participant",
        "SELECT sum(mean) FROM (SELECT mean(v) FROM a GROUP BY time(5s), t) GROUP BY t",
        "SELECT w * 2 FROM (SELECT v + f AS w FROM a WHERE v < 80)",
        "SELECT max(v) FROM a WHERE v > 1000; SELECT v FROM b; SHOW TAG VALUES WITH KEY = \"t\"",
        "SELECT v FROM b; SELECT nothing(v) FROM b; SELECT v FROM a",
        "SHOW FIELD KEYS; EXPLAIN ANALYZE SELECT v FROM a",
    ]

    /// Two experiments with late rows, stored in two segments and in memory.
    init() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        database = try Database.inMemory()
        for part in 0..<3 {
            var batch = WriteBatch()
            for _ in 0..<6_000 {
                var fields: [String: FieldValue] = [:]
                if Int.random(in: 0..<4, using: &random) > 0 {
                    fields["v"] = .integer(Int64.random(in: 0..<100, using: &random))
                }
                if Bool.random(using: &random) {
                    fields["f"] = .float(Double(Int.random(in: 0..<1000, using: &random)) / 4)
                }
                for name in ["s", "t", "u"] where Bool.random(using: &random) {
                    fields[name] = .string("\(name) \(Int.random(in: 0..<7, using: &random))")
                }
                if fields.isEmpty { fields["v"] = .integer(0) }
                try batch.add(
                    experiment: Bool.random(using: &random) ? "a" : "b",
                    tags: ["id_participant": "p\(Int.random(in: 0..<9, using: &random))"],
                    time: Timestamp(
                        nanoseconds: Int64.random(in: 0..<40_000, using: &random) * 1_000_000_000),
                    fields: fields)
            }
            _ = try database.write(batch)
            if part < 2 { try database.flush() }
        }
    }

    /// Collects lines: the series, then its rows.
    private struct Lines: QueryResultSink {
        private(set) var lines: [String] = []
        private(set) var columns: [ResultColumn]?
        private var statement = 0
        private var header = ""

        mutating func beginStatement(_ index: Int) { statement = index }
        mutating func columns(_ columns: [ResultColumn]) {
            if self.columns == nil { self.columns = columns }
        }
        mutating func beginSeries(_ series: ResultSeries) { add(statement, series) }
        mutating func rows(_ batch: ResultBatch) { add(batch) }
        mutating func endSeries() {}
        mutating func endStatement(_ error: DatabaseError?) {}

        mutating func add(_ statement: Int, _ series: ResultSeries) {
            header = "\(statement) \(series.name) \(series.tags) \(series.columns.map(\.name))"
        }

        mutating func add(_ batch: ResultBatch) {
            for row in 0..<batch.count {
                let cells = batch.columns.map { "\($0.value(row).map { "\($0)" } ?? "-")" }
                lines.append(header + cells.joined(separator: ","))
            }
        }
    }

    @Test(arguments: statements)
    func `a query that pauses gives the rows of one that does not`(
        _ statement: String
    ) async throws {
        let options = QueryOptions(now: Timestamp(nanoseconds: 1 << 60))
        let snapshot = try await database.snapshot()
        var whole = Lines()
        var counters: QueryCounters?
        var failure: DatabaseError?
        do {
            counters = try snapshot.query(statement, options: options, into: &whole)
        } catch { failure = error }
        for isWaiting in [false, true] {
            let cursor = try snapshot.cursor(statement, options: options)
            var taken = Lines()
            do {
                while let batch = try await cursor.next() {
                    taken.add(batch.statement, batch.series)
                    taken.add(batch.rows)
                    // The query pauses meanwhile.
                    if isWaiting { try await Task.sleep(for: .milliseconds(1)) }
                }
                #expect(failure == nil)
                if let columns = whole.columns { #expect(try await cursor.columns() == columns) }
                #expect(cursor.counters?.rowsReturned == counters?.rowsReturned)
            } catch let error as DatabaseError {
                #expect(error.description == failure?.description)
            }
            // EXPLAIN shows how long it took.
            let isTimed = statement.contains("EXPLAIN")
            #expect(taken.lines.count == whole.lines.count)
            #expect(isTimed || taken.lines == whole.lines)
        }
    }

    @Test(arguments: statements)
    func `a query can be dropped at any pause`(_ statement: String) throws {
        let snapshot = try database.snapshot()
        for count in [0, 1, 2, 5] {
            let cursor = try snapshot.cursor(statement)
            for _ in 0..<count { _ = try? cursor.next() }
            if count == 2 { cursor.cancel() }
        }
        #expect(try snapshot.query("SELECT count(v) FROM a").series.count == 1)
    }
}
