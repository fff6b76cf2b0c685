// `cozdb rejects`: lists, exports, replays and clears refused lines and values.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct RejectsCommand: ParsableCommand {
    enum Action: String, CaseIterable, ExpressibleByArgument {
        case list, export, replay, clear
    }

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, ndjson, lp
    }

    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "List, export, replay or clear refused lines and values.",
        discussion: """
            Refused data is not lost. Lines that cannot be read and values that do not fit the \
            type of their field are kept in the rejects journal.

              list     print the entries as a table; long lines and values are cut, and
                       equal lines of a file are shown once, with their number
              export   print lines as they were received, and refused values and points as
                       line protocol; values that it cannot represent are left out and
                       counted on standard error
              replay   write refused values again after a type change; cells that have a
                       value are not changed
              clear    remove the entries from the journal for good; export them first

            Examples:
              cozdb rejects --db study.cozdb list
              cozdb rejects --db study.cozdb export --format ndjson > rejects.ndjson
              (head -n 1 votes.csv; cozdb rejects --db study.cozdb export \
                --source votes.csv) > rejected.csv
              cozdb query --db study.cozdb "ALTER EXPERIMENT dev FIELD ts_HRV TYPE float"
              cozdb rejects --db study.cozdb replay
              cozdb rejects --db study.cozdb clear --experiment dev
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var wait: WaitOption

    @Option(help: "Output format (default: table for list, lp for export).")
    var format: Format?

    @Flag(help: "With list and export: include entries that a replay has stored.")
    var all = false

    @Flag(
        help: """
            With list and export: mask the values of id_password and api_*_key, and the whole text \
            of lines that could not be read.
            """)
    var redact = false

    @Option(
        help: ArgumentHelp(
            "With list and export: only entries of this file, as the list names it.",
            valueName: "file"))
    var source: String?

    @Option(
        help: ArgumentHelp(
            "With list and export: only entries whose reason contains this text.",
            valueName: "text"))
    var reason: String?

    @Flag(help: "With replay: also overwrite cells that have a value.")
    var overwrite = false

    @Option(
        help: ArgumentHelp(
            "With clear: remove only values of this experiment and lines that name it.",
            valueName: "name"))
    var experiment: String?

    @Argument(help: "What to do: list, export, replay or clear.")
    var action: Action

    func validate() throws {
        if overwrite, action != .replay {
            throw ValidationError("found --overwrite with \(action.rawValue), expected replay")
        }
        if experiment != nil, action != .clear {
            throw ValidationError("found --experiment with \(action.rawValue), expected clear")
        }
        if action == .replay || action == .clear,
            all || redact || format != nil || source != nil || reason != nil
        {
            throw ValidationError(
                "found --all, --redact, --format, --source or --reason with \(action.rawValue), "
                    + "expected list or export")
        }
    }

    func run() throws {
        switch action {
        case .list: try show(format ?? .table)
        case .export: try show(format ?? .lp)
        case .replay: try replay()
        case .clear: try clear()
        }
    }

    private func clear() throws(DatabaseError) {
        let count = try Database.withWriter(
            database.path, creates: false, wait.lock
        ) { database throws(DatabaseError) in
            try database.clearRejects(of: experiment)
        }
        let output = OutputWriter()
        output.append("cleared  \(PlainText.counted(count, "entry", "entries"))\n")
        try output.flush()
    }

    private func show(_ format: Format) throws {
        let output = OutputWriter()
        var printer = RejectPrinter(format: format, output: output)
        try Database.withReader(database.path) { database throws(DatabaseError) in
            let print = { (entry: RejectEntry) throws(DatabaseError) -> Bool in
                try DatabaseError.checkInterrupt()
                if isSelected(entry) { printer.append(entry) }
                return !output.isClosed
            }
            if redact { try database.redactedRejects(print) } else { try database.rejects(print) }
        }
        printer.end()
        try output.flush()
        if let note = printer.losses.note("lp", others: "ndjson") {
            StandardError.writeLine("cozdb: \(PlainText.escaped(note))")
            throw ExitStatus.partlyRefused.exitCode
        }
    }

    private func isSelected(_ entry: RejectEntry) -> Bool {
        if let source, !entry.refusal.source.utf8.elementsEqual(source.utf8) { return false }
        if let reason, !entry.refusal.reason.contains(reason) { return false }
        return all || entry.state != .done
    }

    private func replay() throws {
        let report = try Database.withWriter(
            database.path, creates: false, wait.lock
        ) { database throws(DatabaseError) in
            try database.replayRejects(overwrite: overwrite)
        }
        let output = OutputWriter()
        output.append(
            """
            replayed    \(PlainText.counted(report.replayed, "value"))
            superseded  \(PlainText.counted(report.superseded, "value")) \
            (the cell already has a value)
            refused     \(PlainText.counted(report.refused, "value")) \
            (the type still does not fit)
            lines       \(PlainText.grouped(report.lines)) \
            (cannot be replayed; see cozdb rejects export)

            """)
        try output.flush()
        if report.refused > 0 { throw ExitStatus.partlyRefused.exitCode }
    }
}

struct RejectPrinter {
    private let format: RejectsCommand.Format
    private let output: OutputWriter
    /// Width of the terminal; nil if there is none, and cells are not cut.
    private let widthMax = Terminal.columns(STDOUT_FILENO)
    private var table = TextTable(
        [
            .init("state"), .init("source"), .init("line", right: true),
            .init("column", right: true), .init("what"), .init("reason"),
        ], cellWidthMax: .max)
    private var count = 0
    /// What line protocol cannot represent and is left out.
    private(set) var losses = FormatLosses()

    init(format: RejectsCommand.Format, output: OutputWriter) {
        self.format = format
        self.output = output
    }

    mutating func append(_ entry: RejectEntry) {
        count += 1
        let refusal = entry.refusal
        switch format {
        case .table:
            table.append([
                entry.state.rawValue, refusal.source, RejectPrinter.number(refusal.line),
                RejectPrinter.number(refusal.column), RejectPrinter.what(refusal),
                refusal.reason + RejectPrinter.repeats(entry),
            ])
            if table.rowCount >= 512 { output.append(takeText()) }
        case .ndjson: output.append(RejectPrinter.json(entry).line + "\n")
        case .lp: output.append(line(refusal))
        }
    }

    mutating func end() {
        guard case .table = format else { return }
        if count == 0 { return output.append("(no rejects)\n") }
        output.append(takeText() + table.note(elsewhere: "--format ndjson"))
    }

    /// The reason is the last column and the most important one, so no column may be dropped.
    private mutating func takeText() -> String {
        if let widthMax { table.fit(widthMax, dropsColumns: false) }
        return table.takeText()
    }

    /// The suffix of an entry that stands for several equal lines.
    private static func repeats(_ entry: RejectEntry) -> String {
        if entry.count == 1 { return "" }
        return " (and \(PlainText.grouped(entry.count - 1)) more equal lines, up to line "
            + "\(entry.lastLine))"
    }

    private static func number(_ number: Int) -> String { number > 0 ? String(number) : "" }

    private static func what(_ refusal: Refusal) -> String {
        switch refusal.subject {
        case .line(let bytes):
            // Cut long lines: one line of a megabyte would widen the column for all entries.
            let text = String(decoding: bytes.prefix(200), as: UTF8.self)
            return bytes.count > 200 ? text + "…" : text
        case .value(let experiment, let key, let time, let field, let value, _):
            let text = PlainText.cut(value.readableText, width: 200)
            // Whose value it is; passwords would say no more.
            let tags = key.tags.filter { !CredentialColumns.contains($0.name) }
                .map { ",\($0.name)=\($0.value)" }.joined()
            return "\(PlainText.cut(experiment + tags, width: 200)) \(field)=\(text) "
                + time.fullText
        }
    }

    private static func json(_ entry: RejectEntry) -> JSONValue {
        let refusal = entry.refusal
        var members: KeyValuePairs<String, JSONValue> = [:]
        switch refusal.subject {
        case .line(let bytes):
            members = ["line_text": .string(String(decoding: bytes, as: UTF8.self))]
        case .value(let experiment, let key, let time, let field, let value, let locked):
            let tags = key.tags.map { JSONValue.JSONMember(key: $0.name, value: .string($0.value)) }
            members = [
                "experiment": .string(experiment), "tags": .object(tags), "time": .time(time),
                "field": .string(field), "type": .string(value.type.name),
                "value": .init(value), "locked_type": .string(locked.name),
            ]
        }
        var result = members.map { JSONValue.JSONMember(key: $0.key, value: $0.value) }
        for (key, value) in [
            ("reason", JSONValue.string(refusal.reason)), ("source", .string(refusal.source)),
            ("line", .count(refusal.line)), ("column", .count(refusal.column)),
            ("state", .string(entry.state.rawValue)), ("count", .count(entry.count)),
            ("last_line", .count(entry.lastLine)),
        ] { result.append(JSONValue.JSONMember(key: key, value: value)) }
        if refusal.isCut { result.append(JSONValue.JSONMember(key: "cut", value: .boolean(true))) }
        return .object(result)
    }

    /// A refused line as received, or a refused value as a point; empty if line protocol cannot
    /// represent it.
    private mutating func line(_ refusal: Refusal) -> [UInt8] {
        var bytes: [UInt8] = []
        switch refusal.subject {
        case .line(let line): bytes = line
        case .value(let experiment, let key, let time, let field, let value, _):
            if refusal.isCut {
                losses.lose(
                    "the value of field \"\(field)\" is only the beginning of what was sent")
                return []
            }
            if let loss = RejectPrinter.loss(experiment, key, field, value) {
                losses.lose(loss)
                return []
            }
            LineProtocolText.append(experiment: experiment, to: &bytes)
            for tag in key.tags where !tag.value.isEmpty {
                bytes.append(UInt8(ascii: ","))
                LineProtocolText.append(key: tag.name, to: &bytes)
                bytes.append(UInt8(ascii: "="))
                LineProtocolText.append(key: tag.value, to: &bytes)
            }
            bytes.append(UInt8(ascii: " "))
            if LineText.isReadAsWhitespace(field) {
                bytes.append(contentsOf: LineText.ignoredField.utf8)
            }
            LineProtocolText.append(key: field, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            _ = LineProtocolText.append(value, to: &bytes)
            bytes.append(contentsOf: " \(time.nanoseconds)".utf8)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Why line protocol cannot represent a value; nil if it can.
    private static func loss(
        _ experiment: String, _ key: SeriesKey, _ field: String, _ value: FieldValue
    ) -> String? {
        guard LineText.canRepresent(experiment: experiment), !experiment.hasBytePrefix("{") else {
            return LineProtocolText.loss(experiment: experiment)
        }
        let tag = key.tags.first {
            !$0.value.isEmpty
                && !(LineProtocolText.canRepresent(key: $0.name) && LineText.canRepresent($0.value))
        }
        if let tag { return LineProtocolText.loss(tag: tag.name, tag.value) }
        if !LineProtocolText.canRepresent(key: field) { return LineProtocolText.loss(field: field) }
        if case .float(let number) = value, !number.isFinite {
            return LineProtocolText.loss(number: value)
        }
        return nil
    }
}

extension JSONValue {
    init(_ value: FieldValue) {
        switch value {
        case .float(let number): self = .number(number)
        case .integer(let number): self = .integer(number)
        case .string(let text): self = .string(text)
        case .boolean(let flag): self = .boolean(flag)
        }
    }
}
