// Splits an unfinished statement into words for completion. It only has to find names, quotes and
// parentheses; the library's lexer reads the statements that are run.

enum CompletionWord: Equatable {
    /// A keyword, an unquoted name or a number.
    case word(String)
    /// A name in double quotes.
    case name(String)
    case text(String)
    case symbol(String)

    var text: String {
        switch self {
        case .word(let text), .name(let text), .text(let text), .symbol(let text): text
        }
    }

    func isKeyword(_ keyword: String) -> Bool {
        if case .word(let text) = self { text.uppercased() == keyword } else { false }
    }
}

/// Reads the words before the cursor, without the one at the cursor.
struct CompletionScanner {
    /// The unfinished word at the cursor.
    enum Partial: Equatable {
        case word(String)
        /// Opened by a double quote.
        case quotedName(String)
        /// Opened by a single quote.
        case text(String)
        /// A comment, number or regular expression.
        case none
    }

    private let scalars: [Unicode.Scalar]
    private var index = 0
    /// What the text ends with.
    private(set) var partial = Partial.word("")

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    private static let pairs: Set<String> = ["!=", "<>", "<=", ">=", "=~", "!~", "::"]

    mutating func words() -> [CompletionWord] {
        var words: [CompletionWord] = []
        while index < scalars.count {
            let scalar = scalars[index]
            partial = .word("")
            if scalar.properties.isWhitespace {
                index += 1
            } else if starts("--") || starts("/*") {
                skipComment()
            } else if scalar == "'" || scalar == "\"" {
                if let word = quoted(scalar) { words.append(word) }
            } else if scalar == "/", isPattern(after: words.last) {
                skipPattern()
                words.append(.text(""))
            } else if isWordPart(scalar) {
                let text = word()
                if index < scalars.count {
                    words.append(.word(text))
                } else {
                    let isNumber = text.utf8.first.map { $0 < 0x3A } ?? false
                    partial = isNumber ? .none : .word(text)
                }
            } else {
                let pair = index + 1 < scalars.count ? text(index..<(index + 2)) : ""
                let symbol =
                    CompletionScanner.pairs.contains(pair) ? pair : String(Character(scalar))
                index += symbol.unicodeScalars.count
                words.append(.symbol(symbol))
            }
        }
        return words
    }

    private func text(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }

    private func starts(_ text: String) -> Bool {
        scalars[index...].starts(with: text.unicodeScalars)
    }

    private func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        // Non-ASCII letters need quotes in names, but the user may type one without.
        scalar == "_" || scalar.properties.isAlphabetic
            || ("0"..."9").contains(scalar)
    }

    private mutating func word() -> String {
        let start = index
        while index < scalars.count, isWordPart(scalars[index]) { index += 1 }
        return text(start..<index)
    }

    private mutating func skipComment() {
        let end: [Unicode.Scalar] = scalars[index] == "-" ? ["\n"] : ["*", "/"]
        index += 2
        while index < scalars.count, !scalars[index...].starts(with: end) { index += 1 }
        if index >= scalars.count { partial = .none }
        index = min(scalars.count, index + end.count)
    }

    private mutating func quoted(_ quote: Unicode.Scalar) -> CompletionWord? {
        index += 1
        let start = index
        while index < scalars.count, scalars[index] != quote {
            index += scalars[index] == "\\" ? 2 : 1
        }
        let content = text(start..<min(index, scalars.count))
        guard index < scalars.count else {
            partial = quote == "'" ? .text(content) : .quotedName(content)
            return nil
        }
        index += 1
        return quote == "'" ? .text(content) : .name(content)
    }

    private func isPattern(after word: CompletionWord?) -> Bool {
        switch word {
        case nil, .symbol("=~"), .symbol("!~"), .symbol(","), .symbol("("): true
        case .word(let text): ["SELECT", "FROM", "BY"].contains(text.uppercased())
        default: false
        }
    }

    private mutating func skipPattern() {
        index += 1
        while index < scalars.count, scalars[index] != "/" {
            index += scalars[index] == "\\" ? 2 : 1
        }
        if index >= scalars.count { partial = .none }
        index = min(scalars.count, index + 1)
    }
}
