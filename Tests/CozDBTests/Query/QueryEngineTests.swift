// The engine as a program sees it: streaming, limits, cancellation, parameters, counters.

internal import CozTestSupport
internal import Synchronization
internal import Testing

@testable internal import CozDB

/// A sink that writes down the calls it gets.
private struct CallLog: QueryResultSink {
    var calls: [String] = []
    var failsAtRows = false

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        calls.append("begin \(index)")
    }
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        calls.append("series \(series.name)")
    }
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        if failsAtRows { throw DatabaseError(.io, "full") }
        calls.append("rows \(batch.count)")
    }
    mutating func endSeries() throws(DatabaseError) { calls.append("end series") }
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        calls.append(error.map { "failed \($0.kind)" } ?? "end")
    }
}

/// A sink that does something else with the library when rows arrive.
private struct CallingSink: QueryResultSink {
    let body: () -> Void

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) { body() }
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

@Suite struct QueryEngineTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(directory.path)
        var batch = WriteBatch()
        for participant in ["a", "b"] {
            for row in 0..<5000 {
                try batch.add(
                    experiment: "m", tags: ["id_participant": participant],
                    time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                    fields: ["v": .integer(Int64(row)), "w": .float(Double(row) / 2)])
            }
        }
        _ = try database.write(batch)
        try database.flush()
    }

    private var options: QueryOptions {
        QueryOptions(now: Timestamp(nanoseconds: 1_000_000_000_000_000))
    }

    @Test func `an answer comes as statements, series and batches, in this order`() throws {
        var log = CallLog()
        try database.query(
            "SELECT v FROM m WHERE id_participant = 'a' LIMIT 3; SHOW MEASUREMENTS",
            options: options,
            into: &log)
        #expect(
            log.calls == [
                "begin 0", "series m", "rows 3", "end series", "end", "begin 1",
                "series measurements", "rows 1", "end series", "end",
            ])
    }

    @Test func `a failing statement ends the run and later ones do not start`() {
        var log = CallLog()
        #expect(throws: DatabaseError.self) {
            try database.query(
                "SHOW DATABASES; SELECT nosuch FROM m; SHOW SERIES", options: options, into: &log)
        }
        #expect(log.calls.suffix(2) == ["begin 1", "failed usage"])
    }

    @Test func `nothing runs when the text does not parse`() {
        var log = CallLog()
        #expect(throws: DatabaseError.self) {
            try database.query("SHOW DATABASES; SELECT", options: options, into: &log)
        }
        #expect(log.calls.isEmpty)
    }

    @Test func `what a sink throws ends the query`() {
        var log = CallLog(failsAtRows: true)
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT v FROM m", options: options, into: &log)
        }
        #expect(error?.kind == .io)
    }

    @Test func `going beyond a limit names it`() {
        func message(_ text: String, _ change: (inout QueryOptions) -> Void) -> String {
            var options = options
            change(&options)
            do {
                _ = try database.execute(text, options: options)
                return "no error"
            } catch {
                return error.kind == .limitExceeded ? error.message : "\(error.kind)"
            }
        }
        #expect(message("SELECT v FROM m") { $0.rowCountMax = 100 }.contains("rowCountMax"))
        #expect(
            message("SELECT max(v) FROM (SELECT v FROM m LIMIT 500)") { $0.rowCountMax = 100 }
                .contains("rowCountMax"))
        #expect(
            message("SELECT mean(v) FROM m GROUP BY id_participant") { $0.groupCountMax = 1 }
                .contains("groupCountMax"))
        #expect(
            message("SELECT mean(v) FROM m WHERE time > 0 GROUP BY time(1s)") {
                $0.bucketCountMax = 10
            }.contains("bucketCountMax"))
        #expect(message("SELECT v FROM m") { $0.textSizeBytesMax = 5 }.contains("textSizeBytesMax"))
    }

    @Test func `a sink's own calls and tasks are not cancelled with the query`() async throws {
        let isCancelled = Atomic(false)
        var options = options
        options.isCancelled = { isCancelled.load(ordering: .relaxed) }
        var counts: [Int?] = []
        var tasks: [Task<Int?, Never>] = []
        var damaged: Int?
        let (database, path) = (database, directory.path)
        var sink = CallingSink {
            isCancelled.store(true, ordering: .relaxed)
            counts.append(try? database.rowCount())
            damaged = try? Database.check(path, decodes: true) { _ in }.damaged
            tasks.append(Task { try? database.rowCount() })
        }
        _ = try? database.query("SELECT v FROM m", options: options, into: &sink)
        #expect(counts.first == 10_000)
        #expect(damaged == 0)
        for task in tasks { #expect(await task.value == 10_000) }
    }

    @Test func `asking whether a query is cancelled may call the library`() throws {
        var options = options
        let database = database
        options.isCancelled = { (try? database.rowCount()) == nil }
        let answer = try database.query("SELECT count(v) FROM m WHERE w > 1", options: options)
        #expect(answer.series[0].rowCount == 1)
    }

    // Without a check before, this would take all memory.
    @Test func `buckets are counted before they are made`() throws {
        var options = options
        options.bucketCountMax = .max
        options.limits = QueryLimits()
        options.limits?.bucketCountMax = .max
        options.limits?.memorySizeBytesMax = 1 << 20
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT mean(v) FROM m GROUP BY time(1ns) LIMIT 2", options: options)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("bytes of memory") == true, "\(error?.message ?? "")")
    }

    @Test func `the deepest statements allowed run`() throws {
        let parentheses = String(repeating: "(", count: 240)
        let closing = String(repeating: ")", count: 240)
        _ = try database.query(
            "SELECT v FROM m WHERE \(parentheses)v = 1\(closing)", options: options)
        let chain = Array(repeating: "v = 1", count: 480).joined(separator: " OR ")
        let chained = try database.query("SELECT v FROM m WHERE \(chain)", options: options)
        #expect(chained.series[0].rowCount == 2)
        let heads = String(repeating: "SELECT v FROM (", count: 200)
        let tails = String(repeating: ")", count: 200)
        let nested = try database.query(
            "\(heads)SELECT v FROM m WHERE time < 3s\(tails)", options: options)
        #expect(nested.series[0].rowCount == 6)
    }

    @Test func `subqueries that calls read in several ranges are limited`() {
        var text = "SELECT sum(v) AS x FROM m GROUP BY time(10m)"
        for level in 1...8 {
            text = "SELECT sum(x) AS x, difference(sum(x)) AS y FROM (\(text))"
            // Each level is read twice for each reading of the level around it.
            let bounded = text + " WHERE time >= 0s AND time < 1h GROUP BY time(10m)"
            if level < 7 {
                #expect(throws: Never.self) { try database.query(bounded, options: options) }
            } else {
                let error = #expect(throws: DatabaseError.self) {
                    try database.query(bounded, options: options)
                }
                #expect(error?.message.contains("more than 200 subqueries") == true)
            }
            text += " GROUP BY time(10m)"
        }
    }

    @Test func `a query can be cancelled`() {
        var options = options
        options.isCancelled = { true }
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT v FROM m", options: options)
        }
        #expect(error?.kind == .cancelled)
    }

    @Test func `aggregates of whole blocks are answered from their summaries`() throws {
        let result = try database.query("SELECT count(v), sum(v), max(w) FROM m", options: options)
        #expect(result.series[0].column("count")?.integers == [10_000])
        #expect(result.series[0].column("sum")?.integers == [2 * 4999 * 5000 / 2])
        #expect(result.series[0].column("max")?.doubles == [2499.5])
        #expect(result.counters.blocksSummarized > 0)
        #expect(result.counters.rowsRead == 0)
        let filtered = try database.query(
            "SELECT count(v), sum(v) FROM m WHERE w >= 0", options: options)
        #expect(filtered.series[0].column("sum")?.integers == [2 * 4999 * 5000 / 2])
    }

    @Test func `columns and tags of a collected answer are typed`() throws {
        let result = try database.query(
            "SELECT v, w FROM m WHERE time < 2s GROUP BY id_participant", options: options)
        #expect(result.series.count == 2)
        #expect(result.series[1].tag("id_participant") == "b")
        #expect(result.series[1].column("v")?.integers == [0, 1])
        #expect(result.series[1].column("w")?.doubles == [0, 0.5])
        #expect(result.series[1].times.map(\.nanoseconds) == [0, 1_000_000_000])
        #expect(result.series[1].header.columns[0].isTime)
        #expect(result.series[1].column("nosuch") == nil)
    }

    @Test func `merged series keep time order across blocks in both directions`() throws {
        for order in ["ASC", "DESC"] {
            let result = try database.query(
                "SELECT v FROM m ORDER BY time \(order)", options: options)
            let times = result.series[0].times
            #expect(times.count == 10_000)
            let isSorted = zip(times, times.dropFirst()).allSatisfy {
                order == "ASC" ? $0 <= $1 : $0 >= $1
            }
            #expect(isSorted)
        }
    }

    @Test func `statements that change data are known before they run`() {
        #expect(Database.changesData("ALTER EXPERIMENT m FIELD v TYPE float", options: options))
        #expect(Database.changesData("SELECT v FROM m; DELETE FROM m", options: options))
        #expect(!Database.changesData("SELECT v FROM m; SHOW SERIES", options: options))
        #expect(!Database.changesData("nonsense", options: options))
    }
}
