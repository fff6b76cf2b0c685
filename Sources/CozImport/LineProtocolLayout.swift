// The pieces of the line-protocol parser's state: precision, layout cache entries, bytes by name.

internal import CozDB

/// The unit of timestamps in line protocol.
public enum TimestampPrecision: String, CaseIterable, Sendable {
    case nanoseconds = "ns"
    case microseconds = "us"
    case milliseconds = "ms"
    case seconds = "s"
    case minutes = "m"
    case hours = "h"

    /// Nanoseconds in one unit.
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

    /// InfluxDB's names: `n`, `ns` and the empty string, `u` and `us`, `ms`, `s`, `m`, `h`.
    public init?(name: String) {
        switch name {
        case "", "n": self = .nanoseconds
        case "u": self = .microseconds
        default: self.init(rawValue: name)
        }
    }
}

/// A series key as it stands in the input, and its handles in the batch.
struct SeriesEntry {
    var tagSet: WriteBatch.TagSetHandle
    var experiment: WriteBatch.ExperimentHandle
}

/// A field key as it stands in the input, and what is known of it in the batch.
struct FieldEntry {
    /// Bytes kept of the last string; longer ones are not compared. Less than the padding of a
    /// `PaddedBuffer`, so that a comparison cannot leave the input.
    static let stringSlotSize = 48

    /// Handle of the column per type; `none` before its first value.
    var floatColumn = WriteBatch.ColumnHandle.none
    var integerColumn = WriteBatch.ColumnHandle.none
    var stringColumn = WriteBatch.ColumnHandle.none
    var booleanColumn = WriteBatch.ColumnHandle.none
    /// The field that followed this one last time; -1 where unknown.
    var next = -1
    /// Size of the last string in its slot; -1 where there is none.
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

/// Where one tag of a line lies in the scratch bytes, unescaped.
struct TagRange {
    var name: Range<Int>
    var value: Range<Int>
}

/// Why a line is refused, and where that showed.
struct LineProblem {
    var reason: String
    var index: Int
    /// How far the input was looked at to know it; more input may change what is seen from there.
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

/// The first byte after spaces, tabs and NUL, which InfluxDB takes for blanks.
@inline(__always) func skipLineBlanks(_ text: PaddedBytes, _ start: Int) -> Int {
    // A newline stands behind the last byte and ends the loop.
    var index = start
    while text[index] == space || text[index] == tab || text[index] == 0 { index += 1 }
    return index
}
