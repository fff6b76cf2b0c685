// Writes of many tasks: a few threads do their work, whatever becomes of it.

internal import CozTestSupport
internal import Glibc
internal import Testing

@testable internal import CozDB

@Suite(.serialized, .timeLimit(.minutes(3))) struct AsyncWriteTests {
    private static func batch(_ task: Int, _ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(task)"],
            time: Timestamp(nanoseconds: Int64(number)), fields: ["x": .integer(Int64(number))])
        return batch
    }

    /// Writes from many tasks; returns what each of the calls said.
    private static func write(
        _ database: Database, tasks: Int, each count: Int
    ) async throws -> [Result<WriteReport, DatabaseError>] {
        try await withThrowingTaskGroup(of: [Result<WriteReport, DatabaseError>].self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var results: [Result<WriteReport, DatabaseError>] = []
                    for number in 0..<count {
                        let batch = try batch(task, number)
                        do throws(DatabaseError) {
                            results.append(.success(try await database.write(batch)))
                        } catch {
                            results.append(.failure(error))
                        }
                    }
                    return results
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @Test func `each commit of many tasks has its own number, and is there`() async throws {
        let folder = TemporaryDirectory()
        let database = try await Database.open(folder.path)
        let results = try await Self.write(database, tasks: 200, each: 20)
        let sequences = try results.map { try $0.get().sequence }
        #expect(sequences.sorted() == Array(1...4000))
        #expect(try database.rowCount() == 4000)
        try await database.close()
    }

    /// A commit is a write of the log and its sync. One of them fails.
    @Test(arguments: 0..<8)
    func `each task hears of a failure of the log, and nothing acknowledged is lost`(
        call: Int
    ) async throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: system)
        _ = try await Self.write(database, tasks: 1, each: 1)
        let failing = system.callCount + call
        system.add(.init(at: failing, .failure(EIO)))
        let changes = try database.commits()
        let results = try await Self.write(database, tasks: 50, each: 10)
        let acknowledged = results.count { (try? $0.get()) != nil }
        for case .failure(let error) in results { #expect(error.kind == .io) }
        // A commit needs the log. It goes on without its size in LOCK.
        let isOfLog = system.calls[failing].contains(".wal")
        #expect(results.count == 500 && (acknowledged < 500) == isOfLog)
        // Observers hear of it, too.
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.experiments == ["dev"])
        try? await database.close()
        let again = try Database.open(
            "db", access: .readOnly, options: DatabaseOptions(), on: system.survivor(.everything))
        // The first row of task 0 was there before.
        #expect(try again.rowCount() >= acknowledged)
    }

    @Test func `closing waits for what was written before`() async throws {
        for round in 0..<50 {
            let system = FaultyFileSystem()
            var options = DatabaseOptions()
            options.changeThreadCountMax = round % 5 + 1
            let database = try Database.open("db", access: .readWrite, options: options, on: system)
            async let written = Self.write(database, tasks: 30, each: 5)
            for _ in 0..<round { await Task.yield() }
            try await database.close()
            let results = try await written
            let acknowledged = results.count { (try? $0.get()) != nil }
            for case .failure(let error) in results { #expect(error.kind == .closed) }
            let again = try Database.open("db", access: .readOnly, options: options, on: system)
            #expect(try again.rowCount() == acknowledged)
        }
    }

    @Test func `writes go on beside deletions, flushes and refused batches`() async throws {
        var options = DatabaseOptions()
        options.memtableSizeBytesMax = 1 << 16
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        _ = try await Self.write(database, tasks: 1, each: 1)
        async let written = Self.write(database, tasks: 40, each: 50)
        for number in 0..<20 {
            _ = try await database.delete(
                experiment: "dev", tags: ["id_participant": "none \(number)"])
            try await database.flush()
            _ = try? await database.write(WriteBatch())
        }
        let results = try await written
        for result in results { #expect(try result.get().values == 1) }
        #expect(try database.rowCount() == 2000)
        try await database.close()
    }
}
