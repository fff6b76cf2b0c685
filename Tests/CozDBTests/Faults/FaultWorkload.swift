// The workload that the fault tests run: a short life of a database, with everything in it that
// touches files. What must be found at its end, wherever it broke off, says FaultCheck.swift.

import CozTestSupport
import Testing

@testable import CozDB

/// A short life of a database: writes, deletions, flushes, merges, closing and opening again.
struct FaultWorkload {
    static let path = "db"

    /// What changes the contents: each of them whole or not at all.
    enum Change {
        case batch(Int)
        case statement(String)
    }

    /// In their order.
    static let changes: [Change] = [
        .batch(1), .batch(2), .batch(3), .batch(4), .batch(5),
        .statement("DELETE FROM dev WHERE id_participant = 'p1' AND time >= 20 AND time < 31"),
        .batch(6),
        .statement("DELETE heart FROM dev WHERE number >= 5"),
        .batch(7),
        .statement("DROP SERIES WHERE id_participant = 'p1'"),
        .batch(8),
        .statement("ALTER EXPERIMENT dev FIELD number TYPE float"),
        .batch(9),
        .statement("DROP MEASUREMENT \"öther\""),
    ]
    static let changeCount = changes.count

    var options = DatabaseOptions()

    /// An opening of the database: a run can begin with it where the one before left files.
    struct Session {
        var firstCall = 0
        /// Of the steps that follow.
        var step = 0
        var changeCount = 0
    }

    /// How far a run came before something failed.
    struct Progress {
        /// Changes that were reported.
        var acknowledged = 0
        /// Changes that were begun.
        var begun = 0
        var failure: DatabaseError?
        /// What readers got after the failure.
        var answer: Contents?
        /// Numbers of the first calls after each change was begun, and after it was reported.
        var begins: [Int] = []
        var ends: [Int] = []

        /// When the database was opened.
        var sessions: [Session] = []

        /// How far the run was before a call.
        func before(_ call: Int) -> Progress {
            var progress = Progress()
            progress.begun = begins.count { $0 <= call }
            progress.acknowledged = ends.count { $0 <= call }
            return progress
        }
    }

    init() {
        options.compactsInBackground = false
        options.retireSeconds = 0
    }

    enum Step {
        case change, flush, compact, reopen
    }

    static let steps: [Step] = [
        .change, .change, .flush, .change, .compact, .change, .reopen, .change, .change,
        .change, .change, .change, .compact, .change, .change, .change, .change, .compact,
        .change, .reopen,
    ]

    /// Two experiments, overwritten cells, refused values and points, new fields as it goes on.
    /// Makes frames and blocks of more than a page, because nothing compresses it.
    private static let noise: String = {
        var random = SeededRandom(seed: 6)
        return String(decoding: random.bytes(5000, in: 48...111), as: UTF8.self)
    }()

    static func batch(_ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.source = "file \(number)"
        for (experiment, participants) in [("dev", 2), ("öther", 1)] {
            for participant in 0..<participants {
                let tags = ["id_participant": "p\(participant)", "device": "d\(number % 2)"]
                let time = Timestamp(nanoseconds: Int64((number % 5) * 10 + participant))
                try batch.add(
                    experiment: experiment, tags: tags, time: time,
                    fields: [
                        "number": .integer(Int64(number)), "heart": .float(Double(number) / 4),
                        "new \(number / 6)": .string("text \(number) \(participant)"),
                    ])
            }
        }
        if number == 6 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p0", "device": "d\(number % 2)"],
                time: Timestamp(nanoseconds: 100 + Int64(number)),
                fields: ["noise": .string(noise)])
        }
        if number % 3 == 1 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p1"], time: Timestamp(nanoseconds: 7),
                fields: ["number": .string("not a number \(number)"), "heart": .float(1)])
            try batch.add(
                experiment: "dev", tags: ["device": "nobody's"], time: Timestamp(nanoseconds: 8),
                fields: ["heart": .float(Double(number))])
        }
        return batch
    }

    func open(
        _ system: FaultyFileSystem, _ access: DatabaseAccess = .readWrite
    ) throws(DatabaseError) -> Database {
        try Database.open(FaultWorkload.path, access: access, options: options, on: system)
    }

    /// Makes a change, counted from 1.
    static func make(_ number: Int, in database: Database) throws {
        switch changes[number - 1] {
        case .batch(let batch): _ = try database.write(FaultWorkload.batch(batch))
        case .statement(let text): _ = try database.execute(text)
        }
    }

    /// Runs until the end or the first failure. Where something failed, it is as in a process that
    /// goes on: readers still get answers, there is space again, and the database is closed.
    ///
    /// - Parameter session: with what to begin, on files that are as they were then.
    func run(on system: FaultyFileSystem, from session: Session = Session()) throws -> Progress {
        var progress = Progress()
        progress.begun = session.changeCount
        progress.acknowledged = session.changeCount
        progress.sessions.append(session)
        var open: Database?
        do {
            var database = try self.open(system)
            open = database
            for (index, step) in FaultWorkload.steps.enumerated().dropFirst(session.step) {
                switch step {
                case .change:
                    progress.begun += 1
                    progress.begins.append(system.callCount)
                    try FaultWorkload.make(progress.begun, in: database)
                    progress.acknowledged += 1
                    progress.ends.append(system.callCount)
                case .flush: try database.flush()
                case .compact: try database.compact()
                case .reopen:
                    open = nil
                    try database.close()
                    progress.sessions.append(
                        Session(
                            firstCall: system.callCount, step: index + 1,
                            changeCount: progress.begun))
                    database = try self.open(system)
                    open = database
                }
            }
            open = nil
            try database.close()
        } catch let error as DatabaseError {
            progress.failure = error
            progress.answer = open.flatMap { try? Contents($0) }
            system.freeSpace()
            try? open?.close()
        }
        system.freeSpace()
        return progress
    }

    /// What the database holds after each number of changes.
    static func prefixes() throws -> [Contents] {
        let system = FaultyFileSystem()
        let database = try FaultWorkload().open(system)
        var prefixes = [Contents()]
        for number in 1...changes.count {
            try make(number, in: database)
            prefixes.append(try Contents(database))
        }
        try database.close()
        return prefixes
    }
}
