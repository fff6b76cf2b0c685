// Numbers the rows of each millisecond. A phone writes several rows with one timestamp, but a
// database row needs its own time. So the second such row goes one nanosecond later, and so on.
//
// The ordinal of a row is its position among the different rows of its millisecond, in the order in
// which an import reads its files. Equal rows share an ordinal, within a file and across files.
//
// Nearly all files are in order, and few share an hour. Then only the last row is remembered. If
// two files share an hour, the earlier one is read again for that hour, so memory does not grow
// with the size of the export. The rows of shared and disordered hours are kept up to a limit.

internal import CozDB
internal import CozImport

/// The ordinals of rows in a set of milliseconds.
struct RowOrdinalIndex {
    private struct Key: Hashable {
        var milliseconds: Int64
        var identity: UInt64
    }

    private var counts: [Int64: Int] = [:]
    private var ordinals: [Key: Int] = [:]

    /// The number of rows.
    var count: Int { ordinals.count }

    /// Returns the ordinal of an equal row, or the next free one, and whether the row is new.
    @discardableResult mutating func add(
        _ milliseconds: Int64, _ identity: UInt64
    ) -> (ordinal: Int, isNew: Bool) {
        let key = Key(milliseconds: milliseconds, identity: identity)
        if let known = ordinals[key] { return (known, false) }
        let next = counts[milliseconds, default: 0]
        // The row is refused.
        if next >= RowOrdinals.countMax { return (next, false) }
        counts[milliseconds] = next + 1
        ordinals[key] = next
        return (next, true)
    }
}

/// How much is remembered and read again to number rows, per patient and stream.
package struct RowOrdinalLimits: Sendable {
    /// The rows of shared and disordered hours that are remembered, some 400 MB.
    package var rowCountMax = 4_000_000
    /// The lines that are read again, beyond 16 times those of the files.
    package var rereadLineCountMax = 64_000_000
}

/// The row ordinals of one patient and stream, over all files of an import.
struct RowOrdinals {
    /// The unit of indexing and of reading again, because the server cuts files by hour.
    private static let hourMilliseconds: Int64 = 3_600_000
    /// The maximum number of rows per millisecond: its nanoseconds.
    static let countMax = 1_000_000

    /// A file, and the survey that its path tells.
    struct Source {
        var path = ""
        var survey: String?
    }

    /// The files read so far, by each hour that they have rows of.
    private var filesByHour: [Int64: [Source]] = [:]
    /// The indexes of input that cannot be read again.
    private var lasting: [Int64: RowOrdinalIndex] = [:]
    /// The indexes of hours for further files of these hours, and the number of their rows.
    private var kept: [Int64: RowOrdinalIndex] = [:]
    private var keptCount = 0
    /// The lines of all files so far, and how many lines were read again. That is limited, because
    /// hours can alternate from row to row.
    private var lineCount = 0
    private var rereadLineCount = 0
    private let limits: RowOrdinalLimits

    // State of the current file:
    private var source = Source()
    private var canReopen = true
    private var lastLine = 0
    private var hours: Set<Int64> = []
    private var indexes: [Int64: RowOrdinalIndex] = [:]
    /// Whether hours were met again, so that each gets an index from its first row on.
    private var isDisordered = false
    /// Whether the indexes had too many rows, so that only those of few hours are kept.
    private var isTooLong = false
    /// The rows in the indexes.
    private var indexedCount = 0
    /// The rows of the latest millisecond, in order.
    private var latest: (milliseconds: Int64, index: RowOrdinalIndex)?
    /// The identity of the last row with an ordinal, kept after its block is overwritten.
    private var carried: UInt64 = 0

    /// Reads the rows of a file again, up to a line or, with nil, to the end. Calls `body` with the
    /// milliseconds and identity of each row in order. Returns the number of lines read.
    typealias Replay = (
        _ source: Source, _ beforeLine: Int?, _ body: (Int64, UInt64) -> Void
    ) throws(DatabaseError) -> Int

    init(_ limits: RowOrdinalLimits) {
        self.limits = limits
    }

    mutating func begin(_ file: InputFile, survey: String?) {
        source = Source(path: file.name, survey: survey)
        lastLine = 0
        canReopen = file.isReopenable
        hours = []
        indexes = [:]
        isDisordered = false
        isTooLong = false
        indexedCount = canReopen ? 0 : RowOrdinals.count(lasting)
        latest = nil
    }

    /// Saves the identity of the last row, because the block is about to be overwritten.
    mutating func endBlock(_ rows: inout TimedRows, _ block: CSVBlock) {
        lastLine = block.rows.last?.line ?? lastLine
        guard let last = rows.lastPlacedRow, let time = rows.time(of: block.rows[last], in: block)
        else { return }
        carried = rows.identity(of: block.rows[last], in: block, time)
    }

    /// Records the hours of a file that was read to its end.
    mutating func end() {
        lineCount += lastLine
        for hour in hours where canReopen { filesByHour[hour, default: []].append(source) }
        for hour in hours { _ = takeKept(hour) }
        if canReopen {
            kept.merge(indexes) { $1 }
            keptCount += RowOrdinals.count(indexes)
            if keptCount > limits.rowCountMax {
                let last = indexes.keys.max()
                kept = kept.filter { $0.key == last }
                keptCount = RowOrdinals.count(kept)
            }
        } else {
            lasting.merge(indexes) { $1 }
        }
        indexes = [:]
    }

    /// Frees the indexes of read files. They are read again if further ones share their hours.
    mutating func dropKept() {
        kept = [:]
        keptCount = 0
    }

    /// Moves an index out instead of copying it, because many small files may share an hour.
    private mutating func takeKept(_ hour: Int64) -> RowOrdinalIndex? {
        let index = kept.removeValue(forKey: hour)
        keptCount -= index?.count ?? 0
        return index
    }

    /// Returns the ordinal of a row that `TimedRows.add` stopped at, from 0. Also sets the limit at
    /// which `TimedRows.add` stops next.
    mutating func ordinal(
        of row: CSVRow, in block: CSVBlock, _ milliseconds: Int64, _ rows: inout TimedRows,
        replay: Replay
    ) throws(DatabaseError) -> Int {
        remember(&rows, block)
        let identity = rows.identity(of: row, in: block, milliseconds)
        let hour = RowOrdinals.hour(of: milliseconds)
        let isLater = milliseconds > rows.latest ?? .min
        let isNew = hours.insert(hour).inserted
        let isInOrder = isLater || milliseconds == rows.latest
        if indexes[hour] == nil && !(isAlone(hour) && isInOrder && !isDisordered) {
            let limit = limits.rereadLineCountMax + 16 * (lineCount + row.line)
            if rereadLineCount > limit { throw tooOftenReread }
            if !isNew && !isTooLong {
                if indexedCount + keptCount + row.line > limits.rowCountMax { dropKept() }
                try indexAll(before: row.line, replay)
            }
            if indexes[hour] == nil {
                let index = try index(hour, before: isNew ? nil : row.line, replay)
                indexedCount += index.count
                indexes[hour] = index
            }
        }
        if isLater {
            latest = (milliseconds, RowOrdinalIndex())
            rows.latest = milliseconds
        }
        var ordinal = 0
        if isInOrder { ordinal = latest?.index.add(milliseconds, identity).ordinal ?? 0 }
        if let place = indexes[hour]?.add(milliseconds, identity) {
            ordinal = place.ordinal
            indexedCount += place.isNew ? 1 : 0
            if indexedCount + keptCount > limits.rowCountMax { dropKept() }
            if indexedCount > limits.rowCountMax { try dropIndexes(except: hour) }
        }
        // Later rows of the hour need no lookup while the hour needs no index.
        let latestHour = RowOrdinals.hour(of: rows.latest ?? milliseconds)
        let needsIndex = indexes[latestHour] != nil || !isAlone(latestHour)
        rows.limit = needsIndex ? .min : (latestHour + 1) * RowOrdinals.hourMilliseconds
        return ordinal
    }

    /// Whether the rows of an hour are in this file only.
    private func isAlone(_ hour: Int64) -> Bool {
        filesByHour[hour] == nil && lasting[hour] == nil && canReopen
    }

    private var tooOftenReread: DatabaseError {
        DatabaseError(
            .usage,
            "it has hours that were read before, here or in other files, and reading these again "
                + "takes too long; sort the rows of each file by time, or import fewer files at "
                + "once", file: source.path)
    }

    private var tooLongForPipe: DatabaseError {
        DatabaseError(
            .usage,
            "found more than \(limits.rowCountMax) rows of Beiwe in input that cannot be read "
                + "again; name the file instead of a pipe", file: source.path)
    }

    private var tooManyOfHour: DatabaseError {
        DatabaseError(
            .usage,
            "found more than \(limits.rowCountMax) rows of one hour, in several files or out of "
                + "order; sort them by time and put them in one file", file: source.path)
    }

    /// Frees the indexes of all hours but one. Files are read again for the others.
    private mutating func dropIndexes(except hour: Int64) throws(DatabaseError) {
        if !canReopen { throw tooLongForPipe }
        indexedCount = indexes[hour]?.count ?? 0
        if indexedCount > limits.rowCountMax { throw tooManyOfHour }
        isTooLong = true
        isDisordered = false
        indexes = indexes.filter { $0.key == hour }
    }

    private static func count(_ indexes: [Int64: RowOrdinalIndex]) -> Int {
        indexes.values.reduce(0) { $0 + $1.count }
    }

    /// Indexes the latest row before another one replaces it.
    private mutating func remember(_ rows: inout TimedRows, _ block: CSVBlock) {
        guard let time = rows.latest, latest?.milliseconds != time else { return }
        var index = RowOrdinalIndex()
        var identity = carried
        if let last = rows.lastPlacedRow {
            identity = rows.identity(of: block.rows[last], in: block, time)
        }
        index.add(time, identity)
        latest = (time, index)
    }

    /// Indexes all hours of this file that it shares with no other, in one pass: where one hour is
    /// met again, more are.
    private mutating func indexAll(
        before line: Int, _ replay: Replay
    ) throws(DatabaseError) {
        isDisordered = true
        let wanted = hours.filter {
            indexes[$0] == nil && filesByHour[$0] == nil && lasting[$0] == nil
        }
        var found: [Int64: RowOrdinalIndex] = [:]
        var room = limits.rowCountMax - indexedCount
        rereadLineCount += try replay(source, line) { milliseconds, identity in
            let hour = RowOrdinals.hour(of: milliseconds)
            guard room >= 0, wanted.contains(hour) else { return }
            let place = found[hour, default: RowOrdinalIndex()].add(milliseconds, identity)
            room -= place.isNew ? 1 : 0
        }
        guard room >= 0 else {
            isTooLong = true
            isDisordered = false
            return
        }
        indexedCount = limits.rowCountMax - room
        indexes.merge(found) { $1 }
    }

    /// Returns the index of an hour: other files in order, then this one up to `line`.
    private mutating func index(
        _ hour: Int64, before line: Int?, _ replay: Replay
    ) throws(DatabaseError) -> RowOrdinalIndex {
        let known = takeKept(hour)
        var index = known ?? lasting[hour] ?? RowOrdinalIndex()
        if !canReopen {
            // It comes back at the end of this input.
            indexedCount -= lasting.removeValue(forKey: hour)?.count ?? 0
        }
        func add(_ milliseconds: Int64, _ identity: UInt64) {
            guard RowOrdinals.hour(of: milliseconds) == hour, index.count <= limits.rowCountMax
            else { return }
            index.add(milliseconds, identity)
        }
        if known == nil {
            for other in filesByHour[hour] ?? [] { rereadLineCount += try replay(other, nil, add) }
        }
        if let line { rereadLineCount += try replay(source, line, add) }
        if index.count > limits.rowCountMax { throw tooManyOfHour }
        return index
    }

    private static func hour(of milliseconds: Int64) -> Int64 {
        let quotient = milliseconds / hourMilliseconds
        return milliseconds % hourMilliseconds < 0 ? quotient - 1 : quotient
    }
}
