// Decoded values on their way to the caller: slices of one column of one series, and batches of
// rows. Every value is 64 bits, interpreted by its type.

/// Strings addressed by code. Immutable, so slices can share it. Equal strings from different
/// sources may have different codes. Every function also accepts a packed time (`ISOTime.word`) in
/// place of a code.
final class StringTable: Sendable {
    /// A run of codes whose strings are in one heap.
    private struct Part {
        var firstCode: Int
        var heap: [UInt8]
        /// The end offset of each string in the heap. It starts where the previous one ends.
        var ends: [Int]
    }

    /// Ascending by first code; nearly always one.
    private let parts: [Part]
    let count: Int

    /// Creates a table from concatenated strings and the end offset of each.
    init(heap: [UInt8], ends: [Int]) {
        parts = [Part(firstCode: 0, heap: heap, ends: ends)]
        count = ends.count
    }

    /// Concatenates two tables. Codes of the second grow by the count of the first.
    init(_ first: StringTable, _ second: StringTable) {
        var parts = first.parts
        for part in second.parts {
            parts.append(
                Part(
                    firstCode: part.firstCode + first.count, heap: part.heap, ends: part.ends))
        }
        self.parts = parts
        count = first.count + second.count
    }

    static let empty = StringTable(heap: [], ends: [])

    /// The bytes of all strings.
    var sizeBytes: Int { parts.reduce(0) { $0 + $1.heap.count } }

    func text(_ code: UInt64) -> String {
        withBytes(code) { String(validating: $0) ?? "" }
    }

    /// Calls the body with the bytes of a string, which are valid only during the call.
    func withBytes<Result>(_ code: UInt64, _ body: (Span<UInt8>) -> Result) -> Result {
        if ISOTime.isWord(code) { return ISOTime.withBytes(code, body) }
        var number = parts.count - 1
        while number > 0, parts[number].firstCode > Int(code) { number -= 1 }
        let index = Int(code) - parts[number].firstCode
        let end = parts[number].ends[index]
        let start = index == 0 ? 0 : parts[number].ends[index - 1]
        let heap = parts[number].heap
        return body(heap.span.extracting(start..<end))
    }

    /// Calls the body with the row and the bytes of each present string. The bytes are valid only
    /// during the call.
    func forEachText(
        _ codes: Span<UInt64>, where isPresent: Span<Bool>, _ body: (Int, Span<UInt8>) -> Void
    ) {
        // Nearly always there is one part, so look up its arrays once.
        let (heap, ends) = (parts[0].heap, parts[0].ends)
        let (bytes, limits) = (heap.span, ends.span)
        for row in codes.indices where isPresent[row] {
            guard parts.count == 1, !ISOTime.isWord(codes[row]) else {
                withBytes(codes[row]) { body(row, $0) }
                continue
            }
            let index = Int(codes[row])
            body(row, bytes.extracting((index == 0 ? 0 : limits[index - 1])..<limits[index]))
        }
    }
}

/// Values of one column of one series, by ascending and unique time.
struct ColumnSlice {
    var type = FieldType.float
    /// Nanoseconds since 1970; empty if times were not requested.
    var times: [Int64] = []
    /// Float: bit pattern. Integer: two's complement. Boolean: 0 or 1. String: code in `strings`,
    /// or a packed time.
    var bits: [UInt64] = []
    var strings = StringTable.empty

    var count: Int { bits.count }

    func value(_ index: Int) -> FieldValue {
        FieldValue(type: type, bits: bits[index], strings: strings)
    }

    /// Adds the other table's strings to this slice. Returns the offset to add to its codes.
    private mutating func adopt(_ other: StringTable) -> UInt64 {
        guard type == .string, strings !== other else { return 0 }
        if count == 0 {
            strings = other
            return 0
        }
        let offset = strings.count
        strings = StringTable(strings, other)
        return UInt64(offset)
    }

    /// Appends a slice whose times are all later.
    mutating func append(_ later: ColumnSlice) {
        guard later.count > 0 else { return }
        let offset = adopt(later.strings)
        if count == 0, offset == 0 {
            self = later
            return
        }
        times.append(contentsOf: later.times)
        bits.append(
            contentsOf: offset == 0
                ? later.bits : later.bits.map { ISOTime.moved($0, by: offset) })
    }

    /// Returns both slices merged by time. If both have a value for a time, the newer one wins.
    func merged(withNewer newer: ColumnSlice) -> ColumnSlice {
        guard newer.count > 0 else { return self }
        guard count > 0 else { return newer }
        var merged = ColumnSlice(type: type, strings: strings)
        if type != .string || strings === newer.strings {
            let found = mergedByTime(
                times.span, bits.span, newer: newer.times.span, newer.bits.span)
            (merged.times, merged.bits) = (found.times, found.words)
            return merged
        }
        // A nonempty slice keeps its own strings when it adopts the others.
        merged.bits = [0]
        let offset = merged.adopt(newer.strings)
        merged.bits.removeAll()
        merged.times.reserveCapacity(count + newer.count)
        merged.bits.reserveCapacity(count + newer.count)
        var left = 0
        var right = 0
        while left < count || right < newer.count {
            if right == newer.count || left < count && times[left] < newer.times[right] {
                merged.times.append(times[left])
                merged.bits.append(bits[left])
                left += 1
            } else {
                if left < count, times[left] == newer.times[right] { left += 1 }
                merged.times.append(newer.times[right])
                merged.bits.append(
                    offset == 0 ? newer.bits[right] : ISOTime.moved(newer.bits[right], by: offset))
                right += 1
            }
        }
        return merged
    }

    /// Drops values outside a range.
    mutating func trim(to range: TimeRange) {
        let kept = times.indices(in: range)
        guard kept.count < count else { return }
        times = Array(times[kept])
        bits = Array(bits[kept])
    }

    /// Returns the values as a column of a view shows them: cast or masked.
    func shown(as column: Column) -> ColumnSlice {
        guard column.isRedacted else { return cast(to: column.type) }
        return ColumnSlice.masked(times: times, count: count)
    }

    /// Returns masked values, which show only that a value exists.
    static func masked(times: [Int64], count: Int) -> ColumnSlice {
        ColumnSlice(
            type: .string, times: times, bits: [UInt64](repeating: 0, count: count),
            strings: maskTable)
    }

    private static let maskTable = StringTable(
        heap: Array(CredentialColumns.mask.utf8), ends: [CredentialColumns.mask.utf8.count])

    /// Returns the values cast to another type: integers to floats, anything to strings.
    func cast(to target: FieldType) -> ColumnSlice {
        guard target != type else { return self }
        var cast = ColumnSlice(type: target, times: times)
        switch target {
        case .float where type == .integer:
            cast.bits = bits.map { Double(Int64(bitPattern: $0)).bitPattern }
        case .string:
            var heap: [UInt8] = []
            var ends: [Int] = []
            for index in 0..<count {
                heap.append(contentsOf: value(index).plainText.utf8)
                ends.append(heap.count)
            }
            cast.strings = StringTable(heap: heap, ends: ends)
            cast.bits = (0..<count).map { UInt64($0) }
        default:
            // ALTER allows no other cast. Returning no values is better than a trap.
            cast.times = []
            cast.bits = []
        }
        return cast
    }
}

extension FieldValue {
    /// The value as text without quotes and suffixes, as shown by a field that was widened to
    /// string. A float without a fraction has the text of the integer: a field may have been
    /// widened from integer to float before, and only some of its blocks rewritten.
    var plainText: String {
        switch self {
        case .float(let value):
            if let integer = Int64(exactly: value), integer.magnitude <= 1 << 53,
                integer != 0 || value.sign == .plus
            {
                "\(integer)"
            } else {
                value.description
            }
        case .integer(let value): "\(value)"
        case .boolean(let value): value ? "true" : "false"
        case .string(let value): value
        }
    }

    init(type: FieldType, bits: UInt64, strings: StringTable) {
        switch type {
        case .float: self = .float(Double(bitPattern: bits))
        case .integer: self = .integer(Int64(bitPattern: bits))
        case .boolean: self = .boolean(bits != 0)
        case .string: self = .string(strings.text(bits))
        }
    }
}

/// Part of a column: its summary, its values, or its values by bucket (if requested).
enum ColumnPiece {
    case summary(ColumnSummary)
    case values(ColumnSlice)
    case buckets(BucketedSlice)
}

/// Which information a reader needs in addition to values.
enum ColumnShape {
    case timed
    /// Values that are all in range may come without times.
    case untimed
    /// Values may come with buckets instead of times, and only as counts per bucket unless
    /// `withValues`.
    case buckets(FixedBuckets, withValues: Bool)

    /// The same shape with values included.
    var withValues: ColumnShape {
        guard case .buckets(let buckets, _) = self else { return self }
        return .buckets(buckets, withValues: true)
    }
}

/// Rows of one series as columns, by ascending time (or descending, if requested).
struct ColumnBatch {
    /// One of the requested columns.
    struct Column {
        var type = FieldType.float
        /// One entry per row, undefined where `isPresent` is false. Empty if `isEmpty`.
        var bits: [UInt64] = []
        var isPresent: [Bool] = []
        var strings = StringTable.empty
        /// Whether no row of the batch has a value.
        var isEmpty = true

        func value(_ row: Int) -> FieldValue? {
            !isEmpty && isPresent[row]
                ? FieldValue(type: type, bits: bits[row], strings: strings) : nil
        }
    }

    /// Nanoseconds since 1970.
    var times: [Int64] = []
    /// In the requested order.
    var columns: [Column] = []
    /// Indices of the nonempty columns, in any order.
    private(set) var filled: [Int] = []

    var count: Int { times.count }

    mutating func fill(_ index: Int, _ column: Column) {
        columns[index] = column
        filled.append(index)
    }

    /// Removes all values. Cost: proportional to the nonempty columns.
    mutating func removeAll() {
        times = []
        for index in filled { columns[index] = Column(type: columns[index].type) }
        filled.removeAll(keepingCapacity: true)
    }
}
