// Running statements for `cozdb query`: once, repeatedly with times, or from a prompt.

internal import ArgumentParser
internal import CozDB
internal import Glibc

struct QuerySession {
    let path: String
    let format: QueryCommand.Format
    let time: TimeText
    var options: QueryOptions
    let timing: Bool
    let repetitions: Int?

    /// Runs the statements and prints their answers.
    ///
    /// - Throws: what opening the database throws; failures of statements are reported here.
    func run(_ text: String) throws(DatabaseError) -> ExitStatus {
        let start = ContinuousClock.now
        let body: (Database) throws(DatabaseError) -> ExitStatus = {
            database throws(DatabaseError) in
            let opening = ContinuousClock.now - start
            guard let repetitions else { return try runOnce(text, database, opening) }
            return try runRepeatedly(text, database, repetitions)
        }
        if Database.changesData(text, options: options) {
            return try Database.withWriter(path, creates: false, body)
        }
        return try Database.withReader(path, body)
    }

    private func makeFormat(_ output: OutputWriter) -> any ResultFormat {
        switch format {
        case .table: TableFormat(output, time, widthMax: Terminal.columns(STDOUT_FILENO))
        case .csv: CSVFormat(output, time)
        case .json: JSONFormat(output, time, isArray: true)
        case .ndjson: JSONFormat(output, time, isArray: false)
        case .influxJSON: InfluxJSONFormat(output, time)
        case .lp: LineProtocolFormat(output)
        }
    }

    struct Outcome {
        var error: DatabaseError?
        var counters = QueryCounters()
        var formatting = Duration.zero
        /// From the statement's text to its formatted answer, waiting for the reader left out.
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
            if isLineProtocol {
                let schemas = try database.schemas()
                sink = FormatSink(format, output, schemas: schemas, needsIdentity: true)
            }
            outcome.counters = try database.query(text, options: options, into: &sink)
            outcome.error = sink.firstError
            format.end()
        } catch {
            if sink.statements > 0 {
                format.end()
            } else if error.kind == .usage {
                format.parseError(error.message)
            }
            if !output.isClosed { outcome.error = error }
        }
        outcome.formatting = sink.formatting - (output.writing - writing)
        outcome.elapsed = ContinuousClock.now - start - (output.writing - writing)
        return outcome
    }

    private func runOnce(
        _ text: String, _ database: Database, _ opening: Duration
    ) throws(DatabaseError) -> ExitStatus {
        let output = OutputWriter()
        let outcome = answer(text, database, output)
        try output.flush()
        if timing {
            QueryTiming.report(outcome.elapsed, opening, outcome.counters, outcome.formatting)
        }
        return status(of: outcome.error, text)
    }

    private func runRepeatedly(
        _ text: String, _ database: Database, _ count: Int
    ) throws(DatabaseError) -> ExitStatus {
        var status = ExitStatus.success
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
        if error.kind == .usage, let offset = error.offset, error.file == nil {
            StandardError.writeLine("cozdb: \(PlainText.escaped(error.message))")
            StandardError.write(StatementExcerpt.text(text, offset: offset))
        } else {
            error.report()
        }
        return ExitStatus(error.kind)
    }

    // MARK: Prompt

    /// Reads statements from a terminal until its end; a failed one does not end it.
    ///
    /// - Parameter clock: what --now said; nil takes the time of each statement.
    func prompt(clock: Timestamp?) {
        StandardError.writeLine("\(path): statements end with a line; exit or Ctrl-D ends.")
        var session = self
        while true {
            StandardError.write("cozdb> ")
            guard let line = readLine(), !["exit", "quit"].contains(line) else { break }
            if line.utf8.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            session.options.now = clock ?? ClockTime.current
            do throws(DatabaseError) {
                _ = try session.run(line)
            } catch {
                error.report()
            }
            if Signals.isInterrupted { break }
        }
    }
}

/// What `--timing` and `--repeat` print.
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
            bytes_read=\(counters.bytesRead)

            """)
    }

    private static func milliseconds(_ duration: Duration) -> String {
        PlainText.fixed(duration / .milliseconds(1), digits: 3)
    }
}

/// The place of an error in a statement, with a mark below it.
enum StatementExcerpt {
    private static let widthMax = 70

    static func text(_ statement: String, offset: Int) -> String {
        let bytes = Array(statement.utf8)
        let place = max(0, min(offset, bytes.count))
        let newline = UInt8(ascii: "\n")
        let lineStart = bytes[..<place].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[place...].firstIndex(of: newline) ?? bytes.count
        let start = max(lineStart, place - widthMax / 2)
        let end = min(lineEnd, start + widthMax)
        let before = PlainText.escaped(String(decoding: bytes[start..<place], as: UTF8.self))
        let after = PlainText.escaped(String(decoding: bytes[place..<end], as: UTF8.self))
        let indent = String(repeating: " ", count: PlainText.width(before))
        return "  \(before)\(after)\n  \(indent)^\n"
    }
}

/// Bound parameters from `--params`.
enum QueryParameters {
    /// - Throws: `usage` for anything but an object of values, or of `{"identifier": "x"}` and the
    ///   like, as InfluxDB takes them.
    static func read(_ text: String) throws(DatabaseError) -> [String: QueryParameter] {
        guard case .object(let members) = try JSONReader.read(text) else {
            throw DatabaseError(
                .usage, "--params: expected an object such as {\"name\": \"value\"}")
        }
        var result: [String: QueryParameter] = [:]
        for member in members { result[member.key] = try parameter(member.value, member.key) }
        return result
    }

    private static func parameter(
        _ value: JSONValue, _ name: String
    ) throws(DatabaseError) -> QueryParameter {
        switch value {
        case .string(let text): return .value(.string(text))
        case .integer(let number): return .value(.integer(number))
        case .number(let number): return .value(.float(number))
        case .boolean(let flag): return .value(.boolean(flag))
        case .object(let members) where members.count == 1:
            switch (members[0].key, members[0].value) {
            case ("identifier", .string(let text)), ("ident", .string(let text)):
                return .identifier(text)
            case ("regex", .string(let text)): return .regex(text)
            case ("duration", .string(let text)): return .duration(text)
            case ("duration", .integer(let number)): return .duration("\(number)ns")
            case ("string", .string(let text)): return .value(.string(text))
            case ("integer", .integer(let number)), ("int", .integer(let number)):
                return .value(.integer(number))
            case ("float", .number(let number)), ("number", .number(let number)):
                return .value(.float(number))
            case ("float", .integer(let number)), ("number", .integer(let number)):
                return .value(.float(Double(number)))
            case ("boolean", .boolean(let flag)): return .value(.boolean(flag))
            default: break
            }
        default: break
        }
        throw DatabaseError(
            .usage,
            "--params, \"\(name)\": expected a string, number, boolean, or an object such as "
                + "{\"regex\": \"^p\"}, {\"identifier\": \"dev\"} or {\"duration\": \"10m\"}")
    }
}
