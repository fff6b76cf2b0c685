// The result of a write.

/// The result of a committed batch. When `write` returns, the batch is durable (see
/// `DatabaseOptions.durability`) and visible to every snapshot taken afterwards.
public struct WriteReport: Sendable {
    /// Sequence number of the commit in the database's history, from 1.
    public var sequence: UInt64 = 0
    /// Number of points in the batch, stored or refused.
    public var points = 0
    /// Number of points refused as a whole.
    public var refusedPoints = 0
    /// Number of points among `refusedPoints` whose participants were forgotten. They are not kept
    /// in the rejects journal either.
    public var forgottenPoints = 0
    /// Number of field values stored, without attributes.
    public var values = 0
    /// Number of values stored after a lossless conversion to their field's type.
    public var convertedValues = 0
    /// Number of values refused. The other values of their points are stored.
    public var refusedValues = 0
    /// Number of values among `refusedValues` that name a forgotten participant. They are not kept
    /// in the rejects journal.
    public var forgottenValues = 0
    /// Number of refusals that were not kept because the rejects journal is full
    /// (`DatabaseOptions.rejectsSizeBytesMax`), or because somebody made them to share the id of
    /// another one. Their content is lost unless the input is kept.
    public var unkeptRefusals = 0
    /// The first few refusals. Those of forgotten participants come first. The others of one source
    /// are in the order of its lines.
    public var examples: [Refusal] = []
    /// Fields that received values of another type. ALTER and a replay can store these values.
    public var conflicts: [TypeConflict] = []

    /// Maximum number of examples in a report.
    public static let exampleCountMax = 5

    /// Whether anything was refused.
    public var hasRefusals: Bool { refusedPoints + refusedValues > 0 }

    /// Creates an empty report.
    public init() {}
}

extension [Refusal] {
    /// Whether a refusal of this line becomes an example of the report: always until there are
    /// enough, then only before the last one in the same source.
    func needsExample(_ source: String, line: Int) -> Bool {
        guard count >= WriteReport.exampleCountMax, let last else { return true }
        return line < last.line && Name(source) == Name(last.source)
    }

    /// Adds an example before those of later lines, if it is needed.
    mutating func addExample(_ refusal: Refusal) {
        guard needsExample(refusal.source, line: refusal.line) else { return }
        if count >= WriteReport.exampleCountMax { removeLast() }
        let next = firstIndex {
            refusal.line < $0.line && Name(refusal.source) == Name($0.source)
        }
        insert(refusal, at: next ?? endIndex)
    }
}

/// A field that received values of a type it cannot store.
public struct TypeConflict: Hashable, Sendable {
    /// The field's experiment.
    public var experiment: String
    /// The field's name.
    public var field: String
    /// The field's type.
    public var locked: FieldType
    /// The type of the refused values.
    public var received: FieldType

    /// Whether all parts are equal; names are compared byte by byte.
    public static func == (left: TypeConflict, right: TypeConflict) -> Bool {
        // Most conflicts of an experiment differ in the field.
        Name(left.field) == Name(right.field) && Name(left.experiment) == Name(right.experiment)
            && left.locked == right.locked && left.received == right.received
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Name(experiment))
        hasher.combine(Name(field))
        hasher.combine(locked)
        hasher.combine(received)
    }
}

/// A refused line or value, as stored in the rejects journal.
public struct Refusal: Hashable, Sendable {
    /// What was refused.
    public enum Subject: Hashable, Sendable {
        /// A whole line or item, as received, or a whole point as line protocol (at most 1 MiB of
        /// it).
        case line([UInt8])
        /// One value of a point whose other values were stored.
        case value(
            experiment: String, key: SeriesKey, time: Timestamp, field: String,
            value: FieldValue, locked: FieldType)
    }

    /// What was refused, as received.
    public var subject: Subject
    /// The reason, as text.
    public var reason: String
    /// Name of the file or stream; empty if there is none.
    public var source: String
    /// Line in `source`, from 1; 0 if not applicable.
    public var line: Int
    /// Byte position in the line, from 1; 0 if unknown.
    public var column: Int
    /// Whose line it is, if the importer knows. Stored only if the line does not show it.
    package var participant: String?
    /// Whether the commit keeps all tags of a value's key, because nothing else of its point is in
    /// the batch. Not stored.
    var keepsAttributes = false
    /// Whether the field or the value is only the beginning of what was received. A replay does not
    /// store such a value.
    package var isCut = false

    /// Creates a refusal.
    ///
    /// - Parameters:
    ///   - subject: What was refused, as received.
    ///   - reason: The reason, as text.
    ///   - source: Name of the file or stream; empty if there is none.
    ///   - line: Line in `source`, from 1; 0 if not applicable.
    ///   - column: Byte position in the line, from 1; 0 if unknown.
    public init(subject: Subject, reason: String, source: String, line: Int, column: Int = 0) {
        self.subject = subject
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column
    }

    /// Maximum number of bytes kept of a refused line.
    public static let lineSizeBytesMax = 1 << 20
    /// Maximum number of bytes kept of a reason, which may quote the input.
    public static let reasonSizeBytesMax = 1 << 10
}

extension Refusal {
    /// Bytes of its texts, which its entry has at least.
    var textSizeBytes: Int {
        let texts = reason.utf8.count + source.utf8.count
        return switch subject {
        case .line(let bytes): bytes.count + texts
        case .value(let experiment, let key, _, let field, let value, _):
            experiment.utf8.count + key.bytes.count + field.utf8.count + value.textSizeBytes
                + texts
        }
    }

    /// Approximate memory in bytes.
    var sizeBytes: Int { textSizeBytes + 300 }
}
