// A JSON document as a tree in memory, with the place of each node: for small documents, such as
// definitions of surveys. What is large is read token by token (JSONScanner).

package import CozDB

/// A value of a JSON document and where it stands.
package struct JSONNode: Equatable, Sendable {
    package enum Contents: Equatable, Sendable {
        case null
        case boolean(Bool)
        /// A number without fraction and exponent that fits.
        case integer(Int64)
        case float(Double)
        case string(String)
        case array([JSONNode])
        /// In the order in which they were written; names may stand twice.
        case object([JSONMember])
    }

    package var value: Contents
    package var place: JSONPlace

    /// Reads one document; strict, as `JSONScanner`.
    ///
    /// - Parameters:
    ///   - acceptsTrailingCommas: one comma before a closing bracket is passed over.
    ///   - file: named in errors.
    /// - Throws: `usage` with line and column of what is wrong, its byte offset as `offset`.
    package static func parse(
        _ bytes: Span<UInt8>, acceptsTrailingCommas: Bool = false, file: String? = nil
    ) throws(DatabaseError) -> JSONNode {
        var parser = JSONTreeParser(bytes, acceptsTrailingCommas, file)
        return try parser.document()
    }

    /// The same for text.
    package static func parse(
        _ text: String, acceptsTrailingCommas: Bool = false, file: String? = nil
    ) throws(DatabaseError) -> JSONNode {
        try parse(
            text.utf8.span, acceptsTrailingCommas: acceptsTrailingCommas, file: file)
    }

    // MARK: What it holds

    /// The value under a name; the last of several, as most readers of JSON have it.
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

    /// A number of either kind.
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

    /// What it is, for messages: `a string`, `an object`.
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

/// A name in an object with its value.
package struct JSONMember: Equatable, Sendable {
    package var key: String
    /// Where the name stands.
    package var place: JSONPlace
    package var value: JSONNode
}

/// Builds a tree from tokens.
private struct JSONTreeParser: ~Copyable {
    /// What the scanner reads.
    private var buffer: PaddedBuffer
    private var scanner: JSONScanner
    private let file: String?
    /// The place of the token read last.
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

    /// Each byte is looked at once, however many nodes there are.
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
