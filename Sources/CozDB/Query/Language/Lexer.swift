// The lexer of the query language. The parser requests one token at a time, because only it knows
// whether a slash divides or starts a regular expression. Positions are byte offsets; line and
// character are computed only for error messages.

/// A token and its position.
struct Lexeme: Sendable {
    var token: Token
    /// The offset of the first byte; `end` is the offset after the last byte.
    var start: Int
    var end: Int
}

/// A lexer for one statement text.
struct Lexer {
    let bytes: [UInt8]
    private let parameters: [String: QueryParameter]

    init(_ text: String, parameters: [String: QueryParameter]) {
        bytes = Array(text.utf8)
        self.parameters = parameters
    }

    /// Returns the first token at or after `offset`, skipping whitespace and comments.
    func lexeme(after offset: Int) -> Lexeme {
        let start = skipBlanks(from: offset)
        guard start < bytes.count else { return Lexeme(token: .end, start: start, end: start) }
        if isUnclosedComment(at: start) {
            return Lexeme(token: .illegal("ILLEGAL"), start: start, end: bytes.count)
        }
        return lexeme(at: start)
    }

    /// Returns the token that starts exactly at `start`. Whitespace yields an illegal token.
    func lexeme(at start: Int) -> Lexeme {
        guard start < bytes.count else { return Lexeme(token: .end, start: start, end: start) }
        let byte = bytes[start]
        if byte.isWordStart { return word(at: start) }
        if byte.isDigit { return number(at: start) }
        switch byte {
        case UInt8(ascii: "\""):
            let (text, end, failure) = quoted(at: start)
            return Lexeme(
                token: failure.map { .illegal($0) } ?? .identifier(text), start: start, end: end)
        case UInt8(ascii: "'"):
            let (text, end, failure) = quoted(at: start)
            return Lexeme(
                token: failure.map { .illegal($0) } ?? .string(text), start: start, end: end)
        case UInt8(ascii: "$"): return parameter(at: start)
        case UInt8(ascii: ".") where self[start + 1].isDigit: return number(at: start)
        default: return symbol(at: start)
        }
    }

    /// Returns whether a regular expression starts at or after `offset`.
    func startsRegex(after offset: Int) -> Bool {
        let start = skipBlanks(from: offset)
        if self[start] == UInt8(ascii: "/") { return !isUnclosedComment(at: start) }
        guard self[start] == UInt8(ascii: "$"),
            case .regex = lexeme(at: start).token
        else { return false }
        return true
    }

    /// Returns the regular expression at or after `offset`, without its slashes.
    func regex(after offset: Int) -> Lexeme {
        let start = skipBlanks(from: offset)
        if self[start] == UInt8(ascii: "$") { return lexeme(at: start) }
        var pattern: [UInt8] = []
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            let byte = bytes[index]
            if byte == UInt8(ascii: "/") {
                return Lexeme(
                    token: .regex(String(decoding: pattern, as: UTF8.self)), start: start,
                    end: index + 1)
            }
            // Only an escaped slash is unescaped here; other escapes belong to the expression.
            if byte == UInt8(ascii: "\\"), self[index + 1] == UInt8(ascii: "/") { index += 1 }
            pattern.append(bytes[index])
            index += 1
        }
        return Lexeme(token: .illegal("BADREGEX"), start: start, end: index)
    }

    /// Returns the line and character of a byte, both from 1.
    func place(of offset: Int) -> (line: Int, character: Int) {
        var line = 1
        var character = 1
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                character = 1
            } else if byte & 0xC0 != 0x80 {
                character += 1
            }
        }
        // InfluxDB reports an unexpected end one further, unless a bracket or quote is last.
        if offset >= bytes.count, let last = bytes.last,
            last.isWordStart || last.isBlank
        {
            character += 1
        }
        return (line, character)
    }

    // MARK: Token kinds

    private subscript(_ index: Int) -> UInt8 {
        index < bytes.count ? bytes[index] : 0
    }

    private func word(at start: Int) -> Lexeme {
        var end = start
        while self[end].isWord { end += 1 }
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        let token = Keyword(word: text).map { Token.keyword($0) } ?? .identifier(text)
        return Lexeme(token: token, start: start, end: end)
    }

    private func number(at start: Int) -> Lexeme {
        var end = start
        func text() -> String { String(decoding: bytes[start..<end], as: UTF8.self) }
        while self[end].isDigit { end += 1 }
        if self[end] == UInt8(ascii: ".") {
            end += 1
            while self[end].isDigit { end += 1 }
            return Lexeme(token: .number(text()), start: start, end: end)
        }
        guard isUnitLetter(at: end) else {
            return Lexeme(token: .integer(text()), start: start, end: end)
        }
        while isUnitLetter(at: end) || self[end].isDigit || self[end] & 0xC0 == 0x80 {
            end += 1
        }
        return Lexeme(token: .duration(text()), start: start, end: end)
    }

    /// Returns whether a letter, or the micro sign, starts at a byte.
    private func isUnitLetter(at index: Int) -> Bool {
        let byte = self[index]
        return (byte.isWordStart && byte != UInt8(ascii: "_"))
            || (byte == 0xC2 && self[index + 1] == 0xB5)
            || (byte == 0xCE && self[index + 1] == 0xBC)
    }

    private func quoted(at start: Int) -> (text: String, end: Int, failure: String?) {
        let quote = bytes[start]
        var text: [UInt8] = []
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
            if bytes[index] == quote {
                return (String(decoding: text, as: UTF8.self), index + 1, nil)
            }
            if bytes[index] == UInt8(ascii: "\\") {
                index += 1
                switch self[index] {
                case UInt8(ascii: "n"): text.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"):
                    text.append(bytes[index])
                default:
                    let shown = bytes[(index - 1)..<min(index + 1, bytes.count)]
                    return ("", index, String(decoding: shown, as: UTF8.self))
                }
            } else {
                text.append(bytes[index])
            }
            index += 1
        }
        return ("", index, String(decoding: text, as: UTF8.self))
    }

    private func parameter(at start: Int) -> Lexeme {
        var end = start + 1
        var name = ""
        if self[end] == UInt8(ascii: "\"") {
            let (text, after, failure) = quoted(at: end)
            if let failure { return Lexeme(token: .illegal(failure), start: start, end: after) }
            (name, end) = (text, after)
        } else {
            while self[end].isWord { end += 1 }
            name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
        }
        // Names are bytes, also where Swift holds two texts to be equal.
        let index = parameters.index(forKey: name)
        let parameter = index.map { parameters[$0] }
        let isSame = parameter?.key.utf8.elementsEqual(name.utf8) ?? false
        let token = (isSame ? parameter?.value.token(name) : nil) ?? .parameter(name)
        return Lexeme(token: token, start: start, end: end)
    }

    private func symbol(at start: Int) -> Lexeme {
        func one(_ token: Token) -> Lexeme { Lexeme(token: token, start: start, end: start + 1) }
        func two(_ token: Token) -> Lexeme { Lexeme(token: token, start: start, end: start + 2) }
        let next = self[start + 1]
        switch bytes[start] {
        case UInt8(ascii: "+"): return one(.symbol(.add))
        case UInt8(ascii: "-"): return one(.symbol(.subtract))
        case UInt8(ascii: "*"): return one(.symbol(.multiply))
        case UInt8(ascii: "/"): return one(.symbol(.divide))
        case UInt8(ascii: "%"): return one(.symbol(.modulo))
        case UInt8(ascii: "&"): return one(.symbol(.bitAnd))
        case UInt8(ascii: "|"): return one(.symbol(.bitOr))
        case UInt8(ascii: "^"): return one(.symbol(.bitXor))
        case UInt8(ascii: "="):
            return next == UInt8(ascii: "~") ? two(.symbol(.matches)) : one(.symbol(.equal))
        case UInt8(ascii: "!") where next == UInt8(ascii: "="): return two(.symbol(.notEqual))
        case UInt8(ascii: "!") where next == UInt8(ascii: "~"): return two(.symbol(.matchesNot))
        case UInt8(ascii: ">"):
            return next == UInt8(ascii: "=")
                ? two(.symbol(.greaterOrEqual)) : one(.symbol(.greater))
        case UInt8(ascii: "<") where next == UInt8(ascii: "="): return two(.symbol(.lessOrEqual))
        case UInt8(ascii: "<") where next == UInt8(ascii: ">"): return two(.symbol(.notEqual))
        case UInt8(ascii: "<"): return one(.symbol(.less))
        case UInt8(ascii: "("): return one(.leftParenthesis)
        case UInt8(ascii: ")"): return one(.rightParenthesis)
        case UInt8(ascii: ","): return one(.comma)
        case UInt8(ascii: ";"): return one(.semicolon)
        case UInt8(ascii: "."): return one(.dot)
        case UInt8(ascii: ":"):
            return next == UInt8(ascii: ":") ? two(.doubleColon) : one(.colon)
        default:
            var end = start + 1
            while self[end] & 0xC0 == 0x80 { end += 1 }
            let text = String(decoding: bytes[start..<end], as: UTF8.self)
            return Lexeme(token: .illegal(text), start: start, end: end)
        }
    }

    // MARK: Whitespace

    private func skipBlanks(from offset: Int) -> Int {
        var index = offset
        while index < bytes.count {
            if bytes[index].isBlank {
                index += 1
            } else if bytes[index] == UInt8(ascii: "-"), self[index + 1] == UInt8(ascii: "-") {
                while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
            } else if let end = commentEnd(at: index) {
                index = end
            } else {
                break
            }
        }
        return index
    }

    private func isUnclosedComment(at index: Int) -> Bool {
        self[index] == UInt8(ascii: "/") && self[index + 1] == UInt8(ascii: "*")
    }

    private func commentEnd(at start: Int) -> Int? {
        guard isUnclosedComment(at: start) else { return nil }
        var index = start + 2
        while index + 1 < bytes.count {
            if bytes[index] == UInt8(ascii: "*"), bytes[index + 1] == UInt8(ascii: "/") {
                return index + 2
            }
            index += 1
        }
        return nil
    }
}
