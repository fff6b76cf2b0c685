// Imports that run in tasks, and what cancelling a task does to them.

internal import CozDB
internal import CozTestSupport
internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import CozImport

struct AsyncImportTests {
    private let files = TemporaryFiles()

    /// Holds an import up after its first batch until its task is cancelled.
    private final class Pause: Sendable {
        let hasBegun = Atomic<Bool>(false)
        let isOver = Atomic<Bool>(false)

        func wait() {
            hasBegun.store(true, ordering: .releasing)
            while !isOver.load(ordering: .acquiring) { sched_yield() }
        }
    }

    private static func lines(_ count: Int) -> String {
        (0..<count).map { "dev,id_participant=p\($0 % 5) x=\($0) \($0)\n" }.joined()
    }

    @Test func `files and bytes are imported in tasks`() async throws {
        let database = try Database.inMemory()
        let path = files.write("a", Self.lines(100))
        var options = ImportOptions()
        options.settings.identity = .standard
        let report = try await importFiles([path], into: database, options: options)
        #expect(report.points == 100)
        let bytes = Array("dev,id_participant=p1 x=1 1000\n".utf8)
        let more = try await importBytes(bytes, name: "b", into: database, options: options)
        #expect(more.points == 1)
        #expect(try database.rowCount() == 101)
        let error = await #expect(throws: DatabaseError.self) {
            try await importFiles([path + ".none"], into: database, options: options)
        }
        #expect(error?.kind == .notFound)
    }

    @Test func `cancelling the task ends an import between batches`() async throws {
        let database = try Database.inMemory()
        let bytes = Array(Self.lines(50_000).utf8)
        let pause = Pause()
        let task = Task { () async throws(DatabaseError) in
            var options = ImportOptions()
            options.batchRows = 100
            options.committed = { _ in pause.wait() }
            return try await importBytes(bytes, name: "a", into: database, options: options)
        }
        while !pause.hasBegun.load(ordering: .acquiring) { await Task.yield() }
        task.cancel()
        pause.isOver.store(true, ordering: .releasing)
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        let rows = try database.rowCount()
        #expect(rows >= 100 && rows < 50_000 && rows % 100 == 0)
    }
}
