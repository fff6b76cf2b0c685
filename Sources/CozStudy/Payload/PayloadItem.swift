// One item of a payload as its tokens: an object with time, measurement, tags and fields, in any
// order. Kept until its end is known, because nothing of a bad item is stored.

internal import CozDB
internal import CozImport

/// What a name in an item leads to.
enum PayloadPart: Int, CaseIterable {
    case time, measurement, tags
    /// Values of any type; numbers do not say theirs.
    case fields
    /// Values that say their types.
    case integerFields, floatFields, stringFields
    /// Nothing that has a meaning.
    case other

    /// As payloads spell it.
    var name: StaticString {
        switch self {
        case .time: "time"
        case .measurement: "measurement"
        case .tags: "tags"
        case .fields: "fields"
        case .integerFields: "fields_int"
        case .floatFields: "fields_float"
        case .stringFields: "fields_str"
        case .other: ""
        }
    }

    /// Whether it is an object with members of its own.
    var isObject: Bool { self != .time && self != .measurement && self != .other }

    /// The part that has the name the scanner read last.
    init(_ scanner: borrowing JSONScanner) {
        self = .other
        for part in PayloadPart.allCases where part != .other {
            if scanner.contentsEqual(part.name) { self = part }
        }
    }
}

/// The tokens of one item. Its memory is used again for the next one.
struct PayloadItem {
    /// Bytes of the item.
    struct Text {
        /// From where the item begins.
        var range = 0..<0
        var hasEscapes = false
    }

    /// A name with its value.
    struct Member {
        /// Where it stands; `other` for what has no meaning.
        var part: PayloadPart
        var token: JSONToken
        var name: Text
        /// A string between its quotes; anything else as it stands.
        var value: Text
        /// Of a number.
        var bits: UInt64

        /// Whether it is a list or an object.
        var isNested: Bool { token == .objectStart || token == .arrayStart }
    }

    /// What stands in tags and fields, and what has no meaning in an item.
    private(set) var members: [Member] = []
    private(set) var time: Member?
    private(set) var measurement: Member?
    /// The tags from brace to brace, from where the item begins; nil where there are none.
    private(set) var tags: Range<Int>?
    /// Whether one of the objects with fields is there.
    private(set) var hasFields = false
    /// Bytes of the item.
    private(set) var size = 0
    /// What is wrong with the item as such; empty in most.
    private(set) var faults: [String] = []

    private var name = Text()
    /// What the last name of the item itself leads to.
    private var part = PayloadPart.other
    private var isInObject = false
    private var objectStart = 0
    private var partsSeen = 0

    /// Reads the rest of an item whose brace was read last, with `keep` at that brace.
    ///
    /// - Returns: false where the input is no JSON.
    /// - Throws: as `JSONInput.next`.
    mutating func read(
        _ input: inout JSONInput, from file: InputFile?
    ) throws(DatabaseError) -> Bool {
        reset()
        while true {
            let token = try input.next(from: file)
            let base = input.keptStart
            switch token {
            case .key:
                name = text(input, base)
                if !isInObject { part = PayloadPart(input.scanner) }
            case .objectEnd where !isInObject:
                size = input.scanner.index - base
                return true
            case .objectEnd:
                if part == .tags { tags = objectStart..<(input.scanner.index - base) }
                isInObject = false
            case .objectStart where !isInObject && part.isObject:
                beginObject(at: input.scanner.start - base)
            case .objectStart, .arrayStart:
                if try !readNested(token, &input, file) { return false }
            case .string, .integer, .float, .hugeNumber:
                add(token, text(input, base), input.scanner.bits)
            case .yes, .no, .null:
                let range = (input.scanner.start - base)..<(input.scanner.index - base)
                add(token, Text(range: range), 0)
            case .arrayEnd, .end, .incomplete, .invalid:
                return false
            }
        }
    }

    private mutating func reset() {
        members.removeAll(keepingCapacity: true)
        faults.removeAll(keepingCapacity: true)
        (time, measurement, tags) = (nil, nil, nil)
        (hasFields, isInObject, size, partsSeen) = (false, false, 0, 0)
    }

    private func text(_ input: borrowing JSONInput, _ base: Int) -> Text {
        let contents = input.scanner.contents
        return Text(
            range: (contents.lowerBound - base)..<(contents.upperBound - base),
            hasEscapes: input.scanner.hasEscapes)
    }

    private mutating func beginObject(at start: Int) {
        noteOnce()
        isInObject = true
        objectStart = start
        if part != .tags { hasFields = true }
    }

    private mutating func noteOnce() {
        if partsSeen & 1 << part.rawValue != 0 {
            faults.append("\"\(part.name)\" stands twice, expected once")
        }
        partsSeen |= 1 << part.rawValue
    }

    private mutating func add(_ token: JSONToken, _ value: Text, _ bits: UInt64) {
        let member = Member(part: part, token: token, name: name, value: value, bits: bits)
        if isInObject || part == .other {
            members.append(member)
            return
        }
        noteOnce()
        switch part {
        case .time: time = member
        case .measurement: measurement = member
        default:
            // null is nothing.
            guard token != .null else { return }
            faults.append("\"\(part.name)\" is \(token.kindName), expected an object")
        }
    }

    private mutating func readNested(
        _ token: JSONToken, _ input: inout JSONInput, _ file: InputFile?
    ) throws(DatabaseError) -> Bool {
        let start = input.scanner.start - input.keptStart
        let outerDepth = input.scanner.depth - 1
        let name = name
        while input.scanner.depth > outerDepth {
            switch try input.next(from: file) {
            case .invalid, .end: return false
            default: break
            }
        }
        self.name = name
        add(token, Text(range: start..<(input.scanner.index - input.keptStart)), 0)
        return true
    }
}

extension JSONToken {
    /// What a value is, for messages.
    var kindName: String {
        switch self {
        case .objectStart, .objectEnd: "an object"
        case .arrayStart, .arrayEnd: "an array"
        case .string, .key: "a string"
        case .integer, .float, .hugeNumber: "a number"
        case .yes, .no: "a boolean"
        case .null: "null"
        case .end, .incomplete, .invalid: "nothing"
        }
    }
}
