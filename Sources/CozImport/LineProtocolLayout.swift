// Parts of the line protocol parser: timestamp precision, entries of the layout cache, byte
// constants.

internal import CozDB

/// The unit of timestamps in line protocol.
public enum TimestampPrecision: String, CaseIterable, Sendable {
    /// The default.
    case nanoseconds = "ns"
    /// 1,000 nanoseconds.
    case microseconds = "us"
    /// 1,000 microseconds.
    case milliseconds = "ms"
    /// 1,000 milliseconds.
    case seconds = "s"
    /// 60 seconds.
    case minutes = "m"
    /// 60 minutes.
    case hours = "h"

    /// Nanoseconds per unit.
    public var nanoseconds: Int64 {
        switch self {
        case .nanoseconds: 1
        case .microseconds: 1000
        case .milliseconds: 1_000_000
        case .seconds: 1_000_000_000
        case .minutes: 60_000_000_000
        case .hours: 3_600_000_000_000
        }
    }

    /// Parses InfluxDB's names: `n`, `ns` and the empty string, `u` and `us`, `ms`, `s`, `m`, `h`.
    public init?(name: String) {
        switch name {
        case "", "n": self = .nanoseconds
        case "u": self = .microseconds
        default: self.init(rawValue: name)
        }
    }
}

/// The handles of a series key in the batch.
struct SeriesEntry {
    var tagSet: WriteBatch.TagSetHandle
    var experiment: WriteBatch.ExperimentHandle
}

/// What the parser knows of a field key in the batch.
struct FieldEntry {
    /// Bytes kept of the last string; longer strings are not cached. Less than the padding of a
    /// `PaddedBuffer`, so a comparison stays inside the input's buffer.
    static let stringSlotSize = 48

    /// The column handle per type; `none` before the first value of the type.
    var floatColumn = WriteBatch.ColumnHandle.none
    var integerColumn = WriteBatch.ColumnHandle.none
    var stringColumn = WriteBatch.ColumnHandle.none
    var booleanColumn = WriteBatch.ColumnHandle.none
    /// The field that followed this one last time; -1 if unknown.
    var next = -1
    /// Size of the last string in its slot; -1 if none.
    var stringSize = -1
    var stringBits: UInt64 = 0
    /// Whether the name is `time`, which is dropped.
    var isTime = false

    @inline(__always) subscript(_ type: FieldType) -> WriteBatch.ColumnHandle {
        get {
            switch type {
            case .float: floatColumn
            case .integer: integerColumn
            case .string: stringColumn
            case .boolean: booleanColumn
            }
        }
        set {
            switch type {
            case .float: floatColumn = newValue
            case .integer: integerColumn = newValue
            case .string: stringColumn = newValue
            case .boolean: booleanColumn = newValue
            }
        }
    }
}

/// The unescaped name and value of a tag, as ranges of the scratch bytes.
struct TagRange {
    var name: Range<Int>
    var value: Range<Int>
}

/// Why a line is refused, and the index of the error.
struct LineProblem {
    var reason: String
    var index: Int
    /// The last index that the decision depends on. If it is past the complete lines, more input
    /// may change the decision.
    var decidedAt: Int
}

let unbalancedQuotes = "unbalanced quotes"

let newline = UInt8(ascii: "\n")
let carriageReturn = UInt8(ascii: "\r")
let space = UInt8(ascii: " ")
let tab = UInt8(ascii: "\t")
let hash = UInt8(ascii: "#")
let comma = UInt8(ascii: ",")
let equalsSign = UInt8(ascii: "=")
let backslash = UInt8(ascii: "\\")
let quote = UInt8(ascii: "\"")

/// Returns the index of the first byte after spaces, tabs and NULs, which InfluxDB treats as
/// blanks.
@inline(__always) func skipLineBlanks(_ text: PaddedBytes, _ start: Int) -> Int {
    // The newline after the last byte ends the loop.
    var index = start
    while text[index] == space || text[index] == tab || text[index] == 0 { index += 1 }
    return index
}
