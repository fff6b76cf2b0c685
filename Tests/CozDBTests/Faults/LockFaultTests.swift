// Crashes and failures at the calls that write LOCK: one of its records is always whole, and
// `check` takes nothing for damage that a writer left.

import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

struct LockFaultTests {
    private typealias Fault = FaultyFileSystem.Fault

    /// A session that writes, with trouble.
    private static func session(
        _ start: FaultyFileSystem, _ faults: [Fault] = [], writes: Bool = true
    ) -> FaultyFileSystem {
        let system = start.survivor(.nothing, faults: faults)
        if let database = try? LockTests.open(system) {
            if writes { try? LockTests.write(database, 20..<23) }
            try? database.close()
        }
        return system
    }

    @Test func `a failed write and an end inside of the next one leave a record whole`() throws {
        let base = try LockTests.closed(sessions: 2).system
        let calls = Self.session(base).calls
        for first in calls.indices where calls[first] == "pwrite db/LOCK" {
            for kind in [Fault.Kind.failure(EIO), .space(ENOSPC, .once)] {
                let failed = Self.session(base, [.init(at: first, kind)]).calls
                let next = failed.indices.first { $0 > first && failed[$0] == "pwrite db/LOCK" }
                guard let next else { continue }
                let faults: [Fault] = [.init(at: first, kind), .init(at: next, .crash)]
                let left = Self.session(base, faults).survivor(.nothing)
                #expect(
                    AcknowledgedState(left["db/LOCK"]) != nil, "\(kind) at \(first), end at \(next)"
                )
                #expect(try Examination.check(left).isEmpty)
                try LockTests.open(left).close()
            }
        }
    }

    @Test func `an end before the last sync, then a power loss, leave a record whole`() throws {
        let base = try LockTests.closed(sessions: 2).system
        let closing = Self.session(base).calls
        let last = try #require(closing.lastIndex { $0 == "fdatasync db/LOCK" })
        for kind in [Fault.Kind.kill(.before), .failure(EIO), .reverted(EIO)] {
            let ended = Self.session(base, [.init(at: last, kind)])
            let opening = Self.session(ended, writes: false).calls
            for call in opening.indices where opening[call].hasSuffix("LOCK") {
                let again = Self.session(ended, [.init(at: call, .kill(.before))], writes: false)
                for seed in 0..<50 {
                    let left = again.survivor(.random(seed: UInt64(seed)))
                    let found = try Examination.check(left)
                    #expect(found.isEmpty, "\(kind), end at \(call), seed \(seed): \(found)")
                }
            }
        }
    }

    @Test func `an opening or repair that ends where the lock is missing changes nothing`() throws {
        let base = try LockTests.closed(sessions: 2).system
        base.erase("db/LOCK")
        func run(_ isRepair: Bool, _ faults: [Fault] = []) -> FaultyFileSystem {
            let system = base.survivor(.nothing, faults: faults)
            if isRepair {
                _ = try? Examination.repair(system)
            } else {
                try? LockTests.open(system).close()
            }
            return system
        }
        for isRepair in [false, true] {
            let calls = run(isRepair).calls
            for call in calls.indices {
                let ended = run(isRepair, [.init(at: call, .crash)])
                for loss in FaultyFileSystem.Loss.variants(seed: UInt64(call)) {
                    let rows = LockTests.failure { try LockTests.rows(ended.survivor(loss)) }
                    #expect(rows == nil, "repair \(isRepair), \(calls[call]), \(loss)")
                }
            }
        }
    }

    // MARK: Several in a row

    /// Something that writes, with trouble or without.
    private static func work(_ system: FaultyFileSystem, _ kind: Int) {
        if kind == 0 {
            _ = try? Examination.repair(system)
            return
        }
        guard let database = try? LockTests.open(system) else { return }
        do {
            switch kind {
            case 1: try LockTests.write(database, 50..<52)
            case 2:
                try LockTests.write(database, 60..<62)
                try database.flush()
                try LockTests.write(database, 62..<63)
            case 3:
                try LockTests.write(database, 70..<72)
                try database.compact()
            case 4: _ = try database.execute("DELETE FROM m WHERE time >= 12")
            case 5:
                try database.compact()
                try LockTests.write(database, 90..<93)
                try database.flush()
            default: break
            }
        } catch {}
        try? database.close()
    }

    /// Up to three times some work with up to two faults and perhaps a power loss.
    private static func trouble(
        _ system: inout FaultyFileSystem, _ random: inout SeededRandom
    ) throws {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let kind = Int.random(in: 0...6, using: &random)
            if kind == 0, let segment = system.files.first(where: { $0.hasSuffix(".seg") }) {
                system[segment][system[segment].count / 3] ^= 1
            }
            let whole = system.survivor(.nothing)
            work(whole, kind)
            let calls = whole.calls.indices.filter { call in
                ["LOCK", "MANIFEST", "fsync"].contains { whole.calls[call].contains($0) }
            }
            let faults = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                Fault(
                    at: Bool.random(using: &random)
                        ? calls.randomElement(using: &random) ?? 0
                        : Int.random(in: 0..<whole.callCount, using: &random),
                    SeededFaultTests.kind(&random))
            }
            let ended = system.survivor(.nothing, faults: faults)
            work(ended, kind)
            system = ended.survivor(
                Bool.random(using: &random) ? .nothing : SeededFaultTests.loss(&random))
            let found = try Examination.check(system)
            #expect(
                Set(found.map(\.file)).isDisjoint(with: ["LOCK", "MANIFEST"]),
                "\(kind), \(faults): \(found)")
            if found.isEmpty { continue }
            #expect(kind == 0, "\(kind), \(faults): \(found)")
            _ = try Examination.repair(system)
            #expect(try Examination.check(system).isEmpty)
        }
    }

    @Test func `several ends and failures in a row leave manifest and lock that agree`() throws {
        let sound = try LockTests.closed(sessions: 3).system
        let count = UInt64(SeededFaultTests.isThorough ? SeededFaultTests.seedCount : 200)
        for seed in SeededFaultTests.onlySeed.map({ [$0] }) ?? Array(0..<count) {
            var random = SeededRandom(seed: seed)
            var system = sound.survivor(.nothing)
            do {
                try Self.trouble(&system, &random)
                let database = try LockTests.open(system)
                try LockTests.write(database, 100..<102)
                try database.close()
                #expect(try Examination.check(system).isEmpty, "seed \(seed)")
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }
}

/// What a check sees of a lock that is being written.
struct LockBesideWriterTests {
    /// A directory in which LOCK changes each time that somebody reads it, at first.
    private final class Restless: ReadingDirectory {
        let directory: any Directory
        private let system: FaultyFileSystem
        private let contents: Mutex<[[UInt8]]>

        init(_ system: FaultyFileSystem, _ contents: [[UInt8]]) throws {
            directory = try system.openDirectory("db", create: false, access: .ownerOnly)
            self.system = system
            self.contents = Mutex(contents)
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            if FileName(name) == .lock {
                contents.withLock { left in
                    if !left.isEmpty { system["db/LOCK"] = left.removeFirst() }
                }
            }
            return try directory.open(name, writable: writable)
        }
    }

    @Test func `a lock that is seen in the middle of a write is read again`() throws {
        let system = try LockTests.closed(sessions: 2).system
        let manifest = try Manifest(decoding: system["db/MANIFEST"])
        let lock = system["db/LOCK"]
        // What a writer overtakes while it is read has an old beginning and a new end.
        let torn = (0..<4).map { index in
            var bytes = lock
            bytes[100 + index] ^= 1
            return bytes
        }
        let writing = try LockCheck(manifest, in: Restless(system, torn + [lock]))
        #expect(writing.problem == nil && !writing.hasTornRecord)
        let changed = try LockCheck(manifest, in: Restless(system, [torn[0], torn[1]]))
        #expect(changed.problem == nil && changed.hasTornRecord, "it stays like that")
        // A file that never reads the same twice is being written.
        let busy = try LockCheck(
            manifest, in: Restless(system, Array(repeating: torn, count: 20).flatMap { $0 }))
        #expect(busy.problem == nil && !busy.hasTornRecord)
    }
}
