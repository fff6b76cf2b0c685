// `cozdb backup` and `cozdb restore`: copying a whole database, and restoring a copy.

internal import ArgumentParser
internal import CozDB

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a database to another directory. Writers can stay active.",
        discussion: """
            The first run copies everything. Later runs copy what is new and remove from the \
            backup what the database no longer has. Each copied file is read back and checked. The \
            backup holds at least every commit acknowledged before the command started. A backup \
            is a database: all read commands accept it. docs/backup.md explains how to schedule \
            backups.

            Examples:
              cozdb backup --db study.cozdb /mnt/disk/study.backup
              cozdb check --db /mnt/disk/study.backup
              cozdb restore /mnt/disk/study.backup --db restored.cozdb
            """)

    @OptionGroup var database: DatabaseOption

    @Argument(
        help: "The backup directory: missing, empty, or with an earlier backup of this database.",
        completion: .directory)
    var target: String

    @OptionGroup var fileAccess: FileAccessOption

    @Flag(help: "Also read and check the files that earlier backups copied.")
    var verify = false

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    func run() throws {
        var options = BackupOptions()
        options.verifiesReused = verify
        options.fileAccess = fileAccess.access
        options.isCancelled = { Signals.isInterrupted }
        let report = try Database.backup(database.path, to: target, options: options)
        let output = OutputWriter()
        output.append(BackupText(report, isRestore: false).text(format))
        try output.flush()
    }

    func validate() throws {
        if target.isEmpty {
            throw ValidationError("found an empty path, expected the backup directory")
        }
    }
}

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore a database from a backup into an empty directory.",
        discussion: """
            Every file is read back and checked. The directory cannot be opened as a database \
            until the restore is complete. The backup is not changed.

            Example:
              cozdb restore /mnt/disk/study.backup --db restored.cozdb --forgotten list.txt
            """)

    @Argument(help: "The directory of a backup.", completion: .directory)
    var backup: String

    @OptionGroup var database: DatabaseOption
    @OptionGroup var fileAccess: FileAccessOption

    @Option(
        help: ArgumentHelp(
            "Forget all participants on this list, as printed by `cozdb forget --list`; "
                + "- reads standard input.", valueName: "file"),
        completion: .file())
    var forgotten: String?

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    func run() throws {
        var options = RestoreOptions()
        options.fileAccess = fileAccess.access
        options.forgotten = try forgotten.map { name throws(DatabaseError) in
            try ForgottenList(text: try InputReader.text(of: name, .forgotten))
        }
        options.isCancelled = { Signals.isInterrupted }
        let report = try Database.restore(backup, to: database.path, options: options)
        let output = OutputWriter()
        output.append(BackupText(report, isRestore: true).text(format))
        try output.flush()
    }
}

private struct BackupText {
    let report: BackupReport
    let isRestore: Bool

    init(_ report: BackupReport, isRestore: Bool) {
        self.report = report
        self.isRestore = isRestore
    }

    func text(_ format: ReportFormat) -> String {
        format == .json ? json.text() + "\n" : table
    }

    private var json: JSONValue {
        .object([
            "incremental": .boolean(report.isIncremental),
            "copied_files": .count(report.copiedFiles),
            "copied_bytes": .count(report.copiedBytes),
            "reused_files": .count(report.reusedFiles),
            "reused_bytes": .count(report.reusedBytes),
            "removed_files": .count(report.removedFiles),
            "forgotten_rows": report.forgotten.map { .count($0.deletion.rows) } ?? .null,
            "last_commit": .integer(Int64(truncatingIfNeeded: report.lastCommit)),
            "seconds": .number(report.seconds),
        ])
    }

    private var table: String {
        let what =
            isRestore
            ? "restored" : report.isIncremental ? "backup updated" : "new backup"
        return """
            \(what), up to commit \(report.lastCommit)
            copied   \(files(report.copiedFiles, report.copiedBytes))
            reused   \(files(report.reusedFiles, report.reusedBytes))
            removed  \(PlainText.counted(report.removedFiles, "file"))\(forgotten)
            seconds  \(PlainText.fixed(report.seconds, digits: 2))

            """
    }

    private var forgotten: String {
        guard let rows = report.forgotten?.deletion.rows else { return "" }
        return "\nforgot   \(PlainText.counted(rows, "row"))"
    }

    private func files(_ count: Int, _ bytes: Int) -> String {
        "\(PlainText.counted(count, "file")), \(PlainText.size(bytes))"
    }
}
