// A small JSON document, such as a survey definition, as a tree in memory with the position of each
// node. Large documents are read token by token (JSONScanner).

package import CozDB

/// A value of a JSON document and its position.
package struct JSONNode: Equatable, Sendable {
    package enum Contents: Equatable, Sendable {
        case null
        case boolean(Bool)
        /// A number without fraction and exponent that fits in Int64.
        case integer(Int64)
        case float(Double)
        case string(String)
        case array([JSONNode])
        /// In document order; names may be duplicated.
        case object([JSONMember])
    }

    package var value: Contents
    package var place: JSONPlace

    /// Parses one document, as strictly as `JSONScanner`.
    ///
    /// - Parameters:
    ///   - acceptsTrailingCommas: whether one comma before a closing bracket or brace is allowed.
    ///   - file: the file name for errors.
    /// - Throws: `usage` with line and column of the error, and its byte offset as `offset`.
    package static func parse(
        _ bytes: Span<UInt8>, acceptsTrailingCommas: Bool = false, file: String? = nil
    ) throws(DatabaseError) -> JSONNode {
        var parser = JSONTreeParser(bytes, acceptsTrailingCommas, file)
        return try parser.document()
    }

    /// Parses one document from a string.
    package static func parse(
        _ text: String, acceptsTrailingCommas: Bool = false, file: String? = nil
    ) throws(DatabaseError) -> JSONNode {
        try parse(
            text.utf8.span, acceptsTrailingCommas: acceptsTrailingCommas, file: file)
    }

    // MARK: Access

    /// The value of a name; the last one of duplicates, as in most JSON parsers.
    package subscript(name: String) -> JSONNode? {
        members?.last { $0.key.utf8.elementsEqual(name.utf8) }?.value
    }

    package var members: [JSONMember]? {
        if case .object(let members) = value { members } else { nil }
    }

    package var items: [JSONNode]? {
        if case .array(let items) = value { items } else { nil }
    }

    package var string: String? {
        if case .string(let text) = value { text } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let number) = value { number } else { nil }
    }

    /// The value of an integer or float.
    package var number: Double? {
        switch value {
        case .integer(let number): Double(number)
        case .float(let number): number
        default: nil
        }
    }

    package var boolean: Bool? {
        if case .boolean(let flag) = value { flag } else { nil }
    }

    package var isNull: Bool { value == .null }

    /// The kind for error messages, such as `a string` or `an object`.
    package var kind: String {
        switch value {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .float: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A name and its value in an object.
package struct JSONMember: Equatable, Sendable {
    package var key: String
    package var place: JSONPlace
    package var value: JSONNode
}

/// Builds a tree from tokens.
private struct JSONTreeParser: ~Copyable {
    private var buffer: PaddedBuffer
    private var scanner: JSONScanner
    private let file: String?
    /// The position of the last token.
    private var place = JSONPlace()
    private var placeIndex = 0

    init(_ bytes: Span<UInt8>, _ acceptsTrailingCommas: Bool, _ file: String?) {
        buffer = PaddedBuffer(capacity: bytes.count)
        buffer.append(bytes)
        let text = buffer.bytes
        let mark: StaticString = "\u{FEFF}"
        let start = text.starts(with: mark, at: 0, end: text.count) ? 3 : 0
        scanner = JSONScanner(text, at: start, acceptsTrailingCommas: acceptsTrailingCommas)
        self.file = file
    }

    mutating func document() throws(DatabaseError) -> JSONNode {
        let token = scanner.next()
        if token == .end { throw error(at: scanner.text.count, "found nothing, expected JSON") }
        let node = try node(token)
        if scanner.next() != .end { throw problem }
        return node
    }

    private mutating func node(_ token: JSONToken) throws(DatabaseError) -> JSONNode {
        let place = placeOfToken()
        let value: JSONNode.Contents
        switch token {
        case .null: value = .null
        case .yes: value = .boolean(true)
        case .no: value = .boolean(false)
        case .integer: value = .integer(scanner.integer)
        case .float: value = .float(scanner.float)
        case .string: value = .string(scanner.string)
        case .arrayStart: value = .array(try items())
        case .objectStart: value = .object(try members())
        case .hugeNumber:
            throw error(
                at: scanner.start, "found a number that is too large, expected one up to 1.8e308")
        default: throw problem
        }
        return JSONNode(value: value, place: place)
    }

    private mutating func items() throws(DatabaseError) -> [JSONNode] {
        var items: [JSONNode] = []
        while true {
            let token = scanner.next()
            if token == .arrayEnd { return items }
            items.append(try node(token))
        }
    }

    private mutating func members() throws(DatabaseError) -> [JSONMember] {
        var members: [JSONMember] = []
        while true {
            let token = scanner.next()
            if token == .objectEnd { return members }
            guard token == .key else { throw problem }
            let (key, place) = (scanner.string, placeOfToken())
            members.append(JSONMember(key: key, place: place, value: try node(scanner.next())))
        }
    }

    /// Returns the position of the last token. Each byte is scanned once in all.
    private mutating func placeOfToken() -> JSONPlace {
        place.advance(over: placeIndex..<Swift.max(placeIndex, scanner.start), of: scanner.text)
        placeIndex = Swift.max(placeIndex, scanner.start)
        return place
    }

    private var problem: DatabaseError {
        error(at: scanner.problem.index, scanner.problem.message(in: scanner.text))
    }

    private func error(at index: Int, _ message: String) -> DatabaseError {
        let place = JSONPlace().advanced(from: 0, to: index, of: scanner.text)
        return DatabaseError(
            .usage, "JSON, \(place.description): \(message)", file: file, offset: place.offset)
    }
}
