// From lines to statements and commands: where a statement goes on, and where it ends.

internal import CozDB

/// Collects the lines of a statement.
struct PromptInput {
    /// What a line led to.
    enum Step: Equatable {
        /// The statement goes on in the next line.
        case more
        /// Statements to run, as typed.
        case run(String)
        case command(String)
        case nothing
        case quit
    }

    /// Lines of a statement that has not ended.
    private(set) var lines: [String] = []
    private let isComplete: (String) -> Bool

    /// - Parameter isComplete: whether a text may end where it does.
    init(isComplete: @escaping (String) -> Bool) {
        self.isComplete = isComplete
    }

    /// What stands before the next line.
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
        // A comment alone is no statement, nor the end of one.
        if trimmed.last == ";" && !isInComment || isComplete(text) { return end() }
        return .more
    }

    /// Forgets an unfinished statement.
    mutating func clear() {
        lines = []
    }

    private mutating func end() -> Step {
        defer { clear() }
        return .run(text)
    }

    /// Whether the text ends in a comment that a semicolon does not end.
    private var isInComment: Bool {
        var scanner = CompletionScanner(text)
        _ = scanner.words()
        return scanner.partial == .none
    }

    /// How a statement stands in the history: as one line where that means the same, else as the
    /// lines it was typed in.
    static func historyLines(_ text: String) -> [String] {
        let lines = text.split(separator: "\n").map { String($0).trimmed }.filter { !$0.isEmpty }
        return text.contains("--") ? lines : [lines.joined(separator: " ")]
    }
}

extension String {
    /// Without blanks at both ends.
    var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }),
            let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
