// `cozdb forget`: removes participants from all files of a database and refuses their data later.

internal import ArgumentParser
internal import CozDB

struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove participants from every file, and refuse what is written of them later.",
        discussion: """
            Removes every row of a participant in all experiments, every refused line and value \
            that names him, and every name of a column or experiment that has no value afterwards. \
            When the command returns no file of the database holds a byte that only he had. What \
            comes of him later is refused and not kept. Backups that were made before, copies and \
            files of the prompt are not reached: docs/erasure.md.

            Keep the list of those forgotten beside backups: it has digests, no names, and makes a \
            restored backup forget them again.

            Examples:
              cozdb forget --db study.cozdb --participant p07 --dry-run
              cozdb forget --db study.cozdb --participant p07
              cozdb forget --db study.cozdb --list > forgotten.txt
              cozdb forget --db restored.cozdb --forgotten forgotten.txt
              cozdb forget --db study.cozdb --readmit --participant p07
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var wait: WaitOption

    @Option(
        help: ArgumentHelp("A participant, byte by byte; can be repeated.", valueName: "id"))
    var participant: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also everybody on this list, as --list printed it; - reads standard input.",
            valueName: "file"),
        completion: .file())
    var forgotten: String?

    @Flag(
        help: """
            Also remove the folder damaged/, where cozdb repair set files aside: while there are \
            any, nothing is forgotten without this.
            """)
    var withDamaged = false

    @Flag(help: "Count what would go, and change nothing.")
    var dryRun = false

    @Flag(help: "Take the participants off the list: their data is taken in again.")
    var readmit = false

    @Flag(help: "Print the list of those forgotten: salts and digests.")
    var list = false

    @Option(help: "A table for people or JSON for programs.")
    var format = ReportFormat.table

    func validate() throws {
        if list {
            guard participant.isEmpty, forgotten == nil, !readmit, !dryRun, !withDamaged
            else {
                throw ValidationError("--list prints the list and takes --format only")
            }
            return
        }
        if participant.isEmpty, forgotten == nil {
            throw ValidationError("found no --participant, expected one or more, or --forgotten")
        }
        if readmit, dryRun || withDamaged || forgotten != nil {
            throw ValidationError("--readmit takes --participant only")
        }
        if participant.contains(where: \.isEmpty) {
            throw ValidationError("--participant: expected a name, found nothing")
        }
    }

    func run() throws {
        if list { return try printList() }
        if readmit { return try readmitParticipants() }
        let others = try forgotten.map { name throws(DatabaseError) in
            try ForgottenList(text: try InputReader.text(of: name, .forgotten))
        }
        let work = { (database: Database) throws(DatabaseError) -> ForgetReport in
            try database.forget(
                participant, merging: others ?? ForgottenList(), removingSetAside: withDamaged,
                isDryRun: dryRun, isCancelled: { Signals.isInterrupted })
        }
        let report =
            dryRun
            ? try Database.withReader(database.path, work)
            : try Database.withWriter(database.path, creates: false, wait.lock, work)
        let output = OutputWriter()
        output.append(format == .json ? json(report).text() + "\n" : text(report))
        try output.flush()
    }

    private func printList() throws {
        let list = try Database.withReader(database.path) { database throws(DatabaseError) in
            try database.forgottenList()
        }
        let output = OutputWriter()
        output.append(format == .json ? list.json : list.text)
        try output.flush()
    }

    private func readmitParticipants() throws {
        let known = try Database.withWriter(database.path, creates: false, wait.lock) {
            database throws(DatabaseError) in try database.readmit(participant)
        }
        let output = OutputWriter()
        for name in participant {
            let isKnown = known.contains { $0.utf8.elementsEqual(name.utf8) }
            guard format == .table else { continue }
            output.append(
                "\(PlainText.escaped(name)) \(isKnown ? "readmitted" : "was not forgotten")\n")
        }
        if format == .json {
            let names = known.map { JSONValue.string($0) }
            output.append(JSONValue.object(["readmitted": .array(names)]).text() + "\n")
        }
        try output.flush()
    }

    private func text(_ report: ForgetReport) -> String {
        let deletion = report.deletion
        var text = dryRun ? "nothing was changed; this would go:\n" : ""
        text += """
            rows      \(PlainText.grouped(deletion.rows))
            values    \(PlainText.grouped(deletion.values))
            refused   \(PlainText.counted(deletion.refusals, "entry", "entries")) of the \
            rejects journal

            """
        if report.setAsideFiles > 0 {
            let count = PlainText.counted(report.setAsideFiles, "file")
            let condition = dryRun && !withDamaged ? "; nothing goes without --with-damaged" : ""
            text += "damaged   \(count) that a repair set aside\(condition)\n"
        }
        if dryRun { return text }
        return text + """
            segments  \(PlainText.grouped(report.rewrittenSegments)) rewritten, \
            \(PlainText.grouped(report.removedSegments)) removed
            rejects   \(PlainText.counted(report.rewrittenRejects, "file")) rewritten
            names     \(PlainText.counted(report.removedColumns, "column")), \
            \(PlainText.counted(report.removedExperiments, "experiment")) removed
            bytes     \(PlainText.size(report.removedBytes)) removed, \
            \(PlainText.size(report.writtenBytes)) written again
            list      \(PlainText.grouped(report.newlyForgotten)) new, \
            \(PlainText.grouped(report.listed)) forgotten in all

            """
    }

    private func json(_ report: ForgetReport) -> JSONValue {
        .object([
            "dry_run": .boolean(dryRun), "rows": .count(report.deletion.rows),
            "values": .count(report.deletion.values), "refusals": .count(report.deletion.refusals),
            "segments_rewritten": .count(report.rewrittenSegments),
            "segments_removed": .count(report.removedSegments),
            "rejects_rewritten": .count(report.rewrittenRejects),
            "columns_removed": .count(report.removedColumns),
            "experiments_removed": .count(report.removedExperiments),
            "bytes_removed": .count(report.removedBytes),
            "bytes_written": .count(report.writtenBytes),
            "damaged_files": .count(report.setAsideFiles),
            "newly_forgotten": .count(report.newlyForgotten), "forgotten": .count(report.listed),
            "experiments": .array(
                report.deletion.experiments.map { experiment in
                    .object([
                        "name": .string(experiment.name), "series": .count(experiment.series),
                        "rows": .count(experiment.rows), "values": .count(experiment.values),
                        "refusals": .count(experiment.refusals),
                    ])
                }),
        ])
    }
}
