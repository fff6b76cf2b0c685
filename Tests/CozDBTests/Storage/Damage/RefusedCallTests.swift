// What the system does not let anybody read is told as that, and never taken for damage; what has
// the name of a file and is none, is named.

import CozTestSupport
import Glibc
import Testing

@testable import CozDB

struct RefusedCallTests {
    /// Small: everything is done once for each call.
    private static let closed = Result { try SoundDatabase(rowCount: 10) }
    private static let killed = Result { try SoundDatabase.killed(rowCount: 10) }

    /// A killed database of whose logs one has lost a frame.
    private static func broken() throws -> FaultyFileSystem {
        let killed = try killed.get()
        let system = killed.system.survivor(.nothing)
        let log = SoundDatabase.path(.log(try killed.manifest().logs[0].number))
        system[log][LogFormat.headerSizeBytes + LogFormat.frameHeaderSizeBytes] ^= 1
        return system
    }

    /// Runs something as often as it makes calls, refusing those from one on.
    private func refuse(
        _ base: FaultyFileSystem, _ body: (FaultyFileSystem) throws -> Void,
        _ check: (FaultyFileSystem, DatabaseError?, _ call: String) throws -> Void
    ) throws {
        let whole = base.survivor(.nothing)
        try body(whole)
        let calls = whole.calls
        for call in calls.indices {
            let faults = calls.indices[call...].map {
                FaultyFileSystem.Fault(at: $0, .failure(EMFILE))
            }
            let system = base.survivor(.nothing, faults: faults)
            let error = #expect(throws: DatabaseError.self, "\(calls[call])") { try body(system) }
            try check(system, error, calls[call])
        }
    }

    @Test func `a check that may not read says so`() throws {
        for base in [try Self.closed.get().system, try Self.killed.get().system] {
            try refuse(base, { _ = try Examination.check($0) }) { _, error, call in
                #expect(error?.kind == .io, "\(call): \(String(describing: error))")
            }
        }
    }

    @Test func `a repair that may not read changes nothing`() throws {
        let base = try Self.broken()
        let before = SoundDatabase.bytes(of: base)
        try refuse(base, { _ = try Examination.repair($0, isDryRun: true) }) {
            system, error, call in
            #expect(error?.kind == .io, "\(call): \(String(describing: error))")
            #expect(SoundDatabase.bytes(of: system) == before, "\(call)")
        }
    }

    @Test func `a repair without a manifest that may not read says so`() throws {
        let base = try Self.closed.get().system.survivor(.nothing)
        base.erase("db/MANIFEST")
        try refuse(base, { _ = try Examination.repair($0, isDryRun: true) }) { _, error, call in
            #expect(error?.kind == .io, "\(call): \(String(describing: error))")
        }
    }

    @Test func `folders in the place of files are named`() throws {
        let sound = try Self.closed.get()
        let segment = SoundDatabase.path(.segment(try sound.manifest().segments[0].number))
        for path in [segment, "db/LOCK"] {
            let system = sound.system.survivor(.nothing)
            system.erase(path)
            system.add(path + "/x", [])
            let found = try Examination.check(system)
            #expect(found.map { "db/" + $0.file } == [path], "\(found)")
        }
        let system = sound.system.survivor(.nothing)
        system.add("db/notes.txt", [1])
        var notes: [CheckFinding] = []
        _ = try Database.check("db", on: system) { notes.append($0) }
        #expect(notes.map(\.file) == ["notes.txt"] && notes[0].severity == .note)
        #expect(notes[0].found == "not a file of the database")
    }

    @Test func `a folder under the name of a leftover keeps a writer out, by name`() throws {
        let sound = try Self.closed.get()
        let system = sound.system.survivor(.nothing)
        system.add("db/00000999.seg/x", [])
        let error = #expect(throws: DatabaseError.self) { _ = try SoundDatabase.open(system) }
        #expect(error?.kind == .io)
        #expect(error?.file == "db/00000999.seg")
        #expect(error?.message.contains("found a folder with the name of a database file") == true)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == sound.contents)
    }

    @Test func `who holds the lock is unknown where that may not be read`() throws {
        let system = try Self.closed.get().system.survivor(.nothing)
        let holder = try SoundDatabase.open(system)
        func refused() -> DatabaseError? {
            #expect(throws: DatabaseError.self) { _ = try SoundDatabase.open(system) }
        }
        let start = system.callCount
        #expect(refused()?.message.contains("process ") == true)
        let calls = system.calls[start...]
        let opened = try #require(calls.lastIndex { $0 == "open db/LOCK" })
        system.add(.init(at: system.callCount + opened - start, .failure(EACCES)))
        let error = refused()
        #expect(error?.kind == .locked)
        #expect(error?.message.contains("(unknown)") == true, "\(String(describing: error))")
        try holder.close()
    }
}
