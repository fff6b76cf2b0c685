// Names of database files. They are created and parsed only here and never contain names of
// experiments.

/// A file of a database.
enum FileName: Hashable {
    case lock
    case manifest
    /// A manifest being written. Ignored after a crash.
    case manifestDraft
    case log(UInt64)
    case segment(UInt64)
    /// In the directory `rejects`.
    case rejects(UInt64)
    /// In a backup, a longer copy of a log being written.
    case logDraft(UInt64)
    /// Marks the directory as a backup.
    case backupMark
    /// Marks an unfinished backup or restore.
    case incompleteMark
    /// Marks a repair that is not finished.
    case repairMark

    static let rejectsDirectory = "rejects"
    /// Files that a repair moved aside. Not part of the database.
    static let damagedDirectory = "damaged"
    /// Subdirectories that a database may have.
    static let directories: Set<String> = [rejectsDirectory, damagedDirectory]

    var text: String {
        switch self {
        case .lock: "LOCK"
        case .manifest: "MANIFEST"
        case .manifestDraft: "MANIFEST.new"
        case .log(let number): FileName.digits(number) + ".wal"
        case .segment(let number): FileName.digits(number) + ".seg"
        case .rejects(let number): FileName.digits(number) + ".rej"
        case .logDraft(let number): FileName.digits(number) + ".wal.new"
        case .backupMark: "BACKUP"
        case .incompleteMark: "INCOMPLETE"
        case .repairMark: "REPAIR"
        }
    }

    var isLog: Bool {
        if case .log = self { true } else { false }
    }

    /// All file numbers are below this; no database creates so many files.
    private static let numberLimit: UInt64 = 1 << 62

    /// Parses a name; nil if it is not one of a database file.
    init?(_ text: String) {
        switch text {
        case "LOCK": self = .lock
        case "MANIFEST": self = .manifest
        case "MANIFEST.new": self = .manifestDraft
        case "BACKUP": self = .backupMark
        case "INCOMPLETE": self = .incompleteMark
        case "REPAIR": self = .repairMark
        default:
            let parts = text.parts(separatedBy: ".", maxSplits: 1)
            guard parts.count == 2, let number = UInt64(parts[0]),
                number < FileName.numberLimit,
                FileName.digits(number) == parts[0]
            else { return nil }
            switch parts[1] {
            case "wal": self = .log(number)
            case "wal.new": self = .logDraft(number)
            case "seg": self = .segment(number)
            case "rej": self = .rejects(number)
            default: return nil
            }
        }
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, 8 - text.count)) + text
    }
}
