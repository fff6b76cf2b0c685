// Values on their way from storage to whoever asked: one column of one series, or whole rows.
// Every value is 64 bits; the type says what they mean. Buffers are reused from call to call.

/// Strings addressed by code. Immutable, so it can be shared by every slice that refers to it.
/// Equal strings may have different codes when they come from different sources.
final class StringTable: Sendable {
    private let heap: [UInt8]
    private let ends: [Int]

    /// - Parameter ends: where each string ends in `heap`; each begins where the one before ends.
    init(heap: [UInt8], ends: [Int]) {
        self.heap = heap
        self.ends = ends
    }

    static let empty = StringTable(heap: [], ends: [])

    var count: Int { ends.count }

    func text(_ code: UInt64) -> String {
        String(decoding: heap[range(code)], as: UTF8.self)
    }

    /// The bytes of a string, valid during the call.
    func withBytes<Result>(_ code: UInt64, _ body: (Span<UInt8>) -> Result) -> Result {
        let heap = heap
        return body(heap.span.extracting(range(code)))
    }

    private func range(_ code: UInt64) -> Range<Int> {
        let index = Int(code)
        return (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }
}

/// Values of one column of one series, by ascending time, each time once.
struct ColumnSlice {
    var type = FieldType.float
    /// Nanoseconds since 1970.
    var times: [Int64] = []
    /// Float: bit pattern; integer: two's complement; boolean: 0 or 1; string: code in `strings`.
    var bits: [UInt64] = []
    var strings = StringTable.empty

    var count: Int { times.count }

    func value(_ index: Int) -> FieldValue {
        FieldValue(type: type, bits: bits[index], strings: strings)
    }

    mutating func removeAll() {
        times.removeAll(keepingCapacity: true)
        bits.removeAll(keepingCapacity: true)
        strings = .empty
    }
}

extension FieldValue {
    init(type: FieldType, bits: UInt64, strings: StringTable) {
        switch type {
        case .float: self = .float(Double(bitPattern: bits))
        case .integer: self = .integer(Int64(bitPattern: bits))
        case .boolean: self = .boolean(bits != 0)
        case .string: self = .string(strings.text(bits))
        }
    }
}

/// Part of a column: either only its summary or its values.
enum ColumnPiece {
    case summary(ColumnSummary)
    case values(ColumnSlice)
}

/// Rows of one series, by ascending time (descending when asked so), as columns.
struct RowBlock {
    /// One of the columns asked for.
    struct Column {
        var type = FieldType.float
        /// One entry per row; meaningless where `isPresent` is false.
        var bits: [UInt64] = []
        var isPresent: [Bool] = []
        var strings = StringTable.empty
        /// Whether any row of the block has a value.
        var isEmpty = true

        func value(_ row: Int) -> FieldValue? {
            isPresent[row] ? FieldValue(type: type, bits: bits[row], strings: strings) : nil
        }
    }

    var times: [Int64] = []
    /// In the order in which the columns were asked for.
    var columns: [Column] = []

    var count: Int { times.count }
}
