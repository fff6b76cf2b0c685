// Puts remedies into words: the commands and options of `cozdb`. No other file does.

internal import CozDB

extension Remedy {
    /// The command to run, or the options to look at.
    var text: String {
        switch self {
        case .repair: "run: cozdb repair --db DIR"
        case .previewRepair: "run: cozdb repair --db DIR --dry-run, then cozdb repair --db DIR"
        case .check: "run: cozdb check --db DIR"
        case .compact: "run: cozdb compact --db DIR"
        case .backup: "run: cozdb backup --db DIR BACKUP"
        case .verifyBackup: "run: cozdb backup --db DIR --verify BACKUP"
        case .restore: "run: cozdb restore BACKUP --db DIR"
        case .readmit: "run: cozdb forget --db DIR --readmit --participant ID"
        case .listForgotten: "run: cozdb forget --db DIR --list"
        case .removeDamagedFiles: "run: cozdb forget --db DIR --participant ID --with-damaged"
        case .change(let settings): "see \(settings.map(\.option).joined(separator: ", "))"
        }
    }
}

extension Remedy.Setting {
    /// The option that changes the setting.
    fileprivate var option: String {
        switch self {
        case .participantTag: "--participant-tag"
        case .participant: "--participant"
        case .identity: "--identity"
        case .typeRule: "--types"
        case .preset: "--preset"
        case .experiment: "--experiment"
        case .experimentColumn: "--experiment-column"
        case .timeColumn: "--time-column"
        case .participantColumn: "--participant-column"
        case .tagColumns: "--tag-columns"
        case .skippedColumns: "--skip-columns"
        case .columnTypes: "--column-types"
        case .timeOfDayColumn: "--time-of-day-column"
        case .delimiter: "--delimiter"
        case .decimalComma: "--decimal-comma"
        case .nulls: "--null"
        case .timeZone: "--time-zone"
        case .skippedLines: "--skip-lines"
        case .timeFormat: "--time-format"
        case .precision: "--precision"
        case .now: "--now"
        case .format: "--format"
        case .database: "--database"
        case .policy: "--policy"
        case .trailingCommas: "--lenient"
        case .atomic: "--atomic"
        case .stream: "--stream"
        case .range: "--from, --to"
        case .modalities: "--modality"
        case .redaction: "--redact"
        case .field: "--field"
        case .qualityField: "--quality-field"
        case .qualityMin: "--min-quality"
        }
    }
}

extension DatabaseError {
    /// The message and the remedy.
    var messageWithRemedy: String { message + remedyText }

    /// File, offset, message and remedy, as far as they are known.
    var descriptionWithRemedy: String { description + remedyText }

    private var remedyText: String { remedy.map { "; \($0.text)" } ?? "" }
}

extension Refusal {
    /// The remedy for a refusal, as far as options of an import help. Refusals are stored, so their
    /// reasons name no options.
    var remedy: Remedy? {
        let remedies: [(reason: String, settings: [Remedy.Setting])] = [
            ("missing identity tag", [.participantTag, .participant, .identity]),
            ("trailing comma", [.trailingCommas]),
            ("no experiment found", [.experiment]),
            ("no time found", [.timeColumn, .now]),
            ("give a time format", [.timeFormat]),
        ]
        return remedies.first { reason.contains($0.reason) }.map { .change($0.settings) }
    }
}
