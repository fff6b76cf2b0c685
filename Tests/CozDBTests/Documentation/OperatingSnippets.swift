// The code of the article Operating, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

// Snippet: Back up
/// Backs up a database, verifies the backup, and returns what is wrong with it.
func backUpAndVerify(_ database: Database, to target: String) throws(DatabaseError) -> [String] {
    var options = BackupOptions()
    options.verifiesReused = true
    try database.backup(to: target, options: options)
    var findings: [String] = []
    _ = try Database.check(target) { finding in
        if finding.severity == .damage { findings.append("\(finding.file): \(finding.found)") }
    }
    return findings
}
// End of snippet

struct OperatingSnippets {
    @Test func `the article's calls run`() throws {
        let (folder, other) = (TemporaryDirectory(), TemporaryDirectory())
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
        try FileManager.default.createDirectory(
            atPath: other.path, withIntermediateDirectories: true)
        #expect(try backUpAndVerify(database, to: other.path + "/backup") == [])

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
}

private func log(_ line: String) {}
