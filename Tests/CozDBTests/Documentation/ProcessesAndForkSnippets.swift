// The code of the article Processes and fork, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

// Snippet: Wait for the lock
func openWhenFree(_ path: String, attempts: Int) async throws -> Database {
    for _ in 1..<attempts {
        do {
            return try await Database.open(path)
        } catch {
            guard error.kind == .locked else { throw error }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
    return try await Database.open(path)
}
// End of snippet

// Snippet: Fork
/// What a worker process runs after the fork.
func runWorker(_ path: String, statement: String) throws -> QueryResult {
    let reader = try Database.open(path, access: .readOnly)
    return try reader.query(statement)
}
// End of snippet

struct ProcessesAndForkSnippets {
    @Test func `the article's reader follows the writer`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Read what another process writes
        let writer = try Database.open(path)
        let reader = try Database.open(path, access: .readOnly)

        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"], time: Timestamp(nanoseconds: 1),
            fields: ["ts_heart_rate": .float(71)])
        _ = try writer.write(batch)

        let rows = try reader.rowCount()  // 1: a reader sees every commit that was acknowledged
        // End of snippet
        #expect(rows == 1)
        #expect(try runWorker(path, statement: "SELECT ts_heart_rate FROM dev").series.count == 1)
        try writer.close()
    }

    @Test func `the article's loop waits for the lock`() async throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        let writer = try await Database.open(path)
        let next = Task { try await openWhenFree(path, attempts: 600) }
        try await Task.sleep(for: .milliseconds(20))
        try await writer.close()
        try await next.value.close()
    }
}
