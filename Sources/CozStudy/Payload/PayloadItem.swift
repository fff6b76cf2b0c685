// One item of a payload as tokens: an object with time, measurement, tags and fields, in any order.
// Buffered until its end, because a bad item must not be stored in part.

internal import CozDB
internal import CozImport

/// The members of an item that have a meaning.
enum PayloadPart: Int, CaseIterable {
    case time, measurement, tags
    /// Values of any type. Numbers are untyped.
    case fields
    /// Values of a known type.
    case integerFields, floatFields, stringFields
    /// An unknown member.
    case other

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

    var isObject: Bool { self != .time && self != .measurement && self != .other }

    init(_ scanner: JSONScanner) {
        // Escapes make the raw text longer than the name, so its length says nothing.
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

/// The tokens of one item. Reuses its memory for the next item.
struct PayloadItem {
    struct Text {
        /// Relative to the start of the item.
        var range = 0..<0
        var hasEscapes = false
    }

    struct Member {
        /// The part that contains it, or `other`.
        var part: PayloadPart
        var token: JSONToken
        var name: Text
        /// A string without its quotes; any other value as written.
        var value: Text
        /// The bits of a number.
        var bits: UInt64

        var isNested: Bool { token == .objectStart || token == .arrayStart }
    }

    /// The members of tags and fields, and unknown members.
    private(set) var members: [Member] = []
    private(set) var time: Member?
    private(set) var measurement: Member?
    /// The range of the tags object, braces included, relative to the start of the item. Nil if
    /// there is none.
    private(set) var tags: Range<Int>?
    private(set) var hasFields = false
    private(set) var size = 0
    /// Structural faults of the item.
    private(set) var faults: [String] = []

    private var name = Text()
    /// The part named by the last key at the top level of the item.
    private var part = PayloadPart.other
    private var isInObject = false
    private var objectStart = 0
    private var partsSeen = 0

    /// Reads the rest of an item after its opening brace. The input must keep the bytes from that
    /// brace.
    ///
    /// - Returns: false if the input is not valid JSON.
    /// - Throws: the errors of `JSONInput.next`.
    mutating func read(
        _ input: inout JSONInput, from file: InputFile?
    ) throws(DatabaseError) -> Bool {
        reset()
        // Scan with a local copy. `refill` and the end of the function write it back.
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
        reportDuplicate()
        isInObject = true
        objectStart = start
        if part != .tags { hasFields = true }
    }

    private mutating func reportDuplicate() {
        if partsSeen & 1 << part.rawValue != 0 {
            faults.append("found \"\(part.name)\" twice, expected it once")
        }
        partsSeen |= 1 << part.rawValue
    }

    private mutating func add(_ token: JSONToken, _ value: Text, _ bits: UInt64) {
        let member = Member(part: part, token: token, name: name, value: value, bits: bits)
        if isInObject || part == .other {
            members.append(member)
            return
        }
        reportDuplicate()
        switch part {
        case .time: time = member
        case .measurement: measurement = member
        default:
            // null counts as absent.
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
    /// The kind of value, for messages.
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
