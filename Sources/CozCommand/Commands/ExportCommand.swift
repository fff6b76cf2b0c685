// `cozdb export`: writes rows to files for other programs or for another import.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct ExportCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case cozieCSV = "cozie-csv"
        case csv, ndjson, lp
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract:
            "Export rows as the researcher API's CSV, typed CSV, NDJSON or line protocol.",
        discussion: """
            cozie-csv is byte for byte what the Cozie researcher API delivers, so scripts written \
            for it keep working. csv, ndjson and lp keep experiments, tags and types; importing \
            them recreates the same rows. docs/researcher-csv.md describes all four.

            Rows are sorted by time. The export contains everything that was stored, including \
            id_password and API keys; --redact masks these.

            Examples:
              cozdb export --db study.cozdb --format cozie-csv --participant p01 > p01.csv
              cozdb export --db study.cozdb --format cozie-csv --experiment dev \\
                --participant p01 --columns ts_heart_rate,ws_survey_count --days 7 \\
                --tz Asia/Singapore
              cozdb export --db study.cozdb --format lp --output study.lp
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "Output format.")
    var format: Format

    @Option(
        help: ArgumentHelp(
            "An experiment; can be repeated (default: all). cozie-csv takes exactly one.",
            valueName: "name"))
    var experiment: [String] = []

    @Option(
        help: ArgumentHelp("A participant; can be repeated (default: all).", valueName: "id"))
    var participant: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only rows with this id_password, as in the researcher API.", valueName: "text"))
    var password: String?

    @Option(
        help: ArgumentHelp(
            "Only these fields, and only rows that have one of them; can be repeated.",
            valueName: "name,name"))
    var columns: [String] = []

    @Option(help: ArgumentHelp("Only the last n days, of 24 hours each.", valueName: "n"))
    var days: Int?

    @Option(help: ArgumentHelp("Only rows from this time on.", valueName: "time"))
    var from: TimeArgument?

    @Option(help: ArgumentHelp("Only rows before this time.", valueName: "time"))
    var to: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "cozie-csv: print times in this zone instead of UTC. --from and --to without an offset "
                + "are in this zone, too.",
            valueName: "zone"))
    var tz: String?

    @Flag(help: "cozie-csv: keep columns without values; the API drops them.")
    var emptyColumns = false

    @Flag(help: "Mask the values of id_password and api_*_key in every column that holds them.")
    var redact = false

    @OptionGroup var cells: SafeCellsOption

    @Option(
        help: ArgumentHelp("Count --days back from this time instead of now.", valueName: "time"))
    var now: ClockTime?

    @Option(
        help: ArgumentHelp(
            "Write to this file instead of standard output. It must be outside the database.",
            valueName: "file"),
        completion: .file())
    var output: String?

    func validate() throws {
        if output?.isEmpty == true {
            throw ValidationError("--output: found an empty path, expected a file")
        }
        try cells.check(isCSV: format == .csv || format == .cozieCSV)
        if let days, !(0...106_751).contains(days) {
            throw ValidationError("--days: found \(days), expected 0 to 106751")
        }
        if format != .cozieCSV, tz != nil || emptyColumns {
            throw ValidationError(
                "found --tz or --empty-columns with --format \(format.rawValue), "
                    + "expected --format cozie-csv")
        }
        if redact, password != nil {
            throw ValidationError(
                "found --password with --redact, expected only one of them: matching rows would "
                    + "reveal the password")
        }
        let names = columns.flatMap { $0.parts(separatedBy: ",") }
        if names.contains(where: \.isEmpty) {
            throw ValidationError(
                "--columns: found an empty name, expected field names separated by commas")
        }
    }

    func run() throws {
        if let output { try ExportFile.check(output, apartFrom: database.path) }
        let notes = try Database.withReader(database.path) { database throws(DatabaseError) in
            let moment = try database.snapshot()
            let snapshot = redact ? moment.redacted : moment
            let schemas = try chosen(snapshot.schemas)
            let requests = try schemas.map { schema throws(DatabaseError) in
                try request(schema.name)
            }
            if format != .cozieCSV { try checkColumns(schemas) }
            let file = try ExportFile(output)
            var notes = ExportNotes()
            do throws(DatabaseError) {
                for (request, schema) in zip(requests, schemas) {
                    notes.addTime(of: schema, request)
                }
                for (request, schema) in zip(requests, schemas) where format == .cozieCSV {
                    notes.add(try researcher(request, snapshot, file.output), request, schema)
                }
                if format != .cozieCSV {
                    try generic(zip(requests, schemas), snapshot, file.output, &notes)
                }
            } catch {
                file.abandon()
                // The reader of the output is gone: drop the rest.
                if file.output.isClosed { return notes }
                throw error
            }
            do throws(DatabaseError) {
                try file.finish()
            } catch {
                file.abandon()
                throw error
            }
            try notes.explain(snapshot)
            return notes
        }
        for line in notes.lines { StandardError.writeLine("cozdb: \(PlainText.escaped(line))") }
        if notes.hasLosses { throw ExitStatus.partlyRefused.exitCode }
    }

    private func researcher(
        _ request: ResearcherRequest, _ snapshot: DatabaseSnapshot, _ output: OutputWriter
    ) throws(DatabaseError) -> Int {
        let export = ResearcherExport(request) { Signals.isInterrupted }
        let summary = try export.write(from: snapshot) { bytes throws(DatabaseError) in
            if output.isClosed { throw FormatSink.outputClosed }
            output.append(bytes)
        }
        return summary.rows
    }

    private func generic(
        _ parts: some Sequence<(ResearcherRequest, ExperimentSchema)>,
        _ snapshot: DatabaseSnapshot, _ output: OutputWriter, _ notes: inout ExportNotes
    ) throws(DatabaseError) {
        let format: any ExportFormat =
            switch format {
            case .ndjson: JSONExport(output)
            case .lp: LineProtocolExport(output)
            case .csv, .cozieCSV: CSVExport(output, cells.style)
            }
        for (request, schema) in parts {
            let export = ExperimentExport(
                snapshot: snapshot, request: request, schema: schema)
            let rows = try export.write(in: format, to: output, noting: &notes)
            notes.add(rows, request, schema)
            if let options = export.importOptions { notes.add(options, of: schema) }
        }
        notes.add(format.losses, self.format.rawValue)
    }

    /// - Throws: `usage` for a column that no experiment has.
    private func checkColumns(_ schemas: [ExperimentSchema]) throws(DatabaseError) {
        let known = Set(schemas.flatMap { $0.fields.map { Array($0.name.utf8) } })
        for list in columns {
            for column in list.parts(separatedBy: ",")
            where !known.contains(Array(column.utf8)) {
                let names = schemas.prefix(20).map { "\"\($0.name)\"" }.joined(separator: ", ")
                throw DatabaseError(
                    .usage,
                    "--columns: found \"\(column)\", expected fields of experiment \(names); "
                        + "cozdb schema lists them")
            }
        }
    }

    /// The experiments named by `--experiment`, in that order; all experiments if none is named.
    private func chosen(
        _ schemas: [ExperimentSchema]
    ) throws(DatabaseError) -> [ExperimentSchema] {
        let names = schemas.prefix(20).map(\.name).joined(separator: ", ")
        var chosen: [ExperimentSchema] = []
        for name in experiment {
            let schema = schemas.first { $0.name.utf8.elementsEqual(name.utf8) }
            guard let schema else {
                throw DatabaseError(
                    .notFound,
                    "--experiment: found \"\(name)\", "
                        + (schemas.isEmpty
                            ? "but the database has no experiments" : "expected one of: \(names)"))
            }
            chosen.append(schema)
        }
        if experiment.isEmpty { chosen = schemas }
        if format == .cozieCSV && chosen.count != 1 {
            throw DatabaseError(
                .usage,
                "--format cozie-csv: found \(chosen.count) experiments, expected one; choose one "
                    + "with --experiment: \(names)")
        }
        return chosen
    }

    private func request(_ experiment: String) throws(DatabaseError) -> ResearcherRequest {
        var request = ResearcherRequest(
            experiment: experiment, now: now?.time ?? .now)
        var zone: TimeZoneRules?
        if let tz { zone = try TimeZoneRules(named: tz) }
        request.participants = participant
        request.password = password
        request.columns = columns.flatMap { $0.parts(separatedBy: ",", keepsEmpty: false) }
        request.days = days
        request.from = from?.time(in: zone)
        request.to = to?.time(in: zone)
        request.zone = tz
        request.redactsSecrets = redact
        request.keepsEmptyColumns = emptyColumns
        request.marksFormulas = cells.safeCells
        return request
    }
}
