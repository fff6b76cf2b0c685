// The end of a writer: what others are in the middle of, and what a writer that lost its lock may
// still touch.

import CozTestSupport
import Foundation
import Synchronization
import Testing

@testable import CozDB

struct CloseTests {
    private static func batch(_ time: Int64, experiment: String = "m") throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: experiment, tags: ["id_participant": "p"],
            time: Timestamp(nanoseconds: time), fields: ["v": .integer(time)])
        return batch
    }

    private static func times(_ database: Database) throws -> Set<Int64> {
        let series = try database.query("SELECT v FROM m").series
        return Set(series.first?.times.map(\.nanoseconds) ?? [])
    }

    @Test func `after the end every call says that it is closed`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        _ = try database.write(Self.batch(1))
        try database.close()
        try database.close()
        let calls: [() throws -> Void] = [
            { _ = try database.write(Self.batch(2)) }, { try database.flush() },
            { try database.compact() }, { _ = try database.query("SELECT v FROM m") },
            { try database.rejects { _ in true } }, { _ = try database.forgottenList() },
            { _ = try database.forget(["p"]) }, { _ = try database.replayRejects() },
            { try database.alter(experiment: "m", field: "v", type: .string) },
        ]
        for (index, call) in calls.enumerated() {
            let error = #expect(throws: DatabaseError.self, "call \(index)") { try call() }
            #expect(error?.kind == .closed, "call \(index): \(error?.message ?? "")")
        }
    }

    @Test func `a device that fails in the last merge is told of, and every row is there`() throws {
        let system = FaultyFileSystem()
        func open(_ access: DatabaseAccess = .readWrite) throws -> Database {
            try Database.open("db", access: access, options: DatabaseOptions(), on: system)
        }
        for time in 0..<3 as Range<Int64> {
            let database = try open()
            _ = try database.write(Self.batch(time))
            if time == 2 {
                for path in system.files where path.hasSuffix(".seg") {
                    system.makeUnreadable(path, 0..<system[path].count)
                }
                let error = #expect(throws: DatabaseError.self) { try database.close() }
                #expect(error?.kind == .io, "\(error!)")
                #expect(error?.message.contains("All acknowledged rows are") == true)
            } else {
                // No merge yet: the segments stay apart.
                try database.flush()
                try database.close()
            }
        }
        for path in system.files { system.makeUnreadable(path, 0..<0) }
        #expect(try Self.times(open(.readOnly)) == [0, 1, 2])
        // The lock is free, and the merge can be made up for.
        let next = try open()
        try next.compact()
        try next.close()
        #expect(try Self.times(open(.readOnly)) == [0, 1, 2])
    }

    /// What a writer does whose lock was removed while it was open.
    @Test(arguments: ["flush", "close", "compact", "delete", "write"])
    func `a writer that lost its lock leaves the files of the next one alone`(
        call: String
    ) throws {
        let directory = TemporaryDirectory()
        let stale = try Database.open(directory.path)
        for time in 0..<100 as Range<Int64> { _ = try stale.write(Self.batch(time)) }
        try FileManager.default.removeItem(atPath: directory.path + "/LOCK")
        let fresh = try Database.open(directory.path)
        let error = #expect(throws: DatabaseError.self) {
            switch call {
            case "flush": try stale.flush()
            case "close": try stale.close()
            case "compact": try stale.compact()
            case "delete": _ = try stale.execute("DELETE FROM m WHERE time < 50")
            default: _ = try stale.write(Self.batch(1000))
            }
        }
        #expect(error?.kind == .locked)
        _ = try fresh.write(Self.batch(100))
        try fresh.close()
        try? stale.close()
        #expect(try Database.check(directory.path) { _ in }.damaged == 0)
        #expect(try Self.times(Database.open(directory.path, access: .readOnly)) == Set(0...100))
    }

    /// Beside threads that write.
    enum Company: CaseIterable {
        case nobody, flush, compact, delete, alter, close
    }

    @Test(arguments: Company.allCases)
    func `calls beside a close are done or refused, and never half of both`(
        company: Company
    ) throws {
        for round in 0..<12 as Range<Int64> {
            let directory = TemporaryDirectory()
            var options = DatabaseOptions()
            options.memtableSizeBytesMax = 1 << 20
            let database = try Database.open(directory.path, options: options)
            for name in ["m", "other"] { _ = try database.write(Self.batch(0, experiment: name)) }
            let acknowledged = Mutex<Set<Int64>>([])
            let next = Atomic<Int64>(0)
            @Sendable func write() {
                do {
                    while true {
                        let time = next.add(1, ordering: .relaxed).newValue
                        _ = try database.write(Self.batch(time))
                        acknowledged.withLock { _ = $0.insert(time) }
                    }
                } catch {
                    #expect((error as? DatabaseError)?.kind == .closed, "\(error)")
                }
            }
            @Sendable func accompany() {
                do {
                    while true {
                        switch company {
                        case .nobody: return
                        case .flush: try database.flush()
                        case .compact: try database.compact()
                        case .delete: _ = try database.execute("DELETE FROM m WHERE time < 0")
                        case .alter:
                            _ = try database.write(Self.batch(1, experiment: "other"))
                            try database.alter(experiment: "other", field: "v", type: .string)
                            return
                        case .close: return try database.close()
                        }
                    }
                } catch {
                    #expect((error as? DatabaseError)?.kind == .closed, "\(error)")
                }
            }
            let threads = [write, write, write, accompany].map { body in
                let thread = Thread { body() }
                thread.start()
                return thread
            }
            usleep(UInt32(1000 * (round % 4) + 2000))
            try database.close()
            // While the last calls are returning.
            let known = acknowledged.withLock { $0 }
            let following = try Database.open(directory.path, options: options)
            #expect(try Self.times(following).isSuperset(of: known), "\(company), \(round)")
            while threads.contains(where: { !$0.isFinished }) { usleep(500) }
            _ = try following.write(Self.batch(-1))
            try following.close()
            let all = acknowledged.withLock { $0 }
            #expect(try Database.check(directory.path) { _ in }.damaged == 0)
            let last = try Database.open(directory.path, access: .readOnly)
            #expect(try Self.times(last).isSuperset(of: all.union([-1])), "\(company), \(round)")
        }
    }
}
