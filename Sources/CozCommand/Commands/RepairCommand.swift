// `cozdb repair`: moves damaged files aside and keeps everything else.

internal import ArgumentParser
internal import CozDB

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Move damaged files aside, keep all readable data, and report what is lost.",
        discussion: """
            Damaged files are moved into a folder damaged/TIME in the database. Nothing is deleted \
            or overwritten. The folder also gets this report as report.txt. If you have a backup, \
            restore it instead: a backup loses nothing.

            Exits with 0 if the database is intact afterwards, even if data was lost. With \
            --dry-run, exits with 1 if there is damage to repair.

            Examples:
              cozdb repair --db study.cozdb --dry-run
              cozdb repair --db study.cozdb
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var wait: WaitOption

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    @Flag(help: "Report what would be done, without changing anything.")
    var dryRun = false

    func run() throws {
        let report = try wait.lock.retryWhileLocked { () throws(DatabaseError) in
            try Database.repair(database.path, isDryRun: dryRun)
        }
        let output = OutputWriter()
        switch format {
        case .json: output.append(json(report).text() + "\n")
        case .table:
            for line in report.lines { output.append(PlainText.escaped(line) + "\n") }
            output.append(verdict(report) + "\n")
        }
        try output.flush()
        if dryRun, !report.isEmpty { throw ExitStatus.damaged.exitCode }
    }

    private func verdict(_ report: RepairReport) -> String {
        if report.isEmpty { return "no damage found, nothing to repair" }
        let places = PlainText.counted(report.findings.count, "place")
        guard let folder = report.folder else {
            return "found damage in \(places); nothing was changed"
        }
        let files = PlainText.counted(report.moved.count, "file")
        return "repaired damage in \(places); moved \(files) to \(folder), with report.txt"
    }

    private func json(_ report: RepairReport) -> JSONValue {
        .object([
            "damaged": .count(report.findings.count), "dry_run": .boolean(report.isDryRun),
            "folder": report.folder.map { .string($0) } ?? .null,
            "moved": .array(report.moved.map { .string($0) }),
            "notes": .array(report.notes.map { .string($0) }),
            "findings": .array(report.findings.map { CheckCommand.json($0) }),
        ])
    }
}
