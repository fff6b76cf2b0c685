// The encoding of rejects journal entries, the same in commit records and in rejects files;
// docs/format/rejects.md.

/// One stored entry of the rejects journal. Files are immutable, so a later change of a refusal's
/// state is an entry too.
enum JournalEntry: Sendable {
    case refusal(Refusal)
    /// A replay has dealt with the refusal that has this id.
    case mark(id: UInt64, state: RejectEntry.State)
    /// More lines were refused like the one with this id. Holds the position of the last.
    case repeated(id: UInt64, count: Int, line: Int, column: Int)
    /// Refusals that were not kept because the journal was full.
    case dropped(count: Int)

    /// Keeps sums over all entries of a file from overflowing.
    static let countMax = 1 << 32
}

extension ByteWriter {
    mutating func append(_ entry: JournalEntry) {
        switch entry {
        case .refusal(let refusal):
            append(refusal)
        case .mark(let id, let state):
            append(UInt8(3))
            append(id)
            append(UInt8(state == .done ? 1 : 2))
        case .repeated(let id, let count, let line, let column):
            append(UInt8(4))
            append(id)
            appendVarint(count)
            appendVarint(line)
            appendVarint(column)
        case .dropped(let count):
            append(UInt8(5))
            appendVarint(count)
        }
    }

    fileprivate mutating func append(_ refusal: Refusal) {
        appendContent(of: refusal)
        appendVarint(refusal.line)
        appendVarint(refusal.column)
    }

    /// Appends everything but line and column.
    fileprivate mutating func appendContent(of refusal: Refusal) {
        switch refusal.subject {
        case .line(let bytes):
            append(UInt8(1))
            appendBlob(bytes)
        case .value(let experiment, let key, let time, let field, let value, let locked):
            append(UInt8(refusal.isCut ? 6 : 2))
            appendText(experiment)
            appendBlob(key.bytes)
            appendSigned(time.nanoseconds)
            appendText(field)
            append(value)
            append(locked.rawValue)
        }
        appendText(refusal.reason)
        appendText(refusal.source)
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
    mutating func readJournalEntry() throws(FormatError) -> JournalEntry {
        let kind = try readUInt8()
        switch kind {
        case 3:
            let id = try readUInt64()
            switch try readUInt8() {
            case 1: return .mark(id: id, state: .done)
            case 2: return .mark(id: id, state: .superseded)
            default: throw FormatError(.unsupported, "unknown state of a refusal", at: offset - 1)
            }
        case 4:
            return .repeated(
                id: try readUInt64(), count: try readCount(limit: JournalEntry.countMax),
                line: try readCount(limit: Int.max), column: try readCount(limit: Int.max))
        case 5: return .dropped(count: try readCount(limit: JournalEntry.countMax))
        default: return .refusal(try readRefusal(kind: kind))
        }
    }

    @_lifetime(self: copy self)
    private mutating func readRefusal(kind: UInt8) throws(FormatError) -> Refusal {
        let start = offset
        let subject: Refusal.Subject
        switch kind {
        case 1:
            subject = .line(try [UInt8](copying: readBlob(limit: remaining)))
        case 2, 6:
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
        var refusal = try Refusal(
            subject: subject, reason: readText(limit: remaining),
            source: readText(limit: remaining),
            line: readCount(limit: Int.max), column: readCount(limit: Int.max))
        refusal.isCut = kind == 6
        return refusal
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

extension Refusal {
    /// Identifies the refusal: FNV-1a over its stored bytes, without line and column for a refused
    /// line. It is the same in every process. Equal refusals are stored once, and marks refer to
    /// it.
    var journalID: UInt64 { identity.id }

    /// The id and a seeded hash of the same bytes.
    var identity: (id: UInt64, content: UInt32) {
        var writer = ByteWriter()
        switch subject {
        case .line: writer.appendContent(of: self)
        case .value: writer.append(self)
        }
        let id = writer.bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
        return (id, hashBytes(writer.bytes.span))
    }
}

extension JournalEntry {
    /// Approximate memory in bytes.
    var sizeBytes: Int {
        if case .refusal(let refusal) = self { refusal.sizeBytes } else { 40 }
    }
}
