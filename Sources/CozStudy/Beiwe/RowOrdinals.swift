// Which row of a millisecond is which. A phone writes several rows with one timestamp; a row of the
// database is one moment, so the second of them goes a nanosecond later, and so on.
//
// The ordinal of a row is its place among the different rows of its millisecond, in the order in
// which the files of one import are read: rows that say the same are one row, in one file or in
// several. Nearly all files are in order, and no two have rows of the same hour; then nothing is
// remembered but the last row. Where two do, the earlier file is read once more for that hour, so
// that memory does not grow with the size of an export.

internal import CozDB
internal import CozImport

/// The ordinals of some milliseconds.
struct MomentIndex {
    private struct Key: Hashable {
        var milliseconds: Int64
        var identity: UInt64
    }

    private var counts: [Int64: Int] = [:]
    private var ordinals: [Key: Int] = [:]

    /// The ordinal of a row: that of an equal row, or the next free one.
    mutating func ordinal(_ milliseconds: Int64, _ identity: UInt64) -> Int {
        let key = Key(milliseconds: milliseconds, identity: identity)
        if let known = ordinals[key] { return known }
        let next = counts[milliseconds, default: 0]
        counts[milliseconds] = next + 1
        ordinals[key] = next
        return next
    }
}

/// The rows of one patient in one stream, over all files of an import.
struct RowOrdinals {
    /// The width of what is remembered or read again: the server cuts files so.
    private static let hourMilliseconds: Int64 = 3_600_000
    /// More rows than this cannot be told apart inside a millisecond.
    static let countMax = 1_000_000

    /// The files read so far, by the hours they have rows of.
    private var filesOfHour: [Int64: [String]] = [:]
    /// Hours of input that cannot be read again.
    private var lasting: [Int64: MomentIndex] = [:]
    /// The last hour that was indexed, for more files of the same.
    private var lastIndexed: (hour: Int64, index: MomentIndex)?

    // Of the file being read:
    private var path = ""
    private var canReopen = true
    private var hours: Set<Int64> = []
    private var indexes: [Int64: MomentIndex] = [:]
    /// The rows of the latest millisecond, in order.
    private var latest: (milliseconds: Int64, index: MomentIndex)?
    /// Identity of the row that got a place last, where it is not in the block any more.
    private var carried: UInt64 = 0

    /// Reads the rows of a file again: `body` gets milliseconds and identity of each, in order,
    /// as far as a line; nil: all.
    typealias Replay = (
        _ path: String, _ beforeLine: Int?, _ body: (Int64, UInt64) -> Void
    ) throws(DatabaseError) -> Void

    mutating func begin(_ file: InputFile) {
        path = file.name
        canReopen = file.isReopenable
        hours = []
        indexes = [:]
        latest = nil
    }

    /// The block will be overwritten.
    mutating func endBlock(_ rows: inout TimedRows, _ block: CSVBlock) {
        guard let last = rows.lastPlaced, let time = rows.time(of: block.rows[last], in: block)
        else { return }
        carried = rows.identity(of: block.rows[last], in: block, time)
    }

    /// The file was read to its end.
    mutating func end() {
        for hour in hours where canReopen { filesOfHour[hour, default: []].append(path) }
        if !canReopen { lasting.merge(indexes) { $1 } }
        if canReopen, let hour = indexes.keys.max() {
            lastIndexed = indexes[hour].map { (hour, $0) }
        } else if let hour = lastIndexed?.hour, hours.contains(hour) {
            lastIndexed = nil
        }
        indexes = [:]
    }

    /// The ordinal of a row that `TimedRows.add` stopped at, from 0; and what rows it is to stop
    /// at from now on.
    mutating func ordinal(
        of row: CSVRow, in block: CSVBlock, _ milliseconds: Int64, _ rows: inout TimedRows,
        replay: Replay
    ) throws(DatabaseError) -> Int {
        remember(&rows, block)
        let identity = rows.identity(of: row, in: block, milliseconds)
        let hour = RowOrdinals.hour(of: milliseconds)
        let isLater = milliseconds > rows.latest ?? .min
        let isNew = hours.insert(hour).inserted
        let others = filesOfHour[hour] ?? []
        let isAlone = others.isEmpty && lasting[hour] == nil && canReopen
        let isInOrder = isLater || milliseconds == rows.latest
        if indexes[hour] == nil && !(isAlone && isInOrder) {
            indexes[hour] = try index(hour, others, isNew ? nil : row.line, replay)
        }
        if isLater {
            latest = (milliseconds, MomentIndex())
            rows.latest = milliseconds
        }
        var ordinal = 0
        if isInOrder { ordinal = latest?.index.ordinal(milliseconds, identity) ?? 0 }
        if indexes[hour] != nil {
            ordinal = indexes[hour]?.ordinal(milliseconds, identity) ?? 0
        }
        // Later rows of an hour need not be looked up as long as nothing else is known of it.
        let latestHour = RowOrdinals.hour(of: rows.latest ?? milliseconds)
        rows.limit =
            indexes[latestHour] == nil ? (latestHour + 1) * RowOrdinals.hourMilliseconds : .min
        return ordinal
    }

    /// Takes note of the latest row before it is not the last one any more.
    private mutating func remember(_ rows: inout TimedRows, _ block: CSVBlock) {
        guard let time = rows.latest, latest?.milliseconds != time else { return }
        var index = MomentIndex()
        var identity = carried
        if let last = rows.lastPlaced {
            identity = rows.identity(of: block.rows[last], in: block, time)
        }
        _ = index.ordinal(time, identity)
        latest = (time, index)
    }

    /// What was read of an hour: other files in their order, then this one.
    private mutating func index(
        _ hour: Int64, _ others: [String], _ line: Int?, _ replay: Replay
    ) throws(DatabaseError) -> MomentIndex {
        if line == nil, let known = lastIndexed, known.hour == hour {
            // Moved, not copied: many small files can have rows of one hour.
            lastIndexed = nil
            return known.index
        }
        var index = lasting[hour] ?? MomentIndex()
        func add(_ milliseconds: Int64, _ identity: UInt64) {
            guard RowOrdinals.hour(of: milliseconds) == hour else { return }
            _ = index.ordinal(milliseconds, identity)
        }
        for other in others { try replay(other, nil, add) }
        if let line { try replay(path, line, add) }
        return index
    }

    private static func hour(of milliseconds: Int64) -> Int64 {
        let quotient = milliseconds / hourMilliseconds
        return milliseconds % hourMilliseconds < 0 ? quotient - 1 : quotient
    }
}
