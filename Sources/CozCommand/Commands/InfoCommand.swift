// `cozdb info`: what a database holds and how large it is.

internal import ArgumentParser
internal import CozDB
internal import Glibc

struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show what a database holds: experiments, rows, values, bytes.",
        discussion: """
            Opens read-only; a writer beside it is not disturbed.

            Examples:
              cozdb info --db study.cozdb
              cozdb info --db study.cozdb --format json
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "A table for people or JSON for programs.")
    var format = ReportFormat.table

    func run() throws {
        let info = try Database.withReader(database.path) { database throws(DatabaseError) in
            try database.info()
        }
        let output = OutputWriter()
        output.append(format == .json ? json(info).text() + "\n" : table(info))
        try output.flush()
    }

    /// - Parameter elsewhere: what shows the columns that a terminal has no room for.
    static func experiments(_ info: DatabaseInfo, elsewhere: String) -> String {
        var experiments = TextTable([
            .init("experiment"), .init("identity"), .init("types"), .init("series", right: true),
            .init("rows", right: true), .init("values", right: true),
            .init("fields", right: true), .init("bytes", right: true), .init("first time"),
            .init("last time"),
        ])
        for experiment in info.experiments {
            experiments.append([
                experiment.name, experiment.identity.text, experiment.typeRule.text,
                PlainText.grouped(experiment.series), PlainText.grouped(experiment.rows),
                PlainText.grouped(experiment.values), PlainText.grouped(experiment.fields),
                PlainText.size(experiment.bytes), experiment.firstTime?.fullText ?? "",
                experiment.lastTime?.fullText ?? "",
            ])
        }
        return experiments.takeText(
            widthMax: Terminal.columns(STDOUT_FILENO), elsewhere: elsewhere)
    }

    private func table(_ info: DatabaseInfo) -> String {
        let shown = InfoCommand.experiments(info, elsewhere: "--format json")
        let state = info.isSealed ? "closed cleanly" : "in use, or not closed cleanly"
        return """
            \(shown)
            segments   \(PlainText.grouped(info.segments)), \(PlainText.size(info.segmentBytes))
            log        \(PlainText.grouped(info.walFiles)), \(PlainText.size(info.walBytes))
            rejects    \(PlainText.grouped(info.rejects)), \(PlainText.size(info.rejectBytes))
            on disk    \(PlainText.size(info.diskBytes))
            commits    \(info.sequence), \(state)

            """
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
            "rejects": .count(info.rejects),
            "reject_bytes": .count(info.rejectBytes),
            "bytes": .count(info.diskBytes),
            "commits": .integer(Int64(truncatingIfNeeded: info.sequence)),
            "closed_cleanly": .boolean(info.isSealed),
        ])
    }
}

extension TypeRule {
    /// As `--types` takes it.
    var text: String { self == .strict ? "strict" : "lossless" }
}
