// Runs statements for `cozdb query`: once, repeatedly with times, or from a prompt.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct QuerySession {
    let path: String
    private(set) var format = AnswerFormat.table
    /// The unit of printed times; nil prints RFC 3339.
    var epoch: TimeUnit?
    var options: QueryOptions
    /// Whether answers include the questions declared for their fields.
    var showsQuestions = false
    /// How long statements that change data wait for the lock.
    var wait = LockWait()
    var csvStyle = CSVStyle.plain
    var timing = false
    var repetitions: Int?
    /// The file that the statements come from, for error messages.
    var file: String?
    /// The command that shows answers longer than the terminal; nil for none.
    var pagerCommand: String?

    init(path: String, options: QueryOptions) {
        self.path = path
        self.options = options
    }

    /// Sets the format of answers. `influx-json` also turns on InfluxDB's rules for errors.
    mutating func use(_ format: AnswerFormat) {
        self.format = format
        options.influxCompatible = format == .influxJSON
        // Line protocol holds points, so it cannot report the counts of a deletion.
        options.reportsDeletions = format != .lp
    }

    private var time: TimeText {
        if let epoch { return TimeText(style: .epoch(nanosecondsPerUnit: epoch.nanoseconds)) }
        return TimeText(style: format == .influxJSON ? .shortest : .full)
    }

    /// Runs the statements and prints their answers.
    ///
    /// - Throws: Errors of opening the database. Errors of statements are reported here.
    func run(_ text: String) throws(DatabaseError) -> ExitStatus {
        let start = ContinuousClock.now
        let body: (Database) throws(DatabaseError) -> ExitStatus = {
            database throws(DatabaseError) in
            let opening = ContinuousClock.now - start
            guard let repetitions else { return try runOnce(text, database, opening) }
            return try runRepeatedly(text, database, repetitions)
        }
        if Database.changesData(text, options: options) {
            return try Database.withWriter(path, creates: false, wait, body)
        }
        return try Database.withReader(path, body)
    }

    private func makeFormat(_ output: OutputWriter) -> any ResultWriter {
        let plain = makePlainFormat(output)
        switch (showsQuestions, format) {
        case (true, .table): return QuestionFormat(plain, output, .below)
        case (true, .csv): return QuestionFormat(plain, output, .titles)
        default: return plain
        }
    }

    private func makePlainFormat(_ output: OutputWriter) -> any ResultWriter {
        switch format {
        case .table: TableFormat(output, time, widthMax: Terminal.columns(STDOUT_FILENO))
        case .csv: CSVFormat(output, time, csvStyle)
        case .json: JSONFormat(output, time, isArray: true)
        case .ndjson: JSONFormat(output, time, isArray: false)
        case .influxJSON: InfluxJSONFormat(output, time)
        case .lp: LineProtocolFormat(output)
        }
    }

    struct Outcome {
        var error: DatabaseError?
        /// What the format could not represent.
        var note: String?
        var counters = QueryCounters()
        var formatting = Duration.zero
        /// The time from the statement's text to its formatted answer, without writing it out.
        var elapsed = Duration.zero
    }

    /// Runs the statements on an open database and writes their answers.
    func answer(_ text: String, _ database: Database, _ output: OutputWriter) -> Outcome {
        let start = ContinuousClock.now
        let writing = output.writing
        let format = makeFormat(output)
        let isLineProtocol = self.format == .lp
        var outcome = Outcome()
        var sink = FormatSink(format, output, schemas: [], needsIdentity: false)
        do throws(DatabaseError) {
            if let format = format as? QuestionFormat { format.schemas = try database.schemas() }
            if isLineProtocol {
                let schemas = try database.schemas()
                sink = FormatSink(format, output, schemas: schemas, needsIdentity: true)
            }
            outcome.counters = try database.execute(text, options: options, into: &sink)
            outcome.error = sink.firstError
            format.end()
        } catch {
            if sink.statements > 0 {
                format.end()
            } else if error.kind == .usage {
                format.parseError(error.messageWithRemedy)
            }
            if !output.isClosed { outcome.error = error }
        }
        if let format = format as? LineProtocolFormat {
            outcome.note = format.losses.note("lp", others: "csv and json")
        }
        outcome.formatting = sink.formatting - (output.writing - writing)
        outcome.elapsed = ContinuousClock.now - start - (output.writing - writing)
        return outcome
    }

    private func runOnce(
        _ text: String, _ database: Database, _ opening: Duration
    ) throws(DatabaseError) -> ExitStatus {
        let output = OutputWriter(pager: Pager.forTerminal(pagerCommand))
        let outcome = answer(text, database, output)
        try output.flush()
        if let note = outcome.note { StandardError.writeLine("cozdb: \(PlainText.escaped(note))") }
        if timing {
            QueryTiming.report(outcome.elapsed, opening, outcome.counters, outcome.formatting)
        }
        return status(of: outcome.error, text)
    }

    private func runRepeatedly(
        _ text: String, _ database: Database, _ count: Int
    ) throws(DatabaseError) -> ExitStatus {
        var status = ExitStatus.success
        Signals.retainFreeMemory()
        for run in 1...count {
            let memory = OutputWriter(descriptor: nil)
            let outcome = answer(text, database, memory)
            if run == 1 {
                let output = OutputWriter()
                output.append(memory.collected)
                try output.flush()
                status = self.status(of: outcome.error, text)
            }
            QueryTiming.report(outcome.elapsed)
            try DatabaseError.checkInterrupt()
        }
        return status
    }

    private func status(of error: DatabaseError?, _ text: String) -> ExitStatus {
        guard let error else { return .success }
        if let offset = error.offset, error.file == nil {
            let excerpt = StatementExcerpt(text, offset: offset)
            let place = file.map { "\($0), line \(excerpt.line): " } ?? ""
            let text = place + error.messageWithRemedy
            StandardError.writeLine("cozdb: \(PlainText.escaped(text))")
            let columns = Terminal.columns(STDERR_FILENO) ?? 80
            StandardError.write(
                excerpt.text(isNumbered: file != nil ? true : nil, columns: columns))
        } else {
            error.report()
        }
        if let option = QueryLimitOptions.option(for: error) {
            StandardError.writeLine("cozdb: use \(option) to raise the limit")
        }
        return ExitStatus(error.kind)
    }
}

/// The output of `--timing` and `--repeat`.
enum QueryTiming {
    static func report(_ elapsed: Duration) {
        StandardError.writeLine("elapsed_ms=\(milliseconds(elapsed))")
    }

    static func report(
        _ elapsed: Duration, _ opening: Duration, _ counters: QueryCounters,
        _ formatting: Duration
    ) {
        report(elapsed)
        StandardError.write(
            """
            open_ms=\(milliseconds(opening))
            parse_ms=\(milliseconds(counters.parse))
            plan_ms=\(milliseconds(counters.plan))
            execute_ms=\(milliseconds(counters.execute))
            format_ms=\(milliseconds(formatting))
            rows_returned=\(counters.rowsReturned)
            rows_read=\(counters.rowsRead)
            blocks_read=\(counters.blocksRead)
            blocks_summarized=\(counters.blocksSummarized)
            blocks_skipped=\(counters.blocksSkipped)
            blocks_out_of_range=\(counters.blocksOutOfRange)
            bytes_read=\(counters.bytesRead)
            stored_bytes_read=\(counters.storedBytesRead)

            """)
    }

    private static func milliseconds(_ duration: Duration) -> String {
        PlainText.fixed(duration / .milliseconds(1), digits: 3)
    }
}
