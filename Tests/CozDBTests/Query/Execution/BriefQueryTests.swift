// Async queries that run at once, on the thread of the task: those of a few rows in memory.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct BriefQueryTests {
    private let database: Database

    init() throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 1
        options.waitingCallCountMax = 0
        database = try Database.inMemory(options: options)
    }

    private func write(_ times: Range<Int>) throws {
        var batch = WriteBatch()
        for time in times {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(time % 4)"],
                time: Timestamp(nanoseconds: Int64(time)),
                fields: ["a": .float(Double(time)), "s": .string("text \(time)")])
        }
        _ = try database.write(batch)
    }

    /// Runs the body while a query has the only thread of the database.
    private func withoutThread(_ body: () async throws -> Void) async throws {
        let (isRunning, mayEnd) = (Gate(), Gate())
        var options = QueryOptions()
        options.isCancelled = {
            isRunning.open()
            mayEnd.wait()
            return false
        }
        let blocked = options
        let query = Task { try await database.query("SHOW MEASUREMENTS", options: blocked) }
        while !isRunning.wait(atMost: .zero) { try await Task.sleep(for: .milliseconds(1)) }
        defer { mayEnd.open() }
        try await body()
        mayEnd.open()
        _ = try await query.value
    }

    /// Whether a query needs no thread.
    private func isBrief(_ text: String, _ options: QueryOptions = QueryOptions()) async -> Bool {
        // A thread of the database may use its state at this moment.
        for _ in 0..<100 {
            do {
                _ = try await database.query(text, options: options)
                return true
            } catch {
                #expect(error.kind == .busy)
            }
        }
        return false
    }

    @Test func `a few rows in memory need no thread`() async throws {
        try write(0..<1_000)
        try await withoutThread {
            #expect(await isBrief("SELECT a FROM m WHERE id_participant = 'p1' LIMIT 10"))
            #expect(await isBrief("SELECT count(a), last(s) FROM m GROUP BY id_participant"))
            #expect(await isBrief("SELECT a FROM m LIMIT 1; SELECT s FROM m LIMIT 1"))
        }
    }

    @Test func `what may take long needs one`() async throws {
        try write(0..<30_000)
        try await withoutThread {
            #expect(await !isBrief("SELECT a, s FROM m"))
            #expect(await !isBrief("SHOW FIELD KEYS"))
            #expect(await !isBrief("EXPLAIN SELECT a FROM m"))
            let bucketed = "SELECT mean(a) FROM m WHERE time < 100 GROUP BY time(1ns)"
            #expect(await !isBrief(bucketed))
            #expect(await !isBrief("SELECT a FROM (SELECT a FROM m)"))
            let blanks = String(repeating: " ", count: 1_024)
            #expect(await !isBrief("SELECT a FROM m LIMIT 1\(blanks)"))
            var options = QueryOptions()
            options.isCancelled = { false }
            #expect(await !isBrief("SELECT a FROM m LIMIT 1", options))
        }
    }

    @Test func `rows in files need one`() async throws {
        try write(0..<1_000)
        try await database.flush()
        try write(1_000..<1_010)
        try await withoutThread {
            #expect(await !isBrief("SELECT a FROM m"))
            #expect(await isBrief("SELECT a FROM m WHERE time >= 1000"))
        }
    }

    @Test func `tags in files need one`() async throws {
        func write(_ time: Int64) throws {
            var batch = WriteBatch()
            batch.settings = ExperimentSettings(identity: .allTags)
            try batch.add(
                experiment: "tagged", tags: ["room": "r\(time)"],
                time: Timestamp(nanoseconds: time), fields: ["a": .float(1)])
            _ = try database.write(batch)
        }
        try write(1)
        try await withoutThread {
            #expect(await isBrief("SELECT a FROM tagged WHERE room = 'r1'"))
        }
        try await database.flush()
        try write(2)
        try await withoutThread {
            #expect(await !isBrief("SELECT a FROM tagged WHERE room = 'r2' AND time > 1"))
        }
    }

    @Test func `answers and errors are those of other queries`() async throws {
        try write(0..<16_000)
        for text in [
            "SELECT a FROM m WHERE id_participant = 'p1' ORDER BY time DESC LIMIT 10",
            "SELECT count(a), last(s) FROM m GROUP BY id_participant",
            // Takes longer than a brief query may.
            "SELECT s FROM m WHERE s =~ /(t|e|x)*(t|e|x)* (1|2|3)*(4|5|6)*(7|8|9)*7$/",
        ] {
            let expected = try sync { try database.query(text) }
            #expect(expected.series.first?.rowCount ?? 0 > 0)
            #expect("\(try await database.query(text))" == "\(expected)")
            let snapshot = try sync { try database.snapshot() }
            #expect("\(try await snapshot.query(text))" == "\(expected)")
        }
        for text in ["SELECT a FROM", "SELECT a + s FROM m", "DELETE FROM m"] {
            let expected = #expect(throws: DatabaseError.self) {
                try sync { try database.query(text) }
            }
            let found = await #expect(throws: DatabaseError.self) {
                try await database.query(text)
            }
            #expect(found?.kind == expected?.kind && found?.message == expected?.message)
        }
        #expect(try sync { try database.rowCount() } == 16_000)
    }

    @Test func `a cancelled task gets no answer`() async throws {
        try write(0..<10)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await database.query("SELECT a FROM m")
        }
        task.cancel()
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
    }

    /// Chooses the calls that block.
    private func sync<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }
}
