// A pull parser for JSON (RFC 8259), without allocation. JSONScanner+Numbers.swift reads numbers,
// JSONScanner+Strings.swift strings; JSONInput feeds the scanner from a file.
//
// Strict: refuses trailing commas (unless allowed), comments, NaN, leading zeros, control
// characters in strings and unpaired surrogates. Duplicate keys are all returned.

/// The result of one step of the scanner.
package enum JSONToken: UInt8, Sendable {
    case objectStart, objectEnd, arrayStart, arrayEnd
    /// A name and its colon; the text is `contents`.
    case key
    /// The text is `contents`.
    case string
    /// A number without fraction and exponent that fits in Int64; the value is `integer`.
    case integer
    /// Any other number, rounded to the nearest Double; the value is `float`.
    case float
    /// A number too large for a Double, such as 1e400.
    case hugeNumber
    case yes, no, null
    /// Only blanks are left.
    case end
    /// The bytes end inside a token, and more input follows. Nothing was consumed.
    case incomplete
    /// The bytes are not valid JSON; see `problem`. All later calls return this too.
    case invalid
}

/// A pull parser over bytes in memory. It holds no references, so it can be moved out of a
/// structure cheaply while many tokens are read. After `incomplete`, set `text` to more bytes and
/// `index` to the new index of the same byte.
package struct JSONScanner {
    /// Maximum nesting depth of objects and arrays.
    package static let depthMax = 64

    package var text: PaddedBytes
    /// Index of the next byte.
    package var index: Int
    /// Whether the input ends where `text` ends.
    package var isLast: Bool

    /// Index where the last token begins; for a string, its quote.
    package internal(set) var start = 0
    /// The range between the quotes of the last string or key, or the bytes of the last number.
    package internal(set) var contents = 0..<0
    /// Whether `contents` has escapes.
    package internal(set) var hasEscapes = false
    package internal(set) var problem = JSONProblem(index: 0, expected: "")
    /// Whether the problem is a comma before a closing bracket or brace.
    package private(set) var isTrailingComma = false
    /// The number of open objects and arrays.
    package private(set) var depth = 0

    /// The bits of the last number: an Int64 after `integer`, a Double after `float`.
    package internal(set) var bits: UInt64 = 0
    /// One bit per open object (1) or array (0), the innermost lowest.
    private var objects: UInt64 = 0
    private var expected = Expected.document
    private let acceptsTrailingCommas: Bool
    private let acceptsSeveralDocuments: Bool

    private enum Expected {
        /// A value at the top level, or the end.
        case document
        case value, valueOrEnd, key, keyOrEnd
        /// A comma, or the end of the open object or array.
        case comma
        case nothing
        case failed
    }

    /// - Parameters:
    ///   - text: valid until its buffer changes.
    ///   - index: the start of the document.
    ///   - isLast: whether the input ends where `text` ends.
    ///   - acceptsTrailingCommas: whether one comma before a closing bracket or brace is allowed.
    ///   - acceptsSeveralDocuments: whether documents may follow each other, with or without
    ///     whitespace between them.
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

    /// The value after an `integer` token.
    package var integer: Int64 { Int64(bitPattern: bits) }
    /// The value after a `float` token.
    package var float: Double { Double(bitPattern: bits) }

    /// Forgets all open objects and arrays and begins a document at `index`, even after `invalid`.
    package mutating func restart(at index: Int) {
        self.index = index
        (depth, objects, expected, isTrailingComma) = (0, 0, .document, false)
    }

    /// The open objects and arrays.
    package struct Nesting {
        fileprivate var depth = 0
        fileprivate var objects: UInt64 = 0

        package init() {}
    }

    package var nesting: Nesting {
        var nesting = Nesting()
        (nesting.depth, nesting.objects) = (depth, objects)
        return nesting
    }

    /// Goes on at `index`, even after `invalid`.
    ///
    /// - Parameters:
    ///   - nesting: the objects and arrays that are open there.
    ///   - isValue: whether a value begins there; otherwise a value has ended there.
    package mutating func restart(at index: Int, in nesting: Nesting, isValue: Bool) {
        self.index = index
        (depth, objects, isTrailingComma) = (nesting.depth, nesting.objects, false)
        expected = isValue ? .value : .comma
    }

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

    /// Records that a value ended before index `end`.
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

    /// Returns the index of the first non-blank byte. The newline and zeros after the last byte end
    /// the loop.
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

    // MARK: Errors

    /// Records an error, unless more input could make the bytes valid.
    @inline(never) mutating func fail(_ index: Int, _ reason: StaticString) -> JSONToken {
        // No check looks further ahead than a surrogate pair, which has twelve bytes. The message
        // quotes more; it must not depend on how the bytes arrive.
        if !isLast && index + JSONProblem.quotedSizeBytesMax > text.count { return .incomplete }
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
