// `cozdb write`: commits each point from standard input and acknowledges it on standard output.

internal import ArgumentParser
internal import CozDB
internal import CozImport

struct WriteCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case lp
    }

    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract:
            "Write points from standard input. Each point is durable before it is acknowledged.",
        discussion: """
            Prints one line per point on standard output, in order:

              ok                       stored and durable
              ok refused=2             stored without two values that do not fit their type
              refused 7:12 REASON      the point on line 7 is invalid at byte 12

            Refused points and values are kept in the rejects journal. Blank lines and comments \
            get no answer. A point without a time gets the current time in nanoseconds, always \
            later than the point before; --now gives all of them the same time. For large amounts \
            of data, import is much faster.

            Example:
              echo 'dev,id_participant=p1 ts_heart_rate=61i' | cozdb write --db study.cozdb
            """)

    @OptionGroup var database: DatabaseOption
    @OptionGroup var fileAccess: FileAccessOption
    @OptionGroup var wait: WaitOption
    @OptionGroup var options: WriteOptions

    @Option(help: "Input format; lp is line protocol.")
    var format = Format.lp

    func run() throws {
        try InputReader.checkStandardInput()
        let wasRefused = try Database.withWriter(
            database.path, creates: true, access: fileAccess.access, wait.lock
        ) { database throws(DatabaseError) in
            var session = try WriteSession(database, options)
            try session.run()
            return session.wasRefused
        }
        if wasRefused { throw ExitStatus.partlyRefused.exitCode }
    }
}

private struct WriteSession: ~Copyable {
    private let database: Database
    private var parser: LineProtocolParser
    private var batch = WriteBatch()
    /// Whether each point without a time gets its own time from the clock.
    private let hasClock: Bool
    private let output = OutputWriter()
    private(set) var wasRefused = false
    private var reportedJournalFull = false

    init(_ database: Database, _ options: WriteOptions) throws(DatabaseError) {
        self.database = database
        var parserOptions = LineProtocolParser.Options()
        parserOptions.precision = options.precision.unit
        parserOptions.now = options.clock
        parserOptions.cutsNow = options.now != nil
        hasClock = options.now == nil
        parserOptions.participant = options.participant
        if options.participant != nil {
            parserOptions.participantTags = ParticipantTags(
                options.participantTag, nil, try database.schemas())
        }
        parser = LineProtocolParser(options: parserOptions)
        batch.source = "standard input"
        batch.settings = options.settings
        batch.assumedParticipant = options.participant
    }

    mutating func run() throws(DatabaseError) {
        var input = InputReader.standardInput
        while true {
            // The clock may stand still or be set back.
            if hasClock { parser.now = max(Timestamp.now, parser.now.next) }
            switch try parser.parse(into: &batch, points: 1) {
            case .batchFull: try commit()
            case .finished:
                try commit()
                return
            case .needsInput:
                try commit()
                let bytes = try input.next()
                if bytes.isEmpty { parser.finish() } else { parser.append(bytes.span) }
            }
        }
    }

    private mutating func commit() throws(DatabaseError) {
        guard !batch.isEmpty else { return }
        let report = try database.write(batch)
        // The refusal of a forgotten participant does not quote the line.
        let refusal =
            report.forgottenPoints > 0
            ? report.examples.first : batch.refusals.first ?? report.examples.first
        if batch.rowCount == 0 || report.refusedPoints > 0 {
            wasRefused = true
            let place = "\(refusal?.line ?? 0):\(refusal?.column ?? 0)"
            output.append("refused \(place) \(PlainText.escaped(refusal?.reason ?? ""))\n")
        } else if report.refusedValues > 0 {
            wasRefused = true
            output.append("ok refused=\(report.refusedValues)\n")
        } else {
            output.append("ok\n")
        }
        try output.flush()
        if report.unkeptRefusals > 0, !reportedJournalFull {
            reportedJournalFull = true
            StandardError.writeLine(
                "cozdb: the rejects journal is full: refused data is counted but not kept. Export "
                    + "it with cozdb rejects export, then empty it with cozdb rejects clear")
        }
        batch.removeAll()
    }
}

extension Timestamp {
    fileprivate var next: Timestamp { Swift.min(.max, Timestamp(nanoseconds: nanoseconds &+ 1)) }
}
