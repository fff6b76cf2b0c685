// What a database tells an operator while it works.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

struct DatabaseEventTests {
    private let folder = TemporaryDirectory()

    private final class Events: Sendable {
        let all = Mutex<[DatabaseEvent]>([])

        var options: DatabaseOptions {
            var options = DatabaseOptions()
            options.onEvent = { event in self.all.withLock { $0.append(event) } }
            return options
        }

        var lines: [String] { all.withLock { $0.map(\.description) } }
    }

    private func write(_ database: Database, _ time: Int64) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p1"],
            time: Timestamp(nanoseconds: time), fields: ["x": .integer(time)])
        _ = try database.write(batch)
    }

    @Test func `flushes and merges are told with their sizes`() throws {
        let events = Events()
        let database = try Database.open(folder.path, options: events.options)
        for time in 0..<20 {
            try write(database, Int64(time))
            try database.flush()
        }
        try database.close()
        var (flushes, inputs, outputs) = (0, 0, 0)
        for event in events.all.withLock({ $0 }) {
            switch event {
            case .flushed(let sizeBytes, let duration):
                flushes += 1
                #expect(sizeBytes > 0 && duration > .zero)
            case .merged(let from, let into, let sizeBytes):
                inputs += from
                outputs += into
                #expect(from > into && sizeBytes > 0)
            default: Issue.record("\(event)")
            }
        }
        // In the end one segment is left of the twenty.
        #expect(flushes == 20 && inputs - outputs == 19)
    }

    @Test func `a recovery is told with the number of commits`() throws {
        let path = folder.path
        try released {
            let database = try Database.open(path)
            for time in 0..<7 { try write(database, Int64(time)) }
        }
        let events = Events()
        let database = try Database.open(path, options: events.options)
        #expect(events.lines.first == "recovered 7 commits from the log")
        try database.close()
    }

    /// Releases what a body opened, without closing it.
    private func released(_ body: () throws -> Void) rethrows { try body() }

    @Test func `the end of writing is told once, with the error`() throws {
        let events = Events()
        let database = try Database.open(folder.path, options: events.options)
        try write(database, 1)
        // A writer whose lock file is gone acknowledges nothing more.
        try FileManager.default.removeItem(atPath: folder.path + "/LOCK")
        for _ in 0..<3 { #expect(throws: DatabaseError.self) { try write(database, 2) } }
        let stops = events.all.withLock { $0 }.compactMap { event in
            if case .stoppedWriting(let error) = event { error } else { nil }
        }
        #expect(stops.map(\.kind) == [.locked])
        #expect(events.lines.last?.hasPrefix("stopped writing: ") == true)
    }
}
