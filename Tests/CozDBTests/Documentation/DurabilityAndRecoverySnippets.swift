// The code of the article Durability and recovery, which DocumentationTests compares with the
// article.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

// Snippet: React to a failed write
/// A database that is opened again after a failed write or sync.
final class Storage: Sendable {
    private let path: String
    private let database: Mutex<Database>

    init(_ path: String) throws(DatabaseError) {
        self.path = path
        database = Mutex(try Database.open(path))
    }

    /// Writes a batch. After an error, the caller may write the same batch again.
    func write(_ batch: WriteBatch) throws(DatabaseError) -> WriteReport {
        let current = database.withLock { $0 }
        do {
            return try current.write(batch)
        } catch {
            switch error.kind {
            case .io, .closed, .locked: try reopen(current)
            default: break
            }
            throw error
        }
    }

    private func reopen(_ failed: Database) throws(DatabaseError) {
        try database.withLock { database throws(DatabaseError) in
            guard database === failed else { return }  // another thread has done it
            try? failed.close()
            database = try Database.open(path)
        }
    }
}
// End of snippet

struct DurabilityAndRecoverySnippets {
    private static func batch() throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"], time: Timestamp(nanoseconds: 1),
            fields: ["ts_heart_rate": .float(71)])
        return batch
    }

    @Test func `the article's options are taken`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Choose a durability
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 500)
        options.onEvent = { event in note("\(event)") }
        let database = try Database.open(path, options: options)
        // End of snippet
        _ = try database.write(Self.batch())
        try database.close()
    }

    @Test func `the article's storage opens the database again`() throws {
        let folder = TemporaryDirectory()
        let storage = try Storage(folder.path)
        _ = try storage.write(Self.batch())
        // A writer whose lock file is gone acknowledges nothing more.
        try FileManager.default.removeItem(atPath: folder.path + "/LOCK")
        let error = #expect(throws: DatabaseError.self) { try storage.write(Self.batch()) }
        #expect(error?.kind == .locked)
        #expect(try storage.write(Self.batch()).values == 1)
    }

    @Test func `the article's copies, checks and repairs run`() throws {
        let (folder, other) = (TemporaryDirectory(), TemporaryDirectory())
        let path = folder.path
        let (target, restored) = (other.path + "/backup", other.path + "/restored")
        try FileManager.default.createDirectory(
            atPath: other.path, withIntermediateDirectories: true)
        let database = try Database.open(path)
        _ = try database.write(Self.batch())

        // Snippet: Back up and restore
        let copied = try database.backup(to: target)
        // copied.lastCommit is the last commit that the backup has
        try Database.restore(target, to: restored)
        // End of snippet
        #expect(copied.lastCommit == 1)
        try database.close()

        // Snippet: Find damage
        var damage: [CheckFinding] = []
        let summary = try Database.check(path) { finding in damage.append(finding) }
        for finding in damage {
            note("\(finding.file): \(finding.found); lost: \(finding.lost)")
        }
        // summary.damaged is 0 if every byte is as it was written
        // End of snippet
        #expect(summary.damaged == 0 && damage.isEmpty)

        // Snippet: Repair
        let preview = try Database.repair(path, isDryRun: true)
        if !preview.isEmpty {
            let report = try Database.repair(path)
            note(report.lines.joined(separator: "\n"))
        }
        // End of snippet
        #expect(preview.isEmpty)
    }
}

private func note(_ text: String) {}
