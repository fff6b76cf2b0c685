// Options that several subcommands share, and helpers to open databases.

internal import ArgumentParser
internal import CozDB
internal import CozStudy
internal import CozPlatform

struct DatabaseOption: ParsableArguments {
    @Option(
        name: .customLong("db"), help: ArgumentHelp("Directory of the database.", valueName: "dir"),
        completion: .directory)
    var path: String

    func validate() throws {
        guard !path.isEmpty else {
            throw ValidationError("--db: found an empty path, expected the directory of a database")
        }
    }
}

/// Who may read the files that a command creates.
struct FileAccessOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            """
            Create files that the group can read: files with mode 0640 and directories with 0750, \
            instead of 0600 and 0700. Existing files keep their modes (chmod -R g+rX changes them).
            """))
    var groupReadable = false

    var access: DatabaseOptions.FileAccess { groupReadable ? .groupReadable : .ownerOnly }
}

struct WaitOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Wait up to this long for another writer to finish, instead of exiting with status 4 "
                + "at once: 0 to 86400.",
            valueName: "seconds"))
    var wait = 0

    func validate() throws {
        guard (0...86_400).contains(wait) else {
            throw ValidationError("--wait: found \(wait), expected 0 to 86400")
        }
    }

    var lock: LockWait { LockWait(seconds: wait) }
}

/// The option for CSV that is opened in spreadsheets.
struct SafeCellsOption: ParsableArguments {
    @Flag(
        help: """
            For CSV opened in spreadsheets: put an apostrophe before text that starts with =, +, \
            -, @, a tab or a line break, so that it is not run as a formula. Numbers stay \
            unchanged.
            """)
    var safeCells = false

    /// - Throws: `ValidationError` if the output is not CSV.
    func check(isCSV: Bool) throws {
        if safeCells, !isCSV {
            throw ValidationError("found --safe-cells without a CSV format, expected --format csv")
        }
    }

    var style: CSVStyle { CSVStyle(marksFormulas: safeCells) }
}

/// The options for tables that are opened in spreadsheets.
struct SpreadsheetOptions: ParsableArguments {
    @OptionGroup private var cells: SafeCellsOption

    @Option(help: "Delimiter of CSV: one ASCII character, or tab (default: a comma).")
    var delimiter: String?

    @Flag(
        help: """
            For CSV opened where decimals have a comma: write 1,5 instead of 1.5. The delimiter is \
            then a semicolon, unless --delimiter is given.
            """)
    var decimalComma = false

    func validate() throws {
        guard decimalComma, style.delimiter == UInt8(ascii: ",") else { return }
        throw ValidationError("found --delimiter , with --decimal-comma, expected another one")
    }

    /// - Throws: `ValidationError` if the output is not CSV.
    func check(isCSV: Bool) throws {
        try cells.check(isCSV: isCSV)
        if try TableImportOptions.delimiterByte(delimiter) == UInt8(ascii: ":") {
            throw ValidationError(
                "--delimiter: found \":\", which times have; expected another one")
        }
        if delimiter != nil || decimalComma, !isCSV {
            throw ValidationError(
                "found --\(delimiter != nil ? "delimiter" : "decimal-comma") without a CSV format, "
                    + "expected --format csv")
        }
    }

    var style: CSVStyle {
        var style = cells.style
        let byte = try? TableImportOptions.delimiterByte(delimiter)
        style.delimiter = byte ?? (decimalComma ? UInt8(ascii: ";") : style.delimiter)
        style.hasDecimalComma = decimalComma
        return style
    }
}

enum ReportFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}

extension Database {
    /// Opens a database for writing, calls `body`, and closes the database. The close flushes and
    /// seals the database even if `body` throws.
    ///
    /// - Parameters:
    ///   - creates: Whether to create a database in a missing or empty directory.
    ///   - access: Who may read a database that is created.
    ///   - wait: How long to wait for another writer.
    static func withWriter<Result>(
        _ path: String, creates: Bool, access: DatabaseOptions.FileAccess = .ownerOnly,
        _ wait: LockWait, _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let (result, failure) = try withWriterReturningCloseError(
            path, creates: creates, access: access, wait, body)
        if let failure { throw failure }
        return result
    }

    /// Like `withWriter`, but returns an error of the close instead of throwing it, so that the
    /// caller can still report what `body` did.
    static func withWriterReturningCloseError<Result>(
        _ path: String, creates: Bool, access: DatabaseOptions.FileAccess, _ wait: LockWait,
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> (result: Result, failure: DatabaseError?) {
        var options = options(creates: creates)
        options.fileAccess = access
        let database = try wait.retryWhileLocked { () throws(DatabaseError) in
            try open(path, access: .readWrite, options: options)
        }
        let result: Result
        do {
            result = try body(database)
        } catch {
            // Report the first error; the close may fail for the same reason.
            try? database.close()
            throw error
        }
        do throws(DatabaseError) {
            try database.close()
        } catch {
            return (result, error)
        }
        return (result, nil)
    }

    static func withReader<Result>(
        _ path: String, _ body: (Database) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let database = try open(path, access: .readOnly)
        defer { try? database.close() }
        return try body(database)
    }

    private static func options(creates: Bool) -> DatabaseOptions {
        var options = DatabaseOptions()
        options.createsDatabase = creates
        options.presets = [.cozieV3, .braceletRaw]
        return options
    }
}

extension DatabaseSnapshot {
    /// Returns `name`, or the only experiment of the database if `name` is nil.
    ///
    /// - Throws: Without a name, `notFound` if there is no experiment and `usage` if there are
    ///   several.
    func experiment(_ name: String?) throws(DatabaseError) -> String {
        if let name { return name }
        let names = schemas.map(\.name)
        if names.count == 1 { return names[0] }
        if names.isEmpty {
            throw DatabaseError(
                .notFound, "found no experiment in the database, expected one; import data first")
        }
        let shown = names.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
        throw DatabaseError(
            .usage,
            "found \(names.count) experiments (\(shown)), expected one; choose one with "
                + "--experiment")
    }
}

extension DatabaseError {
    /// The error that Ctrl-C causes.
    static let interrupted = DatabaseError(
        .cancelled, "interrupted; committed data is kept, the rest was not stored")

    static func checkInterrupt() throws(DatabaseError) {
        if Signals.isInterrupted { throw interrupted }
    }
}

extension Identity {
    /// The identity in the terms of `--identity`, for reports.
    var text: String {
        switch self {
        case .participant(let tag): "participant (tag \(tag))"
        case .allTags: "all"
        case .tags(let names): names.joined(separator: ",")
        }
    }
}

extension Timestamp {
    /// RFC 3339 in UTC with nine fraction digits.
    var fullText: String { TimeText(style: .full).text(nanoseconds) }
}
