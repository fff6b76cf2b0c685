// `cozdb import`: imports files into a database.

internal import ArgumentParser
internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozPlatform

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import line protocol, CSV, JSON, Cozie and Beiwe files, plain or gzipped.",
        discussion: """
            Creates the database if it does not exist. Importing a file again changes nothing. \
            Lines that cannot be read and values that do not fit the type of their field are kept \
            in the rejects journal (see cozdb rejects). Everything else is stored, and the exit \
            status is 7.

            A row is one participant, experiment and time. Points of the same row are merged; for \
            each field the later value wins. The settings of a new experiment (identity, \
            participant tag, types, preset) are stored with it and apply to later imports.

            Formats are detected by file name and first bytes, or chosen with --format:

              lp             line protocol, influx_inspect exports (docs/line-protocol.md)
              annotated-csv  CSV of InfluxDB 2; cozdb export writes it
              influx-csv     output of influx -format csv
              influx-json    output of influx -format json and of the InfluxDB 1 HTTP API
              ndjson         one JSON object per row, as printed by cozdb query and export
              csv            any table with a header (these five: docs/import-formats.md)
              cozie-json     payloads of the Cozie app (docs/cozie-payloads.md)
              cozie-csv      output of the Cozie researcher API (docs/researcher-csv.md)
              beiwe          Beiwe exports, folders or files (docs/beiwe.md)

            Examples:
              cozdb import --db study.cozdb influx-export.txt.gz
              cozdb import --db study.cozdb --identity all --types strict metrics.lp
              cozdb import --db study.cozdb --database cozie-apple both-databases.txt
              cozdb import --db study.cozdb --format cozie-json --enrich offline-log.txt
              zcat old/*.gz | cozdb import --db study.cozdb --precision ms -
              cozdb import --db study.cozdb --format beiwe --experiment STUDY export/
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var fileAccess: FileAccessOption
    @OptionGroup var wait: WaitOption

    @Option(
        help: """
            Input format; auto detects the format of each file. The formats are listed above.
            """)
    var format = ImportFormat.auto

    @OptionGroup var options: WriteOptions

    @Option(
        help: ArgumentHelp(
            "Experiment for formats that do not name one, such as CSV.", valueName: "name"))
    var experiment: String?

    @OptionGroup var renaming: RenameOptions

    @OptionGroup(title: "Cozie payloads (JSON)") var payloads: PayloadOptions

    @OptionGroup(title: "Tables (CSV)") var table: TableImportOptions

    @OptionGroup(title: "Beiwe") var beiwe: BeiweImportOptions

    @Option(
        name: .customLong("database"),
        help: ArgumentHelp(
            "Import only this database from an export of several.", valueName: "name"))
    var sourceDatabase: String?

    @Option(
        help: ArgumentHelp("Import only this retention policy from an export.", valueName: "name"))
    var policy: String?

    @Option(
        help: ArgumentHelp("Points per commit, 1 to 10000000.", valueName: "n"))
    var batchRows = 10_000

    @Option(
        help: """
            Progress on standard error: plain prints one line per commit, auto shows a bar on \
            terminals.
            """)
    var progress = ProgressDisplay.Mode.auto

    @Argument(
        help: """
            Files, imported in this order: later values win. - is standard input. Folders require \
            --format beiwe.
            """,
        completion: .file())
    var files: [String]

    func validate() throws {
        guard (1...10_000_000).contains(batchRows) else {
            throw ValidationError("--batch-rows: found \(batchRows), expected 1 to 10000000")
        }
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError(
                "found - more than once, expected it at most once: standard "
                    + "input can be read only once")
        }
        try payloads.validate(for: format)
    }

    func run() throws {
        // Do not create a database if an input file is missing.
        for file in files { try ImportCommand.checkReadable(file) }
        var summary = ImportSummary(path: database.path)
        summary.reportsRenames = !renaming.words.isEmpty
        let display = SharedProgress(progress)
        defer { display.end() }
        // Open the inputs before the database: while a pipe has no data yet, other writers are not
        // locked out.
        let options = importOptions(display)
        let inputs = try ImportInputs(files, options: options)
        var start = ContinuousClock.now
        let (written, failure) = try Database.withWriterReturningCloseError(
            database.path, creates: true, access: fileAccess.access, wait.lock
        ) { database throws(DatabaseError) in
            summary.begin(database)
            start = ContinuousClock.now
            summary.report = try importFiles(inputs, into: database, options: options)
            display.merging()
            return (database, try database.schemas())
        }
        // The close merges segments. Its time counts, and it finds further values for the same
        // cells.
        summary.report.seconds = (ContinuousClock.now - start) / .seconds(1)
        summary.end(written.0, schemas: written.1)
        display.end()
        let output = OutputWriter()
        output.append(summary.text)
        try output.flush()
        // Throw only after the summary: what it reports is durable.
        if let failure { throw failure }
        if summary.report.hasRefusals { throw ExitStatus.partlyRefused.exitCode }
    }

    /// Each format with its options. `auto` tries the formats in the order of
    /// `ImportFormat.allCases`.
    private var formats: [ImportFormat: InputFormat] {
        [
            .cozieJSON: .cozieJSON(payloads.payload), .influxJSON: .influxJSON, .ndjson: .ndjson,
            .annotatedCSV: .annotatedCSV, .influxCSV: .influxCSV, .cozieCSV: .cozieCSV,
            .beiwe: .beiwe(beiwe.options), .csv: .csv, .lp: .lineProtocol,
        ]
    }

    private func importOptions(_ display: SharedProgress) -> ImportOptions {
        var result = ImportOptions()
        result.format = formats[format]
        result.formats = ImportFormat.allCases.compactMap { formats[$0] }
        result.experiment = experiment
        result.renames = renaming.names
        result.table = table.options
        result.precision = options.precision.unit
        result.settings = options.settings
        result.participantTag = options.participantTag
        result.participant = options.participant
        result.database = sourceDatabase
        result.policy = policy
        result.now = options.now?.time
        result.batchRows = batchRows
        result.progress = { display.advanced($0) }
        result.committed = { display.committed($0) }
        result.isCancelled = { Signals.isInterrupted }
        return result
    }

    private static func checkReadable(_ path: String) throws(DatabaseError) {
        if path == "-" { return try InputReader.checkStandardInput() }
        // Sound: the path is null-terminated during the call.
        let status = unsafe path.withCString { unsafe access($0, R_OK) }
        guard status != 0 else { return }
        throw DatabaseError(
            .notFound,
            "\(SystemMessage.text(errno)); expected a file to import. Nothing was stored",
            file: path)
    }
}
