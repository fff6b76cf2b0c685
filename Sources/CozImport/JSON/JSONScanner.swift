// JSON (RFC 8259) as tokens, one call a token, without allocation. Numbers are in
// JSONScanner+Numbers.swift, strings in JSONScanner+Strings.swift; JSONInput feeds it from a file.
//
// Strict: no trailing commas (unless asked for), comments, NaN, leading zeros, control characters
// in strings or halves of surrogate pairs. Keys that stand twice are handed out twice: what that
// means is for the reader of the tokens to say.

/// What one step of the scanner found.
package enum JSONToken: UInt8, Sendable {
    case objectStart, objectEnd, arrayStart, arrayEnd
    /// A name with its colon; the text is `contents`.
    case key
    /// The text is `contents`.
    case string
    /// A number without fraction and exponent that Int64 holds; the value is `integer`.
    case integer
    /// Any other number, rounded to the nearest Double, which is `float`.
    case float
    /// A number that no finite Double is near to, such as 1e400.
    case hugeNumber
    case yes, no, null
    /// Nothing but blanks is left; also where there was nothing else.
    case end
    /// The bytes end inside a token, and they are not the last ones. Nothing was read.
    case incomplete
    /// The bytes are no JSON; `problem` says where and why. So will every later call.
    case invalid
}

/// A pull parser over bytes in memory; a value without references, cheap to take out of a structure
/// while many tokens are read. After `incomplete` give it `text` with more bytes, with
/// `index` where the same byte lies now.
package struct JSONScanner {
    /// Objects and arrays inside each other; documents that nest deeper are refused.
    package static let depthMax = 64

    /// What is read.
    package var text: PaddedBytes
    /// The next byte to be read.
    package var index: Int
    /// Whether the input ends where `text` ends.
    package var isLast: Bool

    /// Where the last token begins: the quote of a string.
    package internal(set) var start = 0
    /// What stands between the quotes of the last string or key; the digits of the last number.
    package internal(set) var contents = 0..<0
    /// Whether `contents` has escapes.
    package internal(set) var hasEscapes = false
    package internal(set) var problem = JSONProblem(index: 0, expected: "")
    /// Whether the problem is a comma before a closing bracket or brace.
    package private(set) var isTrailingComma = false
    /// Objects and arrays that are open.
    package private(set) var depth = 0

    /// Bits of the last number: of an Int64 after `integer`, of a Double after `float`.
    package internal(set) var bits: UInt64 = 0
    /// A bit for each open object or array, the innermost lowest; 1: an object.
    private var objects: UInt64 = 0
    private var expected = Expected.document
    private let acceptsTrailingCommas: Bool
    private let acceptsSeveralDocuments: Bool

    private enum Expected {
        /// A value that is in nothing, or the end.
        case document
        case value, valueOrEnd, key, keyOrEnd
        /// A comma or the end of what is open.
        case comma
        case nothing
        case failed
    }

    /// - Parameters:
    ///   - text: valid as long as the buffer that it was taken from does not change.
    ///   - index: where the document begins.
    ///   - isLast: whether the input ends where `text` ends.
    ///   - acceptsTrailingCommas: one comma before a closing bracket is passed over.
    ///   - acceptsSeveralDocuments: one after the other, with blanks, newlines or nothing between.
    package init(
        _ text: PaddedBytes, at index: Int = 0, isLast: Bool = true,
        acceptsTrailingCommas: Bool = false, acceptsSeveralDocuments: Bool = false
    ) {
        self.text = text
        self.index = index
        self.isLast = isLast
        self.acceptsTrailingCommas = acceptsTrailingCommas
        self.acceptsSeveralDocuments = acceptsSeveralDocuments
    }

    /// The last number, where it was an `integer`.
    package var integer: Int64 { Int64(bitPattern: bits) }
    /// The last number, where it was a `float`.
    package var float: Double { Double(bitPattern: bits) }

    /// Forgets what is open and begins a document at `index`, also after `invalid`.
    package mutating func restart(at index: Int) {
        self.index = index
        (depth, objects, expected, isTrailingComma) = (0, 0, .document, false)
    }

    /// Reads one token.
    package mutating func next() -> JSONToken {
        var index = skipBlanks(index)
        if expected == .comma {
            guard text[index] == comma else { return close(index) }
            index = skipBlanks(index + 1)
            let closing = objects & 1 == 1 ? closingBrace : closingBracket
            if acceptsTrailingCommas && text[index] == closing { return close(index) }
            if objects & 1 == 1 { return key(index) }
            return value(index)
        }
        switch expected {
        case .key: return key(index)
        case .keyOrEnd: return text[index] == closingBrace ? close(index) : key(index)
        case .valueOrEnd where text[index] == closingBracket: return close(index)
        case .document, .nothing:
            if index >= text.count { return atEnd(index) }
            if expected == .nothing { return fail(index, "the end of the document") }
        case .failed: return .invalid
        default: break
        }
        return value(index)
    }

    // MARK: Values

    private mutating func value(_ index: Int) -> JSONToken {
        start = index
        switch text[index] {
        case quote:
            let end = scanString(index)
            if end < 0 { return failString() }
            return finish(.string, end + 1)
        case openingBrace: return open(.objectStart, index)
        case openingBracket: return open(.arrayStart, index)
        case UInt8(ascii: "t"): return word(.yes, "true", index)
        case UInt8(ascii: "f"): return word(.no, "false", index)
        case UInt8(ascii: "n"): return word(.null, "null", index)
        case let byte where byte &- 0x30 < 10 || byte == NumberParsing.minus:
            return number(index)
        case closingBracket where expected == .comma:
            isTrailingComma = true
            return fail(index, "a value after the comma")
        default:
            return fail(index, "a value")
        }
    }

    private mutating func word(
        _ token: JSONToken, _ word: StaticString, _ index: Int
    ) -> JSONToken {
        let end = index + word.utf8CodeUnitCount
        guard text.starts(with: word, at: index, end: text.count) else {
            return fail(index, "a value (true, false, null, a number, or a string in quotes)")
        }
        return finish(token, end)
    }

    private mutating func open(_ token: JSONToken, _ index: Int) -> JSONToken {
        guard depth < JSONScanner.depthMax else {
            return fail(index, "at most 64 levels of nesting")
        }
        depth += 1
        objects = objects << 1 | (token == .objectStart ? 1 : 0)
        expected = token == .objectStart ? .keyOrEnd : .valueOrEnd
        self.index = index + 1
        return token
    }

    private mutating func close(_ index: Int) -> JSONToken {
        let isObject = objects & 1 == 1
        guard text[index] == (isObject ? closingBrace : closingBracket) else {
            return fail(index, isObject ? "a comma or }" : "a comma or ]")
        }
        start = index
        depth -= 1
        objects >>= 1
        return finish(isObject ? .objectEnd : .arrayEnd, index + 1)
    }

    private mutating func key(_ index: Int) -> JSONToken {
        guard text[index] == quote else {
            let isAfterComma = expected == .comma && text[index] == closingBrace
            isTrailingComma = isAfterComma
            return fail(index, isAfterComma ? "a name after the comma" : "a name in quotes")
        }
        let end = scanString(index)
        if end < 0 { return failString() }
        let colon = skipBlanks(end + 1)
        guard text[colon] == UInt8(ascii: ":") else {
            return fail(colon, "a colon after the name")
        }
        start = index
        expected = .value
        self.index = colon + 1
        return .key
    }

    /// A value that ends before an index was read.
    @inline(__always) mutating func finish(_ token: JSONToken, _ end: Int) -> JSONToken {
        index = end
        expected = depth > 0 ? .comma : acceptsSeveralDocuments ? .document : .nothing
        return token
    }

    private mutating func atEnd(_ index: Int) -> JSONToken {
        guard isLast else { return .incomplete }
        start = text.count
        self.index = text.count
        return .end
    }

    /// The first byte that is no blank; a newline and then zeros stand behind the last byte.
    @inline(__always) private func skipBlanks(_ start: Int) -> Int {
        var index = start
        while true {
            let byte = text[index]
            guard byte <= space, isBlank(byte), index < text.count else { return index }
            index += 1
        }
    }

    private func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == newline || byte == carriageReturn || byte == tab
    }

    // MARK: Failing

    /// Notes what is wrong, unless more bytes could make it right.
    @inline(never) mutating func fail(_ index: Int, _ reason: StaticString) -> JSONToken {
        // No decision looks further ahead than the escapes of a surrogate pair.
        if !isLast && index + 12 > text.count { return .incomplete }
        problem = JSONProblem(index: Swift.min(index, text.count), expected: reason)
        expected = .failed
        return .invalid
    }

    private mutating func failString() -> JSONToken {
        let found = problem
        return fail(found.index, found.expected)
    }
}

let openingBrace = UInt8(ascii: "{")
let closingBrace = UInt8(ascii: "}")
let openingBracket = UInt8(ascii: "[")
let closingBracket = UInt8(ascii: "]")
