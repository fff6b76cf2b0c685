// Options of `import` that describe the columns of a table.

internal import ArgumentParser
internal import CozDB
internal import CozImport

struct TableImportOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Column with the experiment of each row.", valueName: "name"))
    var experimentColumn: String?

    @Option(
        help: ArgumentHelp(
            "Column with the time (default: the first of time, _time, timestamp, datetime, "
                + "index_time, index; case does not matter).",
            valueName: "name"))
    var timeColumn: String?

    @Option(
        help: ArgumentHelp(
            "Column with the time of day, if the time column has only the date.",
            valueName: "name"))
    var timeOfDayColumn: String?

    @Option(
        help: ArgumentHelp(
            "Column with the participant (default: the column named after the participant tag).",
            valueName: "name"))
    var participantColumn: String?

    @Option(
        help: ArgumentHelp(
            "Columns that are tags, in addition to the tags of the experiment. Can be repeated.",
            valueName: "name,name"))
    var tagColumns: [String] = []

    @Option(
        help: ArgumentHelp("Columns to skip.", valueName: "name,name"))
    var skipColumns: [String] = []

    @Option(
        help: ArgumentHelp(
            "Types of fields: float, integer, boolean or string (default: as in the database, "
                + "otherwise inferred from the values, but never integer).",
            valueName: "name=type,..."))
    var columnTypes: [String] = []

    @Option(
        help: ArgumentHelp(
            "Cell separator: one character, or tab (default: detected from the header).",
            valueName: "character"))
    var delimiter: String?

    @Flag(
        help: """
            Numbers have a decimal comma, and may have a point between groups of three digits: \
            1.234,5.
            """)
    var decimalComma = false

    @Option(
        name: .customLong("null"),
        help: ArgumentHelp(
            "Text that stands for a missing value, in addition to empty cells. Can be repeated.",
            valueName: "text"))
    var nulls: [String] = []

    @Option(
        help: ArgumentHelp(
            "Format of times: auto, rfc3339, ns, us, ms, s, or a strptime pattern.",
            valueName: "format"))
    var timeFormat = "auto"

    @Option(
        name: [.customLong("tz"), .customLong("time-zone")],
        help: ArgumentHelp(
            "Time zone of times without an offset, such as Asia/Singapore or +0800 (default: UTC).",
            valueName: "zone"))
    var timeZone: String?

    @Option(help: ArgumentHelp("Number of lines to skip before the header.", valueName: "n"))
    var skipLines = 0

    func validate() throws {
        guard skipLines >= 0 else {
            throw ValidationError("--skip-lines: found \(skipLines), expected 0 or more")
        }
        _ = try TableImportOptions.delimiterByte(delimiter)
        _ = try types()
        do throws(DatabaseError) {
            _ = try format()
            _ = try zone()
        } catch {
            throw ValidationError(error.messageWithRemedy)
        }
    }

    /// The options as values. `validate` has checked them.
    var options: TableOptions {
        var options = TableOptions()
        options.experimentColumn = experimentColumn
        options.timeColumn = timeColumn
        options.timeOfDayColumn = timeOfDayColumn
        options.participantColumn = participantColumn
        options.tagColumns = TableImportOptions.list(tagColumns)
        options.ignoredColumns = TableImportOptions.list(skipColumns)
        options.columnTypes = (try? types()) ?? []
        options.delimiter = (try? TableImportOptions.delimiterByte(delimiter)) ?? nil
        options.hasDecimalComma = decimalComma
        options.nulls = nulls
        options.timeFormat = (try? format()) ?? .automatic
        options.timeZone = (try? zone()) ?? nil
        options.skippedLines = skipLines
        return options
    }

    /// Splits lists of names at commas. A backslash before a comma makes it part of the name.
    static func list(_ words: [String]) -> [String] {
        var names: [String] = []
        for word in words {
            var name: [UInt8] = []
            var isEscaped = false
            for byte in word.utf8 {
                if isEscaped {
                    if byte != UInt8(ascii: ",") { name.append(UInt8(ascii: "\\")) }
                    name.append(byte)
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: ",") {
                    names.append(String(decoding: name, as: UTF8.self))
                    name = []
                } else {
                    name.append(byte)
                }
            }
            if isEscaped { name.append(UInt8(ascii: "\\")) }
            names.append(String(decoding: name, as: UTF8.self))
        }
        return names.filter { !$0.isEmpty }
    }

    private func types() throws -> [(name: String, type: FieldType)] {
        try TableImportOptions.list(columnTypes).map { word in
            let parts = word.utf8.lastIndex(of: UInt8(ascii: "=")).map {
                (String(word[..<$0]), String(word[word.utf8.index(after: $0)...]))
            }
            let types: [String: FieldType] = [
                "float": .float, "integer": .integer, "boolean": .boolean, "string": .string,
            ]
            guard let (name, type) = parts, !name.isEmpty, let type = types[type] else {
                throw ValidationError(
                    "--column-types: found \"\(word)\", expected NAME=TYPE with the type float, "
                        + "integer, boolean or string")
            }
            return (name, type)
        }
    }

    static func delimiterByte(_ text: String?) throws -> UInt8? {
        guard let text else { return nil }
        if text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
        let taken = "\"\n\r.+-_".utf8
        guard let byte = text.utf8.first, text.utf8.count == 1, byte < 0x80,
            !taken.contains(byte), !text.unicodeScalars.allSatisfy(\.properties.isAlphabetic),
            !("0"..."9").contains(text)
        else {
            throw ValidationError(
                "--delimiter: found \"\(text)\", expected tab or one ASCII character other than a "
                    + "letter, digit, quote, line break, or one of . + - _")
        }
        return byte
    }

    private func format() throws(DatabaseError) -> TableTimeFormat {
        switch timeFormat {
        case "auto": return .automatic
        case "rfc3339": return .rfc3339
        default:
            if let unit = TimeUnit(argument: timeFormat) { return .epoch(unit.unit) }
            guard timeFormat.utf8.contains(UInt8(ascii: "%")) else {
                throw DatabaseError(
                    .usage,
                    "--time-format: found \"\(timeFormat)\", expected auto, rfc3339, ns, us, ms, "
                        + "s, or a pattern such as \"%m/%d/%y %I:%M:%S %p\"")
            }
            return .pattern(try TimePattern(strptime: timeFormat))
        }
    }

    private func zone() throws(DatabaseError) -> TimeZoneRules? {
        guard let timeZone else { return nil }
        if let sign = timeZone.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            return try TimeZoneRules(offset: timeZone)
        }
        return try TimeZoneRules(named: timeZone)
    }
}
