// A fault at every single call of a first backup, a further one and a restore: the source is never
// touched; the target is what it was, complete, or refused by name, and the next run finishes it.

import CozTestSupport
import Testing

@testable import CozDB

struct BackupFaultTests {
    enum Stage: CaseIterable {
        case first, further, longerLog, restore

        var target: String { self == .restore ? "restored" : "backup" }

        /// What the stage begins with.
        func system() throws -> FaultyFileSystem {
            if self == .longerLog { return try BackupSample.writerBetweenBackups() }
            var system = try BackupSample.killedWriter()
            if self == .first { return system }
            try BackupSample.backup(system)
            if self == .further { system = try BackupSample.goOn(system) }
            return system.survivor(.everything)
        }

        func run(_ system: FaultyFileSystem) throws(DatabaseError) {
            if self == .restore {
                try BackupSample.restore(system)
            } else {
                try BackupSample.backup(system)
            }
        }
    }

    /// What a stage begins with and ends with.
    private struct Plan {
        var stage: Stage
        var start: FaultyFileSystem
        var expected: Contents
        /// In the target before.
        var earlier: Contents?
        var sourceFiles: [String: [UInt8]]
        var source: String

        init(_ stage: Stage) throws {
            self.stage = stage
            start = try stage.system()
            source = stage == .restore ? "backup" : "db"
            expected = try BackupSample.contents(source, start)
            if stage == .further || stage == .longerLog {
                earlier = try BackupSample.contents("backup", start)
            }
            sourceFiles = Plan.files(of: source, start)
        }

        static func files(of path: String, _ system: FaultyFileSystem) -> [String: [UInt8]] {
            var files: [String: [UInt8]] = [:]
            for file in system.files where file.hasPrefix(path + "/") {
                files[file] = system[file]
            }
            return files
        }
    }

    @Test(arguments: Stage.allCases, FaultTests.Trouble.allCases)
    func `trouble at any call leaves the source whole and no false copy`(
        stage: Stage, trouble: FaultTests.Trouble
    ) throws {
        let plan = try Plan(stage)
        let whole = plan.start.survivor(.nothing)
        try stage.run(whole)
        #expect(whole.callCount > 40)
        let kind = FaultTests.Trouble.allCases.firstIndex(of: trouble) ?? 0
        // With COZDB_FAULTS every kind meets every call; else they share them out: every call
        // meets some, and every kind a fourth of the calls.
        let step = SeededFaultTests.isThorough ? 1 : 4
        var known: Set<[Int]> = []
        for call in 0..<whole.callCount where (call + kind) % step == 0 {
            let system = plan.start.survivor(
                .nothing, faults: [.init(at: call, trouble.kind(call))])
            var isDone = true
            do throws(DatabaseError) {
                try stage.run(system)
            } catch {
                isDone = false
            }
            // Where names are made durable there is more that may be left.
            let name = whole.calls[call]
            let isOfNames = name.hasPrefix("fsync") || name.hasPrefix("rename")
            var losses = [.nothing] + trouble.losses(call)
            if isOfNames, trouble == .killAfter {
                losses += FaultyFileSystem.Loss.variants(seed: UInt64(call))
            }
            for loss in losses {
                let left = system.survivor(loss)
                guard known.insert([left.fingerprint, isDone ? 1 : 0]).inserted else { continue }
                try judge(
                    left, plan, isDone: isDone,
                    "\(stage), \(trouble) at \(call), \(name), \(loss)")
            }
        }
    }

    private func judge(
        _ left: FaultyFileSystem, _ plan: Plan, isDone: Bool, _ what: Comment
    ) throws {
        let isUntouched = Plan.files(of: plan.source, left) == plan.sourceFiles
        #expect(isUntouched, what)
        let target = plan.stage.target
        do {
            let contents = try BackupSample.contents(target, left)
            let isKnown = contents == plan.expected || !isDone && contents == plan.earlier
            #expect(isKnown, what)
            #expect(try BackupSample.damage(target, left) == [], what)
        } catch let error as DatabaseError {
            #expect(!isDone && plan.earlier == nil, "\(what): \(error)")
            #expect(error.kind == .notFound, "\(what): \(error)")
        }
        // Nobody can take what is there for a database to write to.
        if plan.stage != .restore {
            var options = BackupSample.options()
            options.createsDatabase = false
            #expect(throws: DatabaseError.self, what) {
                _ = try Database.open(target, access: .readWrite, options: options, on: left)
            }
        }
        try finish(plan.stage, left, plan.expected, what)
    }

    /// The next run of the same command makes it whole.
    private func finish(
        _ stage: Stage, _ system: FaultyFileSystem, _ expected: Contents, _ what: Comment
    ) throws {
        do {
            try stage.run(system)
        } catch {
            // A restore that was done before refuses its directory.
            let isDone =
                system.files.contains("restored/MANIFEST")
                && !system.files.contains("restored/INCOMPLETE")
            #expect(stage == .restore && isDone, "\(what): \(error)")
        }
        let isWhole = try BackupSample.contents(stage.target, system) == expected
        #expect(isWhole, what)
        #expect(try BackupSample.damage(stage.target, system) == [], what)
        #expect(!system.files.contains { $0.hasSuffix(".new") }, what)
    }
}
