// The code of the article Concurrency, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Dispatch
internal import Testing

// Snippet: Call it from tasks
func heartRates(of participants: [String], in database: Database) async throws -> [String: Double] {
    try await withThrowingTaskGroup(of: (String, Double?).self) { group in
        for participant in participants {
            group.addTask {
                let result = try await database.query(
                    "SELECT mean(ts_heart_rate) FROM dev WHERE id_participant = $who",
                    parameters: ["who": participant])
                return (participant, result.series.first?.column("mean")?.doubles.first ?? nil)
            }
        }
        var rates: [String: Double] = [:]
        for try await (participant, rate) in group { rates[participant] = rate }
        return rates
    }
}
// End of snippet

// Snippet: Run other calls off the pool
func offPool<Value: Sendable>(
    _ work: @escaping @Sendable () throws(DatabaseError) -> Value
) async throws(DatabaseError) -> Value {
    let result = await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
            continuation.resume(returning: Result { () throws(DatabaseError) in try work() })
        }
    }
    return try result.get()
}
// End of snippet

struct ConcurrencySnippets {
    private static func database(_ path: String) async throws -> Database {
        let database = try await Database.open(path)
        var batch = WriteBatch()
        for participant in ["p01", "p02"] {
            try batch.add(
                experiment: "dev", tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: 1), fields: ["ts_heart_rate": .float(70)])
        }
        _ = try await database.write(batch)
        return database
    }

    @Test func `the article's tasks share a database`() async throws {
        let folder = TemporaryDirectory()
        let database = try await Self.database(folder.path)
        #expect(try await heartRates(of: ["p01", "p02"], in: database) == ["p01": 70, "p02": 70])

        // Snippet: Call it from tasks
        for try await batch in try await database.cursor("SELECT ts_heart_rate FROM dev") {
            process(batch.times, batch.column("ts_heart_rate")?.doubles ?? [])
        }
        // End of snippet

        // Snippet: Run other calls off the pool
        let columns = try await offPool { () throws(DatabaseError) in
            try database.columns(of: "dev")
        }
        // End of snippet
        #expect(!columns.isEmpty)

        // Snippet: Cancel
        let query = Task { try await database.query("SELECT ts_heart_rate FROM dev") }
        query.cancel()
        do {
            _ = try await query.value
        } catch let error as DatabaseError where error.kind == .cancelled {
            // the answer is not wanted any more
        }
        // End of snippet
        try await database.close()
    }

    private func process(_ times: [Timestamp], _ rates: [Double?]) {}
}
