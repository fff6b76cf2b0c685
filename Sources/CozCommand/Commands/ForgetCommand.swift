// `cozdb forget`: removes participants from all files of a database and refuses their data later.

internal import ArgumentParser
internal import CozDB

struct ForgetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Remove participants from all files, and refuse their data from then on.",
        discussion: """
            Removes all rows of a participant from all experiments, all refused lines and values \
            that name the participant, and the names of columns and experiments that are left \
            without values. When the command returns, no file of the database contains any data of \
            only this participant. Later data of the participant is refused and not kept. Earlier \
            backups, copies and history files of the prompt are not changed: see docs/erasure.md.

            Keep the list of forgotten participants with your backups. It contains digests, not \
            names. Pass it to cozdb restore to forget the participants again.

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
        help: ArgumentHelp("The exact name of a participant; can be repeated.", valueName: "id"))
    var participant: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also forget all participants on this list, as printed by "
                + "--list; - reads standard input.",
            valueName: "file"),
        completion: .file())
    var forgotten: String?

    @Flag(
        help: """
            Also remove the folder damaged/ with the files that cozdb repair moved aside. While it \
            contains files, forgetting fails without this flag.
            """)
    var withDamaged = false

    @Flag(help: "Count what would be removed, without changing anything.")
    var dryRun = false

    @Flag(help: "Remove the participants from the list, so that their data is accepted again.")
    var readmit = false

    @Flag(help: "Print the list of forgotten participants: salts and digests.")
    var list = false

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    func validate() throws {
        if list {
            guard participant.isEmpty, forgotten == nil, !readmit, !dryRun, !withDamaged
            else {
                throw ValidationError(
                    "found --list with other options, expected only --db and --format")
            }
            return
        }
        if participant.isEmpty, forgotten == nil {
            throw ValidationError("found no --participant, expected one or more, or --forgotten")
        }
        if readmit, dryRun || withDamaged || forgotten != nil {
            throw ValidationError("found --readmit with other options, expected only --participant")
        }
        if participant.contains(where: \.isEmpty) {
            throw ValidationError("--participant: found an empty name, expected a participant")
        }
    }

    func run() throws {
        if list { return try printList() }
        if readmit { return try readmitParticipants() }
        let others = try forgotten.map { name throws(DatabaseError) in
            try ForgottenList(text: try InputReader.text(of: name, .forgotten))
        }
        let work = { (database: Database) throws(DatabaseError) -> (ForgetReport, [String]?) in
            let names = participant.isEmpty ? nil : ForgetCommand.participants(of: database)
            let report = try database.forget(
                participant, merging: others ?? ForgottenList(), removingSetAside: withDamaged,
                isDryRun: dryRun, isCancelled: { Signals.isInterrupted })
            return (report, names)
        }
        let (report, names) =
            dryRun
            ? try Database.withReader(database.path, work)
            : try Database.withWriter(database.path, creates: false, wait.lock, work)
        let output = OutputWriter()
        output.append(format == .json ? json(report).text() + "\n" : text(report))
        try output.flush()
        if let names { note(names) }
    }

    /// The most unknown names that get a suggestion.
    private static let suggestionCountMax = 5

    /// Notes names without rows, which may be misspelled.
    ///
    /// - Parameter known: the participants that had rows.
    private func note(_ known: [String]) {
        let bytes = Set(known.map { Array($0.utf8) })
        let unknown = participant.filter { !bytes.contains(Array($0.utf8)) }
        for (index, name) in unknown.enumerated() {
            // Each suggestion compares a name with all known ones.
            let hint =
                index < ForgetCommand.suggestionCountMax
                ? NameSuggestion.text(name, among: known) : ""
            StandardError.writeLine(
                "cozdb: there were no rows of a participant \"\(PlainText.escaped(name))\""
                    + PlainText.escaped(hint))
        }
    }

    /// The participants that have rows; nil if they cannot be read, which is no reason to fail.
    private static func participants(of database: Database) -> [String]? {
        guard let schemas = try? database.schemas() else { return nil }
        var tags: Set<Name> = [Name("id_participant")]
        for schema in schemas {
            if case .participant(let tag) = schema.identity { tags.insert(Name(tag)) }
        }
        var names: [String] = []
        for tag in tags {
            let result = try? database.query(
                "SHOW TAG VALUES WITH KEY = $tag",
                parameters: ["tag": QueryParameter.identifier(tag.text)])
            guard let result else { return nil }
            for series in result.series {
                names += series.column("value")?.texts.compactMap(\.self) ?? []
            }
        }
        return names
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
        var text = dryRun ? "nothing was changed; a run without --dry-run would remove:\n" : ""
        text += """
            rows      \(PlainText.grouped(deletion.rows))
            values    \(PlainText.grouped(deletion.values))
            refused   \(PlainText.counted(deletion.refusals, "entry", "entries")) in the rejects \
            journal

            """
        if report.setAsideFiles > 0 {
            let count = PlainText.counted(report.setAsideFiles, "file")
            let condition = dryRun && !withDamaged ? "; removing them requires --with-damaged" : ""
            text += "damaged   \(count) moved aside by cozdb repair\(condition)\n"
        }
        if dryRun { return text }
        return text + """
            segments  \(PlainText.grouped(report.rewrittenSegments)) rewritten, \
            \(PlainText.grouped(report.removedSegments)) removed
            rejects   \(PlainText.counted(report.rewrittenRejects, "file")) rewritten
            names     \(PlainText.counted(report.removedColumns, "column")), \
            \(PlainText.counted(report.removedExperiments, "experiment")) removed
            bytes     \(PlainText.size(report.removedBytes)) removed, \
            \(PlainText.size(report.writtenBytes)) rewritten
            list      \(PlainText.grouped(report.newlyForgotten)) new, \
            \(PlainText.grouped(report.listed)) forgotten in total

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
