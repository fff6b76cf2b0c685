// Commands of the prompt that begin with a backslash: settings, and lists of names.

internal import CozDB

enum PromptCommand: Equatable {
    case help
    case quit
    case experiments
    case fields(String)
    /// Nil shows the current value.
    case format(AnswerFormat?)
    case timing(Bool?)
    case pager(Bool?)
    case epoch(EpochChoice?)
    case now(ClockChoice?)

    enum EpochChoice: Equatable {
        case off
        case unit(TimeUnit)
    }

    enum ClockChoice: Equatable {
        case clock
        case time(Timestamp)
    }

    /// Name, argument, and description.
    static let list: [(name: String, value: String, help: String)] = [
        ("\\help", "", "show this list"),
        ("\\quit", "", "leave (also Ctrl-D)"),
        ("\\experiments", "", "list experiments with their rows, fields and times"),
        ("\\fields", "NAME", "list fields and attributes of an experiment: type, unit, count"),
        ("\\format", formats.joined(separator: "|"), "set the output format"),
        ("\\timing", "on|off", "print elapsed_ms=N after each answer"),
        ("\\pager", "on|off", "show long answers in a pager ($PAGER or less)"),
        (
            "\\epoch", (units + ["off"]).joined(separator: "|"),
            "print times as integers in this unit since 1970"
        ),
        ("\\now", "TIME|off", "set the value of now() (off: the current time)"),
    ]

    static let names = list.map(\.name)

    private static let formats = AnswerFormat.allCases.map(\.rawValue)
    private static let units = TimeUnit.allCases.map(\.rawValue)

    /// The words that can follow a command, if they can be listed.
    static func values(of name: String) -> [String] {
        switch name {
        case "\\format": formats
        case "\\timing", "\\pager": ["on", "off"]
        case "\\epoch": units + ["off"]
        case "\\now": ["off"]
        default: []
        }
    }

    /// Parses a line that begins with a backslash.
    ///
    /// - Throws: `usage` with the possible commands or values.
    static func parse(_ line: String) throws(DatabaseError) -> PromptCommand {
        let words = line.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
            .map { String($0) }
        let typed = words.first ?? "\\"
        let value = words.count > 1 ? words.dropFirst().joined(separator: " ") : nil
        let name = try name(typed.lowercased())
        switch name {
        case "\\help": return .help
        case "\\quit": return .quit
        case "\\experiments": return .experiments
        case "\\fields":
            guard let value else { throw wrong(name, "no name", "the name of an experiment") }
            return .fields(unquoted(value))
        case "\\format":
            return .format(try choice(name, value, formats) { AnswerFormat(rawValue: $0) })
        case "\\timing": return .timing(try choice(name, value, ["on", "off"], flag))
        case "\\pager": return .pager(try choice(name, value, ["on", "off"], flag))
        case "\\epoch":
            return .epoch(
                try choice(name, value, units + ["off"]) { word in
                    if word == "off" { return .off }
                    return TimeUnit(argument: word).map { .unit($0) }
                })
        default:
            return .now(
                try choice(name, value, ["a time such as 2024-03-05T08:00:00Z", "off"]) { word in
                    if word.lowercased() == "off" { return .clock }
                    return ClockTime(argument: word).map { .time($0.time) }
                })
        }
    }

    /// The full name of a command. Any unambiguous prefix is accepted.
    private static func name(_ typed: String) throws(DatabaseError) -> String {
        if typed == "\\?" || typed == "\\h" { return "\\help" }
        let found = names.filter { $0.hasBytePrefix(typed) }
        if found.contains(typed) { return typed }
        if found.count == 1, typed.utf8.count > 1 { return found[0] }
        let among = found.count > 1 && typed.utf8.count > 1 ? found : names
        throw DatabaseError(
            .usage, "found \(typed), expected one of \(among.joined(separator: ", "))")
    }

    private static func flag(_ word: String) -> Bool? {
        switch word {
        case "on": true
        case "off": false
        default: nil
        }
    }

    private static func choice<Value>(
        _ name: String, _ word: String?, _ words: [String], _ read: (String) -> Value?
    ) throws(DatabaseError) -> Value? {
        guard let word else { return nil }
        if let value = read(word) ?? read(word.lowercased()) { return value }
        throw wrong(name, word, words.joined(separator: ", "))
    }

    private static func wrong(
        _ name: String, _ found: String, _ expected: String
    ) -> DatabaseError {
        DatabaseError(.usage, "\(name): found \(found), expected \(expected)")
    }

    /// Accepts names with or without quotes.
    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count > 1, text.hasBytePrefix("\""), text.hasByteSuffix("\"") else {
            return text
        }
        return String(decoding: text.utf8.dropFirst().dropLast(), as: UTF8.self)
    }

    static var helpText: String {
        var table = TextRows()
        for command in list { table.append("\(command.name) \(command.value)", command.help) }
        return """
            A statement ends with ; or at the end of a line that completes it.
            It continues on the next line after \\ at the end of a line, inside
            parentheses and comments, and while it is incomplete. An empty line ends it.

            \(table.text)
            Tab completes keywords, functions, names, tag values, time zones and commands.
            Up and Ctrl-R go back in the history. Ctrl-C cancels the running statement, or
            drops the line. docs/query-language.md describes the language.

            """
    }
}

/// Text in two columns; the first is as wide as necessary.
private struct TextRows {
    private var rows: [(String, String)] = []

    mutating func append(_ left: String, _ right: String) { rows.append((left, right)) }

    var text: String {
        // The description of a wider entry goes on its own line.
        let width = rows.map { PlainText.width($0.0) }.filter { $0 <= 20 }.max() ?? 0
        return rows.map { left, right in
            let isWide = PlainText.width(left) > width
            let gap = isWide ? "\n  " + String(repeating: " ", count: width) : ""
            return "  " + (isWide ? left + gap : PlainText.padded(left, to: width)) + "  \(right)\n"
        }.joined()
    }
}
