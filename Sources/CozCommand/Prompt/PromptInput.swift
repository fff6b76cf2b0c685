// Joins the lines of a prompt into statements and commands.

internal import CozDB

struct PromptInput {
    enum Step: Equatable {
        /// The statement continues on the next line.
        case more
        /// Statements to run, as typed.
        case run(String)
        case command(String)
        case nothing
        case quit
    }

    /// After more lines, one that ends with a comma does not end a statement, even a wrong one.
    private static let parsedLineCountMax = 64

    /// The lines of an unfinished statement.
    private(set) var lines: [String] = []
    private let isComplete: (String) -> Bool

    /// - Parameter isComplete: Whether a statement may end at the end of a text.
    init(isComplete: @escaping (String) -> Bool) {
        self.isComplete = isComplete
    }

    /// The unfinished statement so far.
    var text: String { lines.joined(separator: "\n") }

    mutating func take(_ line: String) -> Step {
        let trimmed = line.trimmed
        if lines.isEmpty {
            if trimmed.isEmpty { return .nothing }
            if trimmed.hasBytePrefix("\\"), trimmed != "\\" { return .command(trimmed) }
            switch trimmed.lowercased() {
            case "quit", "exit", "quit;", "exit;": return .quit
            case "help", "help;": return .command("\\help")
            default: break
            }
        } else if trimmed.isEmpty {
            return end()
        }
        if trimmed.hasByteSuffix("\\") {
            lines.append(String(trimmed.unicodeScalars.dropLast()).trimmed)
            return .more
        }
        lines.append(line)
        // Parsing a long list once for each of its lines would take time by its square.
        if lines.count > PromptInput.parsedLineCountMax, trimmed.hasByteSuffix(",") { return .more }
        // Neither a comment alone nor a semicolon in a comment ends a statement.
        if trimmed.hasByteSuffix(";") && !isInComment || isComplete(text) { return end() }
        return .more
    }

    mutating func clear() {
        lines = []
    }

    private mutating func end() -> Step {
        defer { clear() }
        return .run(text)
    }

    /// Whether the text ends inside a comment, where a semicolon does not count.
    private var isInComment: Bool {
        var scanner = CompletionScanner(text)
        _ = scanner.words()
        return scanner.partial == .none
    }

    /// The lines of a statement for the history: one line if that keeps its meaning, otherwise the
    /// lines as typed.
    static func historyLines(_ text: String) -> [String] {
        let lines = text.parts(separatedBy: "\n").map(\.trimmed).filter { !$0.isEmpty }
        let hasComment = text.unicodeScalars.contains("--".unicodeScalars)
        return hasComment ? lines : [lines.joined(separator: " ")]
    }
}

extension String {
    /// The string without leading and trailing whitespace.
    var trimmed: String {
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}
