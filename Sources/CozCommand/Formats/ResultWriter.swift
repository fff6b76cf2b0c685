// The protocol of the output formats of `cozdb query`. They receive an answer in pieces and write
// each piece immediately.

internal import CozDB

enum ResultColumnKind: Equatable {
    case time
    /// A tag or an attribute.
    case tag
    /// A field or the result of an expression, with its type if it is known.
    case field(FieldType?)
}

/// The header of one series of an answer.
struct ResultHeader {
    struct Column: Equatable {
        /// The title. Aliases can make it that of another column.
        var title: String
        var kind: ResultColumnKind
        /// The name in the database if the title differs from it.
        var source: String?
    }

    /// The experiment; empty if the answer does not belong to one.
    var name = ""
    /// Whether csv and json need a column for the name, because the answer may cover several
    /// experiments.
    var showsName = false
    /// The tags of GROUP BY with their values in this series.
    var tags: [(name: String, value: String)] = []
    var columns: [Column] = []
    /// Returns the offset from UTC in seconds at a time, for `tz()`; nil for UTC.
    var zoneOffset: ((Int64) -> Int)?

    /// The titles, where a later column of one title has a number: `x_1`, as in `SELECT x, x`.
    var uniqueTitles: [String] {
        if haveDistinctNames { return columns.map(\.title) }
        let titles = Set(columns.map { Array($0.title.utf8) })
        if titles.count == columns.count { return columns.map(\.title) }
        var names = NumberedNames(reserved: titles)
        return columns.map { names.add($0.title) }
    }

    /// The experiment, if it is shown, and the tags of GROUP BY that are not selected too, with
    /// names that no column has. If another column has the title `x`, the tag `x` becomes `x_1`, as
    /// in `SELECT *`.
    var leadingColumns: [(name: String, value: String)] {
        let experiment = showsName ? [(name: "name", value: name)] : []
        if tags.isEmpty, experiment.isEmpty { return [] }
        if haveDistinctNames { return experiment + tags }
        var shown: Set<[UInt8]> = []
        for column in columns
        where column.kind == .tag && (column.source ?? column.title) == column.title {
            shown.insert(Array(column.title.utf8))
        }
        let leading = experiment + tags.filter { !shown.contains(Array($0.name.utf8)) }
        var names = NumberedNames(
            used: Set(uniqueTitles.map { Array($0.utf8) }),
            reserved: Set(leading.map { Array($0.name.utf8) }))
        return leading.map { (names.add($0.name), $0.value) }
    }

    /// Whether all columns and tags have different names, which is nearly always true. Compares
    /// hashes only, so it may be false nevertheless.
    private var haveDistinctNames: Bool {
        let count = columns.count + tags.count + 1
        let bitCount = Int.bitWidth - count.leadingZeroBitCount + 1
        let slotCount = 1 << bitCount
        var slots = [UInt64](repeating: 0, count: slotCount)
        func isNew(_ name: String) -> Bool {
            // FNV-1a; 0 is an empty slot.
            var name = name
            let hash = name.withUTF8 { bytes in
                unsafe bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
                    ($0 ^ UInt64($1)) &* 0x100_0000_01B3
                } | 1
            }
            // The product mixes all bits into the highest ones.
            let first = (hash &* 0x9E37_79B9_7F4A_7C15) >> UInt64(64 - bitCount)
            // Names that are made to collide get no long search.
            for probe in 0..<32 {
                let slot = (Int(truncatingIfNeeded: first) + probe) & (slotCount - 1)
                if slots[slot] == 0 {
                    slots[slot] = hash
                    return true
                }
                if slots[slot] == hash { return false }
            }
            return false
        }
        if showsName, !isNew("name") { return false }
        return tags.allSatisfy { isNew($0.name) } && columns.allSatisfy { isNew($0.title) }
    }
}

/// Gives names numbers where they are taken.
private struct NumberedNames {
    var used: Set<[UInt8]> = []
    /// Names that no number may lead to.
    let reserved: Set<[UInt8]>
    /// The last number of each name.
    private var numbers: [[UInt8]: Int] = [:]

    init(used: Set<[UInt8]> = [], reserved: Set<[UInt8]>) {
        self.used = used
        self.reserved = reserved
    }

    /// Returns the name, or the first free one of `x_1`, `x_2` and so on.
    mutating func add(_ name: String) -> String {
        let original = Array(name.utf8)
        var bytes = original
        var number = numbers[original] ?? 0
        while used.contains(bytes) || number > 0 && reserved.contains(bytes) {
            number += 1
            bytes = Array("\(name)_\(number)".utf8)
        }
        numbers[original] = number
        used.insert(bytes)
        return number == 0 ? name : "\(name)_\(number)"
    }
}

enum ResultCell {
    case null
    /// Nanoseconds since 1970.
    case time(Int64)
    case value(FieldValue)
}

/// Writes answers in one format. The methods are called in the order of their declaration.
protocol ResultWriter: AnyObject {
    func beginStatement(_ index: Int)
    func beginSeries(_ header: ResultHeader)
    /// - Parameter cells: One cell per column of the header.
    func row(_ cells: [ResultCell])
    /// Writes several rows at once. Equivalent to a call of `row` for each of them.
    ///
    /// - Parameter isTime: Whether the integers of each column are times.
    func rows(_ batch: ResultBatch, isTime: [Bool])
    func endSeries()
    /// - Parameter error: The reason why the statement failed. Formats without a place for it
    ///   ignore it; the command also prints it on standard error.
    func endStatement(error: String?)
    /// Called after the last statement.
    func end()
    /// Called instead of all other methods if the text is not a query.
    func parseError(_ message: String)
}

extension ResultWriter {
    func parseError(_ message: String) {}

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        var cells = [ResultCell](repeating: .null, count: isTime.count)
        for row in 0..<batch.count {
            for column in cells.indices {
                cells[column] = batch.columns[column].cell(row, isTime: isTime[column])
            }
            self.row(cells)
        }
    }
}

extension ResultVector {
    func cell(_ row: Int, isTime: Bool) -> ResultCell {
        if isNull(row) { return .null }
        if isTime { return .time(Int64(bitPattern: bits(row))) }
        return value(row).map { .value($0) } ?? .null
    }

    /// Whether any value is not null.
    var hasValues: Bool {
        type != nil && withValues { _, isPresent in isPresent.indices.contains { isPresent[$0] } }
    }
}
