// Trouble at every call of a repair that rebuilds a lost manifest: the next repair makes what the
// first one would have made. Files that an unfinished one wrote must not win over intact ones.

import CozTestSupport
import Testing

@testable import CozDB

struct RepairFaultTests {
    /// Every call with `COZDB_FAULTS`; else some.
    private static let step = SeededFaultTests.isThorough ? 1 : 5

    enum Manifests: CaseIterable {
        case lost
        /// An older one, where the newer segments are intact and no log has anything.
        case olderOfClosed
        /// An older one, and no lock that tells it.
        case older
    }

    /// A database whose first segment is damaged. A newer segment, which an older manifest does not
    /// name, has another value for one of its rows, and a log has a refusal.
    private func damaged(_ manifests: Manifests) throws -> FaultyFileSystem {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        func write(_ rows: Range<Int64>, _ value: Int64) throws {
            var batch = WriteBatch()
            for row in rows {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: row), fields: ["f": .integer(value * row)])
            }
            _ = try database.write(batch)
        }
        try write(0..<2000, 7)
        let manifest = system["db/MANIFEST"]
        try database.flush()
        try write(30..<31, 1000)
        try database.flush()
        if manifests == .olderOfClosed {
            try database.close()
            let closed = system.survivor(.nothing)
            closed["db/MANIFEST"] = manifest
            return closed
        }
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 5000),
            fields: ["f": .string("refused"), "g": .float(1)])
        _ = try database.write(batch)
        let killed = system.survivor(.nothing)
        let segment = try #require(killed.files.first { $0.hasSuffix(".seg") })
        killed[segment][killed[segment].count / 2] ^= 1
        switch manifests {
        case .olderOfClosed: break
        case .lost: killed["db/MANIFEST"] = Array(repeating: 9, count: 500)
        case .older:
            killed["db/MANIFEST"] = manifest
            killed.erase("db/LOCK")
        }
        return killed
    }

    private struct Outcome: Equatable {
        var values: [Int64?]
        var refusals: Int

        init(_ system: FaultyFileSystem) throws {
            let database = try SoundDatabase.open(system)
            let answer = try database.query("SELECT f FROM m WHERE time = 30").series
            values = answer.first?.columns[1].integers ?? []
            var count = 0
            try database.rejects { _ in
                count += 1
                return true
            }
            refusals = count
            try database.close()
        }
    }

    @Test(arguments: FaultTests.Trouble.allCases, Manifests.allCases)
    func `a repair after an unfinished one makes what that would have made`(
        trouble: FaultTests.Trouble, manifests: Manifests
    ) throws {
        let damaged = try damaged(manifests)
        let whole = damaged.survivor(.nothing)
        _ = try Examination.repair(whole)
        #expect(whole.files.contains("db/REPAIR") == false)
        let expected = try Outcome(whole.survivor(.nothing))
        #expect(expected.values == [30_000])
        #expect(expected.refusals == (manifests == .olderOfClosed ? 0 : 1))
        var unfinished = 0
        let kind = FaultTests.Trouble.allCases.firstIndex(of: trouble) ?? 0
        for call in stride(from: kind % Self.step, to: whole.callCount, by: Self.step) {
            let system = damaged.survivor(.nothing, faults: [.init(at: call, trouble.kind(call))])
            if (try? Examination.repair(system)) == nil {
                unfinished += 1
            } else if whole.calls[call].hasPrefix("pread"), !trouble.isHarmless {
                // What a device does not give is lost, and the repair finishes without it.
                continue
            }
            for loss in [.nothing] + trouble.losses(call) {
                let what: Comment = "\(trouble) at call \(call), \(whole.calls[call]), \(loss)"
                let rest = system.survivor(loss)
                // A writer that comes in between takes nothing away.
                try? SoundDatabase.open(rest).close()
                _ = try Examination.repair(rest)
                #expect(try Outcome(rest) == expected, what)
                #expect(rest.files.contains("db/REPAIR") == false, what)
                #expect(try Examination.check(rest).isEmpty, what)
            }
        }
        if !trouble.isHarmless { #expect(unfinished > 0) }
    }

    @Test func `the newest manifest ends an unfinished repair`() throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        _ = try database.write(SoundDatabase.batch(1, rowCount: 10))
        try database.close()
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let manifest = try #require(try Manifest.read(in: directory))
        try RepairMark(
            databaseID: manifest.databaseID, firstNumber: manifest.nextFileNumber,
            generation: manifest.generation, adopts: true
        ).write(in: directory)
        let leftover = "db/" + FileName.segment(manifest.nextFileNumber).text
        system.add(leftover, [1])
        #expect(throws: DatabaseError.self) { try SoundDatabase.open(system) }
        #expect(try Examination.repair(system).isEmpty)
        #expect(!system.files.contains("db/REPAIR") && !system.files.contains(leftover))
        try SoundDatabase.open(system).close()
    }

    @Test(arguments: ["stale", "torn", "changed"])
    func `a mark of another time takes nothing from a repair`(kind: String) throws {
        let system = FaultyFileSystem()
        let database = try SoundDatabase.open(system)
        _ = try database.write(SoundDatabase.batch(1, rowCount: 10))
        try database.close()
        let contents = try Contents(SoundDatabase.open(system, .readOnly))
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let manifest = try #require(try Manifest.read(in: directory))
        try RepairMark(
            databaseID: manifest.databaseID, firstNumber: 1,
            generation: manifest.generation - (kind == "stale" ? 1 : 0), adopts: false
        ).write(in: directory)
        if kind == "torn" { system["db/REPAIR"].removeLast() }
        if kind == "changed" { system["db/REPAIR"][3] ^= 1 }
        var notes: [CheckFinding] = []
        _ = try Database.check("db", on: system) { notes.append($0) }
        #expect(notes.contains { $0.file == "REPAIR" && $0.severity == .note })
        system.erase("db/MANIFEST")
        _ = try Examination.repair(system)
        #expect(try Contents(SoundDatabase.open(system, .readOnly)) == contents)
    }

    @Test func `a writer removes the mark of an unfinished repair`() throws {
        let system = FaultyFileSystem()
        try SoundDatabase.open(system).close()
        system.add("db/REPAIR", Array("3\n".utf8))
        let database = try SoundDatabase.open(system)
        #expect(system.files.contains("db/REPAIR") == false)
        try database.close()
    }
}
