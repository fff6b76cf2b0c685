// Readers that open a database while short sessions of writers follow each other.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

struct LiveReaderTests {
    @Test func `a reader tries again to open what it could not open`() throws {
        let system = FaultyFileSystem()
        try LiveReaderTests.session(["e"], 1, on: system)
        let segment = try #require(system.files.first { $0.hasSuffix(".seg") })
        let reader = try Database.open(
            "db", access: .readOnly, options: DatabaseOptions(), on: system)
        let bytes = system[segment]
        system.erase(segment)
        #expect(throws: DatabaseError.self) { try reader.query("SELECT * FROM e") }
        system.add(segment, bytes)
        #expect(try reader.query("SELECT * FROM e").series.count == 1)
    }

    /// A directory in which a whole session of a writer passes each time that a few files were
    /// opened.
    private final class Chained: ReadingDirectory {
        struct Counts {
            /// Tries of the reader: each begins with the manifest.
            var tries = 0
            var openings = 0
        }

        let counts = Mutex(Counts())
        let directory: any Directory
        private let system: FaultyFileSystem
        private let openingsPerSession: Int

        init(_ system: FaultyFileSystem, openingsPerSession: Int) throws {
            directory = try system.openDirectory("db", create: false, access: .ownerOnly)
            self.system = system
            self.openingsPerSession = openingsPerSession
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            let number = counts.withLock { counts in
                if FileName(name) == .manifest { counts.tries += 1 }
                counts.openings += 1
                return counts.openings
            }
            if number % openingsPerSession == 0 {
                do {
                    let session = number / openingsPerSession
                    try LiveReaderTests.session(["e\(session * 17 % 40)"], number, on: system)
                } catch {
                    Issue.record("\(error)")
                }
            }
            return try directory.open(name, writable: writable)
        }

        func isUnchanged(_ name: String, since file: any File) -> Bool {
            directory.isUnchanged(name, since: file)
        }
    }

    /// Opens, writes a row of each experiment, and closes, which merges their segments.
    private static func session(
        _ experiments: [String], _ number: Int, on system: FaultyFileSystem
    ) throws {
        // Files go as soon as no manifest names them.
        var options = DatabaseOptions()
        options.retireSeconds = 0
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        var batch = WriteBatch()
        for experiment in experiments {
            try batch.add(
                experiment: experiment, tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(number)), fields: ["n": .integer(1)])
        }
        _ = try database.write(batch)
        try database.close()
    }

    @Test(arguments: [3, 4, 6, 12])
    func `a reader comes through between short sessions of writers`(
        openingsPerSession: Int
    ) throws {
        let system = FaultyFileSystem()
        try Self.session((0..<40).map { "e\($0)" }, -1, on: system)
        let directory = try Chained(system, openingsPerSession: openingsPerSession)
        let snapshot = try LiveReader(directory).snapshot()
        let counts = directory.counts.withLock { $0 }
        // What was opened before stays open, so that each try has fewer files left to open.
        #expect((2...5).contains(counts.tries), "\(counts)")
        #expect(counts.openings < 2 * 44, "\(counts)")
        #expect(snapshot.experiments.count == 40 && snapshot.sequence > 1)
        for view in snapshot.experiments { #expect(try view.rowCount() > 0) }
    }
}
