// Finds out what can stand at the cursor from the words before it. An unfinished statement does not
// parse, so this only follows clauses and parentheses. If in doubt, it offers too much.

internal import CozDB

/// What can stand at the cursor.
struct CompletionContext {
    enum Expected: Equatable {
        case words([String])
        case experiment
        /// Fields, tags and functions; in a condition also now() and time.
        case value(isCondition: Bool)
        case dimension
        case field
        case tag
        case nothing
    }

    /// What a string at the cursor is compared with, or the function that takes it.
    enum StringRole: Equatable {
        case zone
        case value(tag: String)
    }

    private(set) var partial = CompletionScanner.Partial.word("")
    private(set) var expected = Expected.nothing
    private(set) var string: StringRole?
    /// Names after FROM, before and after the cursor; empty if there are none yet.
    private(set) var experiments: [String] = []

    init(before: String, after: String) {
        var scanner = CompletionScanner(before)
        var words = scanner.words()
        partial = scanner.partial
        if let end = words.lastIndex(of: .symbol(";")) { words.removeFirst(end + 1) }
        var frames = ClauseFrames()
        for word in words { frames.take(word) }
        expected = frames.expected
        string = CompletionContext.role(words, frames)
        // The space completes the last word.
        var rest = CompletionScanner(after + " ")
        let following = rest.words().prefix { $0 != .symbol(";") }
        experiments = CompletionContext.sources(words + following)
    }

    /// Quotes a name for a statement.
    static func quoted(_ text: String, _ quote: Character) -> String {
        var result = String(quote)
        for character in text.unicodeScalars {
            switch character {
            case "\n": result += "\\n"
            case "\\": result += "\\\\"
            case _ where Character(character) == quote: result += "\\" + String(quote)
            default: result.unicodeScalars.append(character)
            }
        }
        return result + String(quote)
    }

    private static func role(
        _ words: [CompletionWord], _ frames: ClauseFrames
    ) -> StringRole? {
        if frames.function == "tz" { return .zone }
        // `name = '`, `name != '`, `name IN ('a', '`
        var index = words.count - 1
        if frames.isList {
            while index >= 0, words[index] != .symbol("(") { index -= 1 }
            index -= 1
            while index >= 0, words[index].isKeyword("IN") || words[index].isKeyword("NOT") {
                index -= 1
            }
        } else {
            guard index > 0, ["=", "!=", "<>"].contains(words[index].text) else { return nil }
            index -= 1
        }
        // `name::tag`
        if index >= 2, words[index - 1] == .symbol("::") { index -= 2 }
        guard index >= 0 else { return nil }
        switch words[index] {
        case .word(let name), .name(let name): return .value(tag: name)
        case .text, .symbol: return nil
        }
    }

    /// The names between FROM and the next clause. Of `database.policy.name` it takes the last
    /// part.
    private static func sources(_ words: [CompletionWord]) -> [String] {
        var names: [String] = []
        var isSource = false
        var isNext = false
        for (index, word) in words.enumerated() {
            switch word {
            case .word("FROM"), .word("from"), .word("From"), .word("EXPERIMENT"),
                .word("experiment"):
                isSource = true
                isNext = true
            case .symbol(","): isNext = isSource
            case .word(let name) where isNext, .name(let name) where isNext:
                // A qualifier is followed by a point.
                let following = index + 1 < words.count ? words[index + 1].text : ""
                if following != "." {
                    names.append(name)
                    isNext = false
                }
            case .word: isSource = false
            case .name, .text, .symbol: break
            }
        }
        return names
    }
}

/// Follows clauses and parentheses up to the cursor.
struct ClauseFrames {
    private struct Frame {
        /// The function's name in lower case; nil for a statement, a list or a parenthesis.
        var function: String?
        var isList = false
        /// Whether this is the window of a function, after OVER.
        var isWindow = false
        /// The words since the start of the clause, with its keyword first; empty at the start of a
        /// statement.
        var clause: [String] = []
    }

    private var frames = [Frame()]

    /// The function whose arguments contain the cursor.
    var function: String? { frames.last?.function }
    /// Whether the cursor is in the list of IN.
    var isList: Bool { frames.last?.isList ?? false }

    private static let clauses: Set<String> = [
        "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "OFFSET", "SLIMIT", "SOFFSET",
        "SHOW", "WITH", "ON", "ALTER", "DELETE", "DROP", "EXPLAIN",
    ]

    mutating func take(_ word: CompletionWord) {
        let top = frames.count - 1
        switch word {
        case .symbol("("):
            let before = frames[top].clause.last ?? ""
            let isCall = before.hasBytePrefix("a:")
            var frame = Frame(
                function: isCall ? String(before.dropFirst(2)).lowercased() : nil,
                isList: before == "IN", isWindow: before == "OVER")
            frame.clause = [frames[top].clause.first ?? "", "("]
            frames.append(frame)
        case .symbol(")"):
            if frames.count > 1 { frames.removeLast() }
            frames[frames.count - 1].clause.append(")")
        case .symbol(let symbol): frames[top].clause.append(symbol)
        case .name, .text: frames[top].clause.append("x")
        case .word(let text):
            let upper = text.uppercased()
            if ClauseFrames.clauses.contains(upper), frames[top].function == nil {
                frames[top].clause = [upper]
            } else {
                frames[top].clause.append(ClauseFrames.words.contains(upper) ? upper : "a:" + text)
            }
        }
    }

    /// Keywords that are not names here. Other words are stored with the prefix "a:".
    private static let words: Set<String> = [
        "AND", "OR", "NOT", "IN", "IS", "NULL", "BY", "AS", "ASC", "DESC", "DISTINCT", "FIELD",
        "TAG", "KEY", "KEYS", "VALUES", "SERIES", "MEASUREMENT", "MEASUREMENTS", "EXPERIMENT",
        "TYPE", "OVER", "BEFORE", "AFTER", "AROUND", "CARDINALITY", "EXACT", "RETENTION",
        "POLICIES", "DATABASES", "ANALYZE", "VERBOSE",
    ]

    // MARK: What can follow

    private static let operandAfter: Set<String> = [
        ",", "(", "+", "-", "*", "/", "%", "&", "|", "^", "=", "!=", "<>", "<", "<=", ">", ">=",
        "=~", "!~", "AND", "OR", "BY", "DISTINCT", "SELECT", "WHERE", "FROM",
    ]

    private static let afterSource = [
        "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "OFFSET", "SLIMIT", "SOFFSET", "tz(",
    ]

    private static let afterLimit = ["LIMIT", "OFFSET", "SLIMIT", "SOFFSET", "tz("]

    var expected: CompletionContext.Expected {
        guard let frame = frames.last, let clause = frame.clause.first, !clause.isEmpty else {
            return .words(["SELECT", "SHOW", "EXPLAIN", "ALTER", "DELETE", "DROP"])
        }
        let last = frame.clause.last ?? ""
        let isOperand = ClauseFrames.operandAfter.contains(last)
        if let function = frame.function {
            if function == "fill" { return .words(["null", "none", "previous", "linear"]) }
            if function == "time" || function == "tz" || !isOperand { return .nothing }
            return .value(isCondition: clause == "WHERE")
        }
        switch clause {
        case "SELECT":
            if frame.isWindow { return window(last) }
            if isOperand, last != "*" { return .value(isCondition: false) }
            return .words(["FROM", "AS"] + (last == ")" ? ["OVER ("] : []))
        case "FROM":
            // Parentheses after FROM contain a subquery.
            if last == "(" { return .words(["SELECT"]) }
            return isOperand ? .experiment : .words(ClauseFrames.afterSource)
        case "WHERE": return condition(isOperand, last)
        case "GROUP": return group(isOperand, last)
        case "ORDER":
            if last == "ORDER" { return .words(["BY"]) }
            return .words(last == "BY" ? ["time", "ASC", "DESC"] : ["DESC", "ASC"] + limits)
        case "LIMIT", "OFFSET", "SLIMIT", "SOFFSET":
            return last == clause ? .nothing : .words(limits)
        case "EXPLAIN": return .words(["SELECT", "ANALYZE"])
        case "DELETE": return last == "," ? .field : .words(["FROM", "WHERE"])
        default: return other(clause, frame.clause, last)
        }
    }

    /// `10m BEFORE name`
    private func window(_ last: String) -> CompletionContext.Expected {
        switch last {
        case "(": .nothing
        case "BEFORE", "AFTER", "AROUND": .field
        default: last.hasBytePrefix("a:") ? .words(["BEFORE", "AFTER", "AROUND"]) : .nothing
        }
    }

    private var limits: [String] { ClauseFrames.afterLimit }

    private func condition(_ isOperand: Bool, _ last: String) -> CompletionContext.Expected {
        if isOperand { return .value(isCondition: true) }
        switch last {
        case "IS": return .words(["NULL", "NOT NULL"])
        case "NOT": return .words(["IN (", "NULL"])
        case "IN": return .words(["("])
        default:
            let more = ["AND", "OR", "IS NULL", "IS NOT NULL", "IN (", "NOT IN ("]
            return .words(more + ClauseFrames.afterSource.dropFirst())
        }
    }

    private func group(_ isOperand: Bool, _ last: String) -> CompletionContext.Expected {
        if last == "GROUP" { return .words(["BY"]) }
        return isOperand && last != "*"
            ? .dimension : .words(["fill(", "ORDER BY"] + ClauseFrames.afterLimit)
    }

    /// SHOW, ALTER, DROP and their clauses.
    private func other(
        _ clause: String, _ words: [String], _ last: String
    ) -> CompletionContext.Expected {
        switch (clause, last) {
        case ("SHOW", "SHOW"):
            return .words([
                "MEASUREMENTS", "FIELD KEYS", "TAG KEYS", "TAG VALUES", "SERIES", "DATABASES",
                "RETENTION POLICIES", "SERIES CARDINALITY", "MEASUREMENT CARDINALITY",
            ])
        case ("SHOW", "FIELD"): return .words(["KEYS", "KEY CARDINALITY"])
        case ("SHOW", "TAG"): return .words(["KEYS", "VALUES", "KEY CARDINALITY"])
        case ("SHOW", "RETENTION"): return .words(["POLICIES"])
        case ("SHOW", _): return .words(["FROM", "WITH KEY =", "WHERE", "LIMIT", "OFFSET", "ON"])
        case ("WITH", "WITH"): return .words(["KEY", "MEASUREMENT"])
        case ("WITH", "="), ("WITH", "!="), ("WITH", "("), ("WITH", ","):
            return words.contains("MEASUREMENT") ? .experiment : .tag
        case ("WITH", _): return .words(["FROM", "WHERE", "LIMIT", "OFFSET"])
        case ("ALTER", "ALTER"): return .words(["EXPERIMENT"])
        case ("ALTER", "EXPERIMENT"), ("DROP", "MEASUREMENT"): return .experiment
        case ("ALTER", "FIELD"): return .field
        case ("ALTER", "TYPE"): return .words(["float", "string"])
        case ("ALTER", _): return .words(words.contains("FIELD") ? ["TYPE"] : ["FIELD"])
        case ("DROP", "DROP"): return .words(["MEASUREMENT", "SERIES"])
        case ("DROP", "SERIES"): return .words(["FROM", "WHERE"])
        default: return .nothing
        }
    }
}
