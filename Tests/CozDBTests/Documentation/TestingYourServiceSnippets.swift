// The code of the article Testing your service, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

// Snippet: Make a database for each test
/// Calls the body with an empty database in memory.
func withTestDatabase(_ body: (Database) throws -> Void) throws {
    var options = DatabaseOptions()
    options.refusalPolicy = .throw  // a test notices every value that cannot be stored
    let database = try Database.inMemory(options: options)
    try body(database)
    try database.close()
}
// End of snippet

// Snippet: Make a database for each test
func withTestDatabase(_ body: (Database) async throws -> Void) async throws {
    var options = DatabaseOptions()
    options.refusalPolicy = .throw
    let database = try Database.inMemory(options: options)
    try await body(database)
    try await database.close()
}
// End of snippet

struct TestingYourServiceSnippets {
    private static func batch() throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"],
            time: Timestamp(nanoseconds: 1_709_280_000_000_000_000),
            fields: ["ts_heart_rate": 71.0])
        return batch
    }

    @Test func `the article's tests pass`() throws {
        // Snippet: Fix the clock
        try withTestDatabase { database in
            var batch = WriteBatch()
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p01"],
                time: Timestamp("2024-03-01T08:00:00Z") ?? .min,
                fields: ["ts_heart_rate": 71.0])
            _ = try database.write(batch)

            let options = QueryOptions(now: Timestamp("2024-03-01T09:00:00Z") ?? .min)
            let result = try database.query(
                "SELECT count(ts_heart_rate) FROM dev WHERE time > now() - 2h", options: options)
            #expect(result.series.first?.column("count")?.integers == [1])
        }
        // End of snippet
    }

    @Test func `the article's function for tasks gives a database and closes it`() async throws {
        var used: Database?
        try await withTestDatabase { database in
            used = database
            _ = try await database.write(Self.batch())
        }
        let database = try #require(used)
        await #expect(throws: DatabaseError.self) { try await database.info() }
    }

    @Test func `the article's errors happen`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        let database = try Database.open(path)
        _ = try database.write(Self.batch())
        // Snippet: Test the errors
        var options = QueryOptions()
        options.isCancelled = { true }
        let cancelled = #expect(throws: DatabaseError.self) {
            try database.query("SELECT ts_heart_rate FROM dev", options: options)
        }
        #expect(cancelled?.kind == .cancelled)

        let locked = #expect(throws: DatabaseError.self) { try Database.open(path) }
        #expect(locked?.kind == .locked)

        try database.close()
        let closed = #expect(throws: DatabaseError.self) { try database.flush() }
        #expect(closed?.kind == .closed)
        // End of snippet
    }

    @Test func `the article's copy is what a crash leaves`() throws {
        let (folder, other) = (TemporaryDirectory(), TemporaryDirectory())
        let (path, copy) = (folder.path, other.path)
        let batch = try Self.batch()
        // Snippet: Test a crash
        let database = try Database.open(path)
        _ = try database.write(batch)
        try FileManager.default.copyItem(atPath: path, toPath: copy)  // no close, no flush

        let recovered = try Database.open(copy)
        #expect(try recovered.rowCount() == 1)
        // End of snippet
        try recovered.close()
        try database.close()
    }

    /// What the article's list says, which has no code.
    @Test func `the article's other errors happen`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        #expect(kind { _ = try Database.open(path, access: .readOnly) } == .notFound)
        var options = DatabaseOptions()
        options.createsDatabase = false
        #expect(kind { _ = try Database.open(path, options: options) } == .notFound)

        options = DatabaseOptions()
        options.batchSizeBytesMax = 10
        let small = try Database.open(path, options: options)
        #expect(kind { _ = try small.write(Self.batch()) } == .limitExceeded)
        try small.close()

        let database = try Database.open(path)
        var batch = WriteBatch()
        for second in 0..<1000 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p01"],
                time: Timestamp(nanoseconds: Int64(second) * 1_000_000_000),
                fields: ["ts_heart_rate": .float(Double(second * second % 977) / 7)])
        }
        _ = try database.write(batch)
        var other = try Self.batch()
        other.settings.identity = .allTags
        #expect(kind { _ = try database.write(other) } == .usage)
        #expect(kind { _ = try database.query("SELECT") } == .usage)
        try database.close()

        let name = try #require(folder.files.keys.first { $0.hasSuffix(".seg") })
        let url = URL(fileURLWithPath: path + "/" + name)
        var bytes = try Data(contentsOf: url)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: url)
        let damaged = try Database.open(path, access: .readOnly)
        #expect(kind { _ = try damaged.query("SELECT ts_heart_rate FROM dev") } == .damaged)
    }

    private func kind(_ body: () throws -> Void) -> DatabaseError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.kind
        }
    }
}
