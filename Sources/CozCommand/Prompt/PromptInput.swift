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
            if trimmed.first == "\\", trimmed != "\\" { return .command(trimmed) }
            switch trimmed.lowercased() {
            case "quit", "exit", "quit;", "exit;": return .quit
            case "help", "help;": return .command("\\help")
            default: break
            }
        } else if trimmed.isEmpty {
            return end()
        }
        if trimmed.last == "\\" {
            lines.append(String(trimmed.dropLast()).trimmed)
            return .more
        }
        lines.append(line)
        // Parsing a long list once for each of its lines would take time by its square.
        if lines.count > PromptInput.parsedLineCountMax, trimmed.last == "," { return .more }
        // Neither a comment alone nor a semicolon in a comment ends a statement.
        if trimmed.last == ";" && !isInComment || isComplete(text) { return end() }
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
        let lines = text.split(separator: "\n").map { String($0).trimmed }.filter { !$0.isEmpty }
        return text.contains("--") ? lines : [lines.joined(separator: " ")]
    }
}

extension String {
    /// The string without leading and trailing whitespace.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
