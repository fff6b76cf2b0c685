// `cozdb repair`: moves damaged files aside and keeps everything else.

internal import ArgumentParser
internal import CozDB

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Move aside what cannot be read, keep everything else, and say what is gone.",
        discussion: """
            Damaged files are moved into a folder of the database, damaged/ and the time; nothing \
            is deleted or overwritten. The same words as here stand there in report.txt. Put a \
            backup back instead if you have one: it loses nothing.

            Exit status 0 where the database is whole afterwards, also where data was lost; with \
            --dry-run 1 where there is something to repair.

            Examples:
              cozdb repair --db study.cozdb --dry-run
              cozdb repair --db study.cozdb
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var wait: WaitOption

    @Option(help: "A table for people or JSON for programs.")
    var format = ReportFormat.table

    @Flag(help: "Only say what would be done.")
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
        if report.isEmpty { return "no damage: there is nothing to repair" }
        let places = PlainText.counted(report.findings.count, "place")
        guard let folder = report.folder else {
            return "damage in \(places); nothing was changed"
        }
        let count = report.moved.count
        let files = PlainText.counted(count, "file") + (count == 1 ? " is" : " are")
        return "repaired: damage in \(places); \(files) in \(folder) now, with report.txt"
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
