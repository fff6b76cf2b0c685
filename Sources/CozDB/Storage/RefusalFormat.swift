// Entries of the rejects journal as bytes, in commit records and in rejects files alike.
// Layout: docs/format/rejects.md.

extension ByteWriter {
    mutating func append(_ refusal: Refusal) {
        switch refusal.subject {
        case .line(let bytes):
            append(UInt8(1))
            appendBlob(bytes)
        case .value(let experiment, let key, let time, let field, let value, let locked):
            append(UInt8(2))
            appendText(experiment)
            appendBlob(key.bytes)
            appendSigned(time.nanoseconds)
            appendText(field)
            append(value)
            append(locked.rawValue)
        }
        appendText(refusal.reason)
        appendText(refusal.source)
        appendVarint(refusal.line)
        appendVarint(refusal.column)
    }

    private mutating func append(_ value: FieldValue) {
        append(value.type.rawValue)
        switch value {
        case .float(let number): append(number.bitPattern)
        case .integer(let number): appendSigned(number)
        case .boolean(let flag): append(UInt8(flag ? 1 : 0))
        case .string(let text): appendText(text)
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readRefusal() throws(FormatError) -> Refusal {
        let start = offset
        let subject: Refusal.Subject
        switch try readUInt8() {
        case 1:
            subject = .line(try [UInt8](copying: readBlob(limit: remaining)))
        case 2:
            let experiment = try readText(limit: remaining)
            let key = SeriesKey(canonical: try [UInt8](copying: readBlob(limit: remaining)))
            let time = Timestamp(nanoseconds: try readSigned())
            let field = try readText(limit: remaining)
            let value = try readFieldValue()
            guard let locked = FieldType(rawValue: try readUInt8()) else {
                throw FormatError(.unsupported, "unknown type", at: offset)
            }
            subject = .value(
                experiment: experiment, key: key, time: time, field: field, value: value,
                locked: locked)
        default:
            throw FormatError(.unsupported, "unknown kind of refusal", at: start)
        }
        return try Refusal(
            subject: subject, reason: readText(limit: remaining), source: readText(limit: remaining),
            line: readCount(limit: Int.max), column: readCount(limit: Int.max))
    }

    @_lifetime(self: copy self)
    private mutating func readFieldValue() throws(FormatError) -> FieldValue {
        switch FieldType(rawValue: try readUInt8()) {
        case .float: .float(Double(bitPattern: try readUInt64()))
        case .integer: .integer(try readSigned())
        case .boolean: .boolean(try readUInt8() != 0)
        case .string: .string(try readText(limit: remaining))
        case nil: throw FormatError(.unsupported, "unknown type", at: offset)
        }
    }
}

/// Stands for a refusal where only equality counts; 128 bits, good for one process.
struct RefusalFingerprint: Hashable {
    private let first: Int
    private let second: Int

    init(_ refusal: Refusal) {
        var hasher = Hasher()
        hasher.combine(refusal)
        first = hasher.finalize()
        hasher = Hasher()
        hasher.combine(1)
        hasher.combine(refusal)
        second = hasher.finalize()
    }
}

extension Refusal {
    /// Memory it takes, roughly.
    var sizeBytes: Int {
        switch subject {
        case .line(let bytes): bytes.count + 200
        case .value: 400
        }
    }
}
