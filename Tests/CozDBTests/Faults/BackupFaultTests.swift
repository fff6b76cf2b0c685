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

    @Test(arguments: Stage.allCases, FaultTests.Trouble.allCases)
    func `trouble at any call leaves the source whole and no false copy`(
        stage: Stage, trouble: FaultTests.Trouble
    ) throws {
        let start = try stage.system()
        let source = stage == .restore ? "backup" : "db"
        let expected = try BackupSample.contents(source, start)
        let earlier =
            stage == .further || stage == .longerLog
            ? try BackupSample.contents("backup", start) : nil
        let files = sourceFiles(start, source)
        let whole = start.survivor(.nothing)
        try stage.run(whole)
        #expect(whole.callCount > 40)
        for call in 0..<whole.callCount {
            let system = start.survivor(
                .nothing, faults: [.init(at: call, trouble.kind())])
            let what: Comment = "\(stage), \(trouble) at \(call), \(whole.calls[call])"
            var isDone = true
            do throws(DatabaseError) {
                try stage.run(system)
            } catch {
                isDone = false
            }
            let left = system.survivor(trouble.loss(call))
            let isUntouched = sourceFiles(left, source) == files
            #expect(isUntouched, what)
            do {
                let found = try BackupSample.open(stage.target, .readOnly, on: left)
                let contents = try Contents(found)
                let isKnown = contents == expected || !isDone && contents == earlier
                #expect(isKnown, what)
                #expect(try BackupSample.damage(stage.target, left) == [], what)
            } catch let error as DatabaseError {
                #expect(!isDone && earlier == nil, "\(what): \(error)")
                #expect(error.kind == .notFound, "\(what): \(error)")
            }
            // Nobody can take what is there for a database to write to.
            if stage != .restore {
                #expect(throws: DatabaseError.self, what) {
                    var options = BackupSample.options()
                    options.createsDatabase = false
                    _ = try Database.open("backup", access: .readWrite, options: options, on: left)
                }
            }
            try finish(stage, left, expected, what)
        }
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

    private func sourceFiles(_ system: FaultyFileSystem, _ path: String) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for file in system.files where file.hasPrefix(path + "/") { files[file] = system[file] }
        return files
    }
}
