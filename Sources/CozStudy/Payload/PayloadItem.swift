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
    init(_ scanner: JSONScanner) {
        // With escapes a name is longer than its text.
        switch scanner.hasEscapes ? -1 : scanner.contents.count {
        case -1:
            self =
                PayloadPart.allCases.first {
                    $0 != .other && scanner.contentsEqual($0.name)
                } ?? .other
        case 4 where scanner.contentsEqual("time"): self = .time
        case 4 where scanner.contentsEqual("tags"): self = .tags
        case 6 where scanner.contentsEqual("fields"): self = .fields
        case 10 where scanner.contentsEqual("fields_int"): self = .integerFields
        case 10 where scanner.contentsEqual("fields_str"): self = .stringFields
        case 11 where scanner.contentsEqual("measurement"): self = .measurement
        case 12 where scanner.contentsEqual("fields_float"): self = .floatFields
        default: self = .other
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
        // A copy of its own, which is written back when the input has to read more.
        var scanner = input.scanner
        defer { input.scanner = scanner }
        var base = input.keptStart
        while true {
            let token = scanner.next()
            switch token {
            case .key:
                name = text(scanner, base)
                if !isInObject { part = PayloadPart(scanner) }
            case .objectEnd where !isInObject:
                size = scanner.index - base
                return true
            case .objectEnd:
                if part == .tags { tags = objectStart..<(scanner.index - base) }
                isInObject = false
            case .objectStart where !isInObject && part.isObject:
                beginObject(at: scanner.start - base)
            case .objectStart, .arrayStart:
                if try !readNested(token, &scanner, &base, &input, file) { return false }
            case .string, .integer, .float, .hugeNumber:
                add(token, text(scanner, base), scanner.bits)
            case .yes, .no, .null:
                add(token, Text(range: (scanner.start - base)..<(scanner.index - base)), 0)
            case .incomplete:
                try input.refill(&scanner, from: file)
                base = input.keptStart
            case .arrayEnd, .end, .invalid:
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

    private func text(_ scanner: JSONScanner, _ base: Int) -> Text {
        let contents = scanner.contents
        return Text(
            range: (contents.lowerBound - base)..<(contents.upperBound - base),
            hasEscapes: scanner.hasEscapes)
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
        _ token: JSONToken, _ scanner: inout JSONScanner, _ base: inout Int,
        _ input: inout JSONInput, _ file: InputFile?
    ) throws(DatabaseError) -> Bool {
        let start = scanner.start - base
        let outerDepth = scanner.depth - 1
        while scanner.depth > outerDepth {
            switch scanner.next() {
            case .invalid, .end: return false
            case .incomplete:
                try input.refill(&scanner, from: file)
                base = input.keptStart
            default: break
            }
        }
        add(token, Text(range: start..<(scanner.index - base)), 0)
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
