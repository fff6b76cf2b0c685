// What became of one batch.

/// The outcome of one committed batch. When `write` returns it, the batch is durable as the
/// database's durability option says, and visible to every snapshot taken afterwards.
public struct WriteReport: Sendable {
    /// Position of the commit in the database's history, from 1.
    public var sequence: UInt64 = 0
    /// Points in the batch, stored or refused.
    public var points = 0
    /// Points refused as a whole.
    public var refusedPoints = 0
    /// Points among `refusedPoints` of participants that were forgotten: nothing of them is kept,
    /// in the rejects journal neither.
    public var forgottenPoints = 0
    /// Field values stored (attributes are not counted).
    public var values = 0
    /// Values stored after a lossless conversion to the type of their field.
    public var convertedValues = 0
    /// Values refused; the other values of their points are stored.
    public var refusedValues = 0
    /// Refusals that the rejects journal did not keep, as it is full
    /// (`DatabaseOptions.rejectsSizeBytesMax`): what they held is lost unless the input is kept.
    public var unkeptRefusals = 0
    /// The first few refusals.
    public var examples: [Refusal] = []
    /// Fields whose values met a locked type: where ALTER and replay would take them in.
    public var conflicts: [TypeConflict] = []

    /// Most refusals that one report describes.
    public static let exampleCountMax = 5

    /// Nothing written.
    public init() {}
}

/// A field that got values of a type it could not take.
public struct TypeConflict: Hashable, Sendable {
    /// The experiment of the field.
    public var experiment: String
    /// The name of the field.
    public var field: String
    /// The type the field is locked to.
    public var locked: FieldType
    /// The type of the refused values.
    public var received: FieldType

    /// Whether experiment and field have the same bytes, and the types are the same.
    public static func == (left: TypeConflict, right: TypeConflict) -> Bool {
        Name(left.experiment) == Name(right.experiment) && Name(left.field) == Name(right.field)
            && left.locked == right.locked && left.received == right.received
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Name(experiment))
        hasher.combine(Name(field))
        hasher.combine(locked)
        hasher.combine(received)
    }
}

/// One refused line or value, as the rejects journal keeps it.
public struct Refusal: Hashable, Sendable {
    /// What was refused.
    public enum Subject: Hashable, Sendable {
        /// A whole line or item, with the bytes received (at most 1 MiB of them).
        case line([UInt8])
        /// One value of a point whose other values were stored.
        case value(
            experiment: String, key: SeriesKey, time: Timestamp, field: String,
            value: FieldValue, locked: FieldType)
    }

    /// What was refused, as it came.
    public var subject: Subject
    /// Why, in words.
    public var reason: String
    /// Name of the file or stream; empty where there was none.
    public var source: String
    /// Line in `source`, from 1; 0 where lines have no meaning.
    public var line: Int
    /// Column (byte) in the line, from 1; 0 where unknown.
    public var column: Int

    /// - Parameters:
    ///   - reason: why, in words.
    ///   - source: name of the file or stream; empty where there is none.
    ///   - line: from 1; 0 where lines have no meaning.
    ///   - column: byte in the line, from 1; 0 where unknown.
    public init(subject: Subject, reason: String, source: String, line: Int, column: Int = 0) {
        self.subject = subject
        self.reason = reason
        self.source = source
        self.line = line
        self.column = column
    }

    /// Most bytes of a refused line that are kept.
    public static let lineSizeBytesMax = 1 << 20
    /// Most bytes of a reason that are kept; a reason may quote what it is about.
    public static let reasonSizeBytesMax = 1 << 10
}
