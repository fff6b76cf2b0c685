// `cozdb query`: runs statements and prints their answers.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Run statements and print their answers.",
        discussion: """
            The language is InfluxQL with extensions, described in docs/query-language.md. \
            Separate statements with semicolons. Without a statement, the command opens a prompt \
            on a terminal (docs/prompt.md) and otherwise reads standard input. Queries do not need \
            the write lock; statements that change data do.

            Formats: table for people, with one field per line if it is too wide for the terminal; \
            csv, json and ndjson with nine fraction digits in times; influx-json as InfluxDB 1.x \
            answers; lp is line protocol that can be imported again.

            Examples:
              cozdb query --db study.cozdb "SHOW MEASUREMENTS"
              cozdb query --db study.cozdb \\
                "SELECT mean(ts_heart_rate) FROM dev WHERE time > now() - 7d
                 GROUP BY time(1d), id_participant tz('Asia/Singapore')"
              cozdb query --db study.cozdb --format csv "SELECT * FROM dev" > dev.csv
              cozdb query --db study.cozdb --params '{"p": "p01"}' \\
                'SELECT ts_heart_rate FROM dev WHERE id_participant = $p LIMIT 5'
              cozdb query --db study.cozdb --dry-run "DELETE WHERE id_participant = 'p01'"
              cozdb query --db study.cozdb --timing --file report.influxql
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "Output format.")
    var format = AnswerFormat.table

    @Option(help: "Print times as integers in this unit since 1970 UTC.")
    var epoch: TimeUnit?

    @Flag(
        help: """
            Show the questions registered for fields (see cozdb survey): in the header of csv, or \
            below a table with their options and the number of answers that are not among the \
            options.
            """)
    var questions = false

    @OptionGroup var cells: SpreadsheetOptions
    @OptionGroup var wait: WaitOption

    @Option(
        help: ArgumentHelp("Values for $name in statements, as a JSON object.", valueName: "json"))
    var params: String?

    @Option(
        help: ArgumentHelp(
            "The value of now() instead of the current time; UTC without an offset.",
            valueName: "time"))
    var now: ClockTime?

    @Flag(help: "Print what DELETE and DROP would remove, without changing anything.")
    var dryRun = false

    @Flag(
        help: """
            Mask the values of id_password and api_*_key under any name in the answer. Conditions \
            on them in WHERE are refused.
            """)
    var redact = false

    @Flag(help: "Print elapsed_ms=N and its parts on standard error.")
    var timing = false

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "Run the statements n times. Print the answer once and elapsed_ms for each run.",
            valueName: "n"))
    var repetitions: Int?

    @Option(
        help: ArgumentHelp("Read the statements from this file.", valueName: "file"),
        completion: .file())
    var file: String?

    @Flag(help: "Do not read or write the history file of the prompt.")
    var noHistory = false

    @OptionGroup(title: "Limits of a statement (exit status 6)") var limits: QueryLimitOptions

    @Argument(help: "The statements; - reads them from standard input.")
    var statements: String?

    func validate() throws {
        try cells.check(isCSV: format == .csv)
        if file != nil, statements != nil {
            throw ValidationError("found both statements and --file, expected one of them")
        }
        if questions, format != .table, format != .csv {
            throw ValidationError(
                "--questions: found --format \(format.rawValue), expected table or csv; cozdb "
                    + "schema --format json shows the questions as JSON")
        }
        if let repetitions, repetitions < 1 {
            throw ValidationError("--repeat: found \(repetitions), expected 1 or more")
        }
    }

    func run() throws {
        var options = QueryOptions(now: now?.time ?? .now)
        options.isDryRun = dryRun
        options.redactsSecrets = redact
        options.isCancelled = { Signals.isInterrupted }
        options.limits = limits.limits
        if let params { options.parameters = try QueryParameters.read(params) }
        var session = QuerySession(path: database.path, options: options)
        session.use(format)
        session.epoch = epoch
        session.showsQuestions = questions
        session.csvStyle = cells.style
        session.wait = wait.lock
        session.timing = timing
        session.repetitions = repetitions
        session.file = file
        if file == nil, statements == nil, isOnTerminal {
            return try Prompt.run(session, clock: now?.time, keepsHistory: !noHistory)
        }
        let status = try session.run(try text())
        if status != .success { throw status.exitCode }
    }

    private var isOnTerminal: Bool {
        Terminal.isTerminal(STDIN_FILENO) && Terminal.isTerminal(STDOUT_FILENO)
    }

    private func text() throws -> String {
        let limit = InputLimit.statements(limits.limits)
        if let file { return try InputReader.text(of: file, limit) }
        if let statements, statements != "-" { return statements }
        let text = try InputReader.text(of: "-", limit)
        if statements == nil, text.trimmed.isEmpty {
            throw ValidationError(
                "found no statement, expected one as an argument, with --file, "
                    + "or on standard input")
        }
        return text
    }
}
