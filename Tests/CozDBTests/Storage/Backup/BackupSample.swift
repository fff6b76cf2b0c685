// A small database in a file system of its own, and what a backup of it may be found to be.

import CozTestSupport
import Testing

@testable import CozDB

/// The steps of a backup's tests; directories `db`, `backup` and `restored` of one file system.
enum BackupSample {
    static func options() -> DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 0
        return options
    }

    static func open(
        _ path: String = "db", _ access: DatabaseAccess = .readWrite, on system: FaultyFileSystem
    ) throws(DatabaseError) -> Database {
        try Database.open(path, access: access, options: options(), on: system)
    }

    @discardableResult
    static func backup(
        _ system: FaultyFileSystem, _ options: BackupOptions = BackupOptions()
    ) throws(DatabaseError) -> BackupReport {
        try Database.backup("db", to: "backup", options: options, on: system)
    }

    @discardableResult
    static func restore(_ system: FaultyFileSystem) throws(DatabaseError) -> BackupReport {
        try Database.restore("backup", to: "restored", options: RestoreOptions(), on: system)
    }

    static func contents(_ path: String, _ system: FaultyFileSystem) throws -> Contents {
        try Contents(open(path, .readOnly, on: system))
    }

    /// Everything that is wrong with a database.
    static func damage(_ path: String, _ system: FaultyFileSystem) throws -> [String] {
        var found: [String] = []
        _ = try Database.check(path, on: system) { finding in
            if finding.severity == .damage { found.append("\(finding.file): \(finding.found)") }
        }
        return found
    }

    /// A writer that was killed: segments, refusals, and commits in an open log.
    static func killedWriter() throws -> FaultyFileSystem {
        let system = FaultyFileSystem()
        let database = try open(on: system)
        for number in 1...2 { _ = try database.write(FaultWorkload.batch(number)) }
        try database.flush()
        _ = try database.write(FaultWorkload.batch(4))
        return system.survivor(.everything)
    }

    /// A backup, and a log that went on after it until the writer was killed.
    static func writerBetweenBackups() throws -> FaultyFileSystem {
        let system = FaultyFileSystem()
        let database = try open(on: system)
        _ = try database.write(FaultWorkload.batch(1))
        try database.flush()
        _ = try database.write(FaultWorkload.batch(2))
        try backup(system)
        _ = try database.write(FaultWorkload.batch(4))
        return system.survivor(.everything)
    }

    /// What became of the writer's database later: commits and a deletion, and again an open log.
    static func goOn(_ system: FaultyFileSystem) throws -> FaultyFileSystem {
        let database = try open(on: system)
        _ = try database.write(FaultWorkload.batch(5))
        _ = try database.execute("DROP MEASUREMENT \"öther\"")
        _ = try database.write(FaultWorkload.batch(6))
        return system.survivor(.everything)
    }
}
