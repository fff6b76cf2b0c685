// The prompt of `cozdb query`: reads statements, runs them and prints their answers.

internal import CozDB
internal import CozPlatform

final class Prompt {
    private var session: QuerySession
    /// The time of `\now` or `--now`; nil uses the current time for each statement.
    private var clock: Timestamp?
    private let reader: any LineReader
    private let history: HistoryFile?
    private let pagerCommand: String?
    private var usesPager = true

    /// - Parameter clock: The time of `--now`.
    init(
        _ session: QuerySession, clock: Timestamp?, reader: any LineReader, history: HistoryFile?,
        pagerCommand: String?
    ) {
        self.session = session
        self.clock = clock
        self.reader = reader
        self.history = history
        self.pagerCommand = pagerCommand
    }

    /// Runs a prompt on standard input and output until the user leaves.
    ///
    /// - Throws: Errors of opening the database, before the first prompt.
    static func run(
        _ session: QuerySession, clock: Timestamp?, keepsHistory: Bool
    ) throws(DatabaseError) {
        let greeting = try greeting(session.path)
        let history = keepsHistory ? HistoryFile.standard(Environment.value) : nil
        var names = DatabaseNames(path: session.path)
        names.redactsSecrets = session.options.redactsSecrets
        let completer = Completer(catalog: names)
        guard
            let reader = TerminalEditor(
                history: history?.read() ?? [], complete: completer.completion)
        else {
            throw DatabaseError(
                .io,
                "cannot set up the terminal for editing; pass the statement as an argument, or use "
                    + "- to read standard input")
        }
        let prompt = Prompt(
            session, clock: clock, reader: reader, history: history,
            pagerCommand: Pager.standardCommand(Environment.value))
        Signals.beginPrompt()
        Signals.retainFreeMemory()
        prompt.say(greeting)
        prompt.loop()
    }

    private static func greeting(_ path: String) throws(DatabaseError) -> String {
        let (experiments, rows) = try Database.withReader(path) { database throws(DatabaseError) in
            (try database.schemas().count, try database.rowCount())
        }
        return """
            CozDB \(Version.text), \(PlainText.escaped(path)): \
            \(PlainText.counted(experiments, "experiment")), \(PlainText.counted(rows, "row")). \
            Type \\help for help.

            """
    }

    /// Reads and runs statements until the end. A failed statement does not end the loop.
    func loop() {
        var input = PromptInput { [self] text in
            QueryLanguage.isComplete(text, options: session.options)
        }
        while true {
            let prompt = input.lines.isEmpty ? "cozdb> " : "   ... "
            switch reader.line(prompt: prompt, after: input.lines) {
            case .end: return
            case .interrupted(let wasEmpty):
                if wasEmpty, input.lines.isEmpty { say("Press Ctrl-D or type \\quit to leave.\n") }
                input.clear()
            case .tooLong:
                input.clear()
                DatabaseError(
                    .usage,
                    "the line has more than \(TerminalEditor.characterCountMax) characters; type "
                        + "the statement in several lines, or use --file"
                ).report()
            case .line(let line):
                switch input.take(line) {
                case .more, .nothing: break
                case .quit:
                    remember(line)
                    return
                case .command(let text):
                    remember(text)
                    if run(command: text) { return }
                case .run(let text):
                    remember(text)
                    run(text)
                }
            }
        }
    }

    private func remember(_ text: String) {
        for line in PromptInput.historyLines(text) {
            reader.remember(line)
            history?.append(line)
        }
    }

    private func say(_ text: String) {
        let output = OutputWriter()
        output.append(text)
        try? output.flush()
    }

    private func run(_ text: String) {
        Signals.clearInterrupt()
        session.options.now = clock ?? .now
        session.pagerCommand = usesPager ? pagerCommand : nil
        do throws(DatabaseError) {
            // Each statement opens the database anew. It sees all commits, and its own changes are
            // written and the lock is free before the next prompt.
            _ = try session.run(text)
        } catch {
            error.report()
        }
    }

    // MARK: Commands

    /// - Returns: Whether to leave the prompt.
    private func run(command text: String) -> Bool {
        do throws(DatabaseError) {
            switch try PromptCommand.parse(text) {
            case .quit: return true
            case .help: show(PromptCommand.helpText)
            case .experiments: show(try experiments())
            case .fields(let name): show(try fields(name))
            case .format(let format):
                if let format { session.use(format) }
                say("\\format \(session.format.rawValue)\n")
            case .timing(let flag):
                if let flag { session.timing = flag }
                say("\\timing \(session.timing ? "on" : "off")\n")
            case .pager(let flag):
                if let flag { usesPager = flag }
                say(pagerState)
            case .epoch(let choice):
                switch choice {
                case .unit(let unit): session.epoch = unit
                case .off: session.epoch = nil
                case nil: break
                }
                say("\\epoch \(session.epoch?.rawValue ?? "off")\n")
            case .now(let choice):
                switch choice {
                case .time(let time): clock = time
                case .clock: clock = nil
                case nil: break
                }
                say("\\now \(clock?.fullText ?? "off, using the current time")\n")
            }
        } catch {
            error.report()
        }
        return false
    }

    private var pagerState: String {
        guard usesPager else { return "\\pager off\n" }
        guard let pagerCommand else { return "\\pager on, but no pager was found; set PAGER\n" }
        return "\\pager on, \(PlainText.escaped(pagerCommand))\n"
    }

    private func show(_ text: String) {
        let output = OutputWriter(pager: usesPager ? Pager.forTerminal(pagerCommand) : nil)
        output.append(text)
        try? output.flush()
    }

    private func experiments() throws(DatabaseError) -> String {
        let info = try Database.withReader(session.path) { database throws(DatabaseError) in
            try database.info()
        }
        guard !info.experiments.isEmpty else { return "(no experiments)\n" }
        return ReportTables.experiments(info, elsewhere: "cozdb info --format json")
    }

    private func fields(_ name: String) throws(DatabaseError) -> String {
        let (columns, schemas) = try Database.withReader(session.path) {
            database throws(DatabaseError) in
            (try database.columns(of: name), try database.schemas())
        }
        let schema = schemas.first { $0.name.utf8.elementsEqual(name.utf8) }
        return ReportTables.columns(
            columns, of: schema, elsewhere: "cozdb schema --format json")
    }
}
