// The code of the article Operating, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

// Snippet: Back up
/// Backs up a database, verifies the backup, and returns what is wrong with it.
func backUpAndVerify(_ database: Database, to target: String) async throws -> [String] {
    var options = BackupOptions()
    options.verifiesReused = true
    try await database.backup(to: target, options: options)
    let findings = try await Database.check(target).findings
    return findings.filter { $0.severity == .damage }.map { "\($0.file): \($0.found)" }
}
// End of snippet

struct OperatingSnippets {
    @Test func `the article's calls run`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Set options
        var options = DatabaseOptions()
        options.fileAccess = .groupReadable
        options.memtableSizeBytesMax = 64 << 20
        options.queryLimits.memorySizeBytesMax = 1 << 30
        options.onEvent = { event in log("\(event)") }
        let database = try Database.open(path, options: options)
        // End of snippet
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p07"], time: Timestamp(nanoseconds: 1),
            fields: ["ts_heart_rate": .float(71)])
        _ = try database.write(batch)

        // Snippet: Watch
        let info = try database.info()
        let metrics = [
            "commits": Int(info.sequence), "disk_bytes": info.diskBytes,
            "segments": info.segments, "log_bytes": info.walBytes,
            "refused": info.rejects, "refused_and_lost": info.unkeptRejects,
        ]
        // End of snippet
        #expect(metrics["commits"] == 1 && metrics["refused_and_lost"] == 0)
        // Snippet: Forget a participant
        let preview = try database.forget(["p07"], isDryRun: true)
        log("would delete \(preview.deletion.rows) rows")
        let report = try database.forget(["p07"])
        let list = try database.forgottenList()  // keep list.text with your backups
        // End of snippet
        #expect(report.newlyForgotten == 1 && list.count == 1)

        // Snippet: Merge and close
        try database.compact()
        try database.close()
        // End of snippet
    }

    @Test func `the article's backup is sound`() async throws {
        let (folder, other) = (TemporaryDirectory(), TemporaryDirectory())
        try FileManager.default.createDirectory(
            atPath: other.path, withIntermediateDirectories: true)
        let database = try await Database.open(folder.path)
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p07"], time: Timestamp(nanoseconds: 1),
            fields: ["ts_heart_rate": .float(71)])
        _ = try await database.write(batch)
        #expect(try await backUpAndVerify(database, to: other.path + "/backup") == [])
        try await database.close()
    }
}

private func log(_ line: String) {}
