// `cozdb info`: shows the contents and the size of a database.

internal import ArgumentParser
internal import CozDB
internal import CozPlatform

struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show what a database holds: experiments, rows, values, bytes.",
        discussion: """
            Opens the database read-only and does not block writers.

            Examples:
              cozdb info --db study.cozdb
              cozdb info --db study.cozdb --format json
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    func run() throws {
        let info = try Database.withReader(database.path) { database throws(DatabaseError) in
            try database.info()
        }
        let output = OutputWriter()
        output.append(format == .json ? json(info).text() + "\n" : table(info))
        try output.flush()
    }

    private func table(_ info: DatabaseInfo) -> String {
        let shown = ReportTables.experiments(info, elsewhere: "--format json")
        let state = info.isSealed ? "closed cleanly" : "in use, or not closed cleanly"
        return """
            \(shown)
            segments   \(PlainText.grouped(info.segments)), \(PlainText.size(info.segmentBytes))
            log        \(PlainText.grouped(info.walFiles)), \(PlainText.size(info.walBytes))
            rejects    \(rejects(info))
            on disk    \(PlainText.size(info.diskBytes))
            commits    \(info.sequence), \(state)

            """
    }

    private func rejects(_ info: DatabaseInfo) -> String {
        var text = "\(PlainText.grouped(info.rejects)), \(PlainText.size(info.rejectBytes))"
        if info.unkeptRejects > 0 {
            text +=
                "; \(PlainText.grouped(info.unkeptRejects)) more were not kept "
                + "because the journal was full"
        }
        return text
    }

    private func json(_ info: DatabaseInfo) -> JSONValue {
        .object([
            "experiments": .array(
                info.experiments.map { experiment in
                    .object([
                        "name": .string(experiment.name),
                        "identity": .string(experiment.identity.text),
                        "types": .string(experiment.typeRule.text),
                        "preset": .string(experiment.preset),
                        "series": .count(experiment.series),
                        "rows": .count(experiment.rows),
                        "values": .count(experiment.values),
                        "fields": .count(experiment.fields),
                        "attributes": .count(experiment.attributes),
                        "bytes": .count(experiment.bytes),
                        "first_time": .time(experiment.firstTime),
                        "last_time": .time(experiment.lastTime),
                    ])
                }),
            "rows": .count(info.experiments.reduce(0) { $0 + $1.rows }),
            "values": .count(info.experiments.reduce(0) { $0 + $1.values }),
            "fields": .count(info.experiments.reduce(0) { $0 + $1.fields }),
            "segments": .count(info.segments),
            "segment_bytes": .count(info.segmentBytes),
            "wal_files": .count(info.walFiles),
            "wal_bytes": .count(info.walBytes),
            "rejects": .count(info.rejects), "unkept_rejects": .count(info.unkeptRejects),
            "reject_bytes": .count(info.rejectBytes),
            "bytes": .count(info.diskBytes),
            "commits": .integer(Int64(truncatingIfNeeded: info.sequence)),
            "closed_cleanly": .boolean(info.isSealed),
        ])
    }
}

extension TypeRule {
    /// The rule as `--types` accepts it.
    var text: String { self == .strict ? "strict" : "lossless" }
}
