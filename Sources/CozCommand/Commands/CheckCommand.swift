// `cozdb check`: reads every byte and reports damage and what it lost.

internal import ArgumentParser
internal import CozDB

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read every byte and report what is damaged and what data is lost.",
        discussion: """
            Changes nothing and takes no lock. Exits with status 1 if anything is damaged. The \
            checksums of all bytes are verified. --decode also decodes all values. This takes \
            several times as long and finds errors that no disk can cause.

            Examples:
              cozdb check --db study.cozdb
              cozdb check --db study.cozdb --format json
            """)

    @OptionGroup var database: DatabaseOption

    @Option(help: "Output format: table for people, json for programs.")
    var format = ReportFormat.table

    @Flag(help: "Also decode all times and values, after verifying their checksums.")
    var decode = false

    func run() throws {
        let output = OutputWriter()
        var findings: [JSONValue] = []
        let summary = try Database.check(database.path, decodes: decode) { finding in
            switch format {
            case .json: findings.append(CheckCommand.json(finding))
            case .table:
                let place = finding.offset.map { ", offset \($0)" } ?? ""
                let lost = finding.lost.isEmpty ? "" : "; lost: \(finding.lost)"
                let text = "\(finding.file)\(place): \(finding.found)\(lost)"
                output.append("\(finding.severity.rawValue): \(PlainText.escaped(text))\n")
            }
        }
        let places = PlainText.counted(summary.damaged, "place")
        switch format {
        case .json:
            output.append(
                JSONValue.object([
                    "damaged": .count(summary.damaged), "files": .count(summary.files),
                    "bytes": .count(summary.bytes), "records": .count(summary.records),
                    "blocks": .count(summary.blocks), "findings": .array(findings),
                ]).text() + "\n")
        case .table:
            let verdict =
                summary.damaged == 0
                ? "no damage" : places + (summary.damaged == 1 ? " is damaged" : " are damaged")
            output.append(
                """
                \(verdict): read \(PlainText.counted(summary.files, "file")), \
                \(PlainText.size(summary.bytes)), \
                \(PlainText.counted(summary.records, "log record")), \
                \(PlainText.counted(summary.blocks, "block"))

                """)
        }
        try output.flush()
        guard summary.damaged == 0 else {
            let advice =
                summary.isBackup
                ? "copy the damaged files again"
                : "restore a backup, or save what is readable"
            DatabaseError(
                .damaged,
                "found damage in \(places), expected none. Nothing was changed; \(advice)",
                remedy: summary.isBackup ? .verifyBackup : .repair
            ).report()
            throw ExitStatus.damaged.exitCode
        }
    }

    static func json(_ finding: CheckFinding) -> JSONValue {
        .object([
            "severity": .string(finding.severity.rawValue), "file": .string(finding.file),
            "offset": finding.offset.map { .count($0) } ?? .null,
            "found": .string(finding.found), "lost": .string(finding.lost),
        ])
    }
}
