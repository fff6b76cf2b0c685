// The inner loop of the CSV tokenizer: finds the ends of rows and cells, eight bytes at a time.

internal import CozDB

/// Splits bytes into rows and cells.
struct CSVScanner {
    private enum RowEnd {
        /// `end` is the index after its last byte, `next` the index after its line break.
        case whole(end: Int, next: Int)
        /// The bytes end before the row does, inside or outside a quoted cell.
        case open
        /// Something other than the end of the cell follows a closing quote.
        case textAfterQuote(place: Int)
        /// The same as for the last refused row, whose lines include this one.
        case refused
    }

    /// A refused row of several lines. All of its line breaks are in quotes. So if a later row has
    /// one of them in quotes, both are in the same cell there, and end at the same place. Such a
    /// line of a row with too many cells is refused as well, although it begins later.
    private struct RefusedRow {
        /// Where it ends, or up to where its end was not found.
        var end = 0
        var rowEnd = RowEnd.open
        /// Whether every later row in the same cell is refused. If not, it depends on its length.
        var isFinal = false
        var isWide = false
        /// The last opening quote, and the line of the end.
        var openQuote = 0
        var lastLine = 0
    }

    /// Maximum cells per row; more than the default limit of columns per experiment. Cells take
    /// more memory than the text of their row.
    static let cellCountMax = 1 << 17
    /// A block ends after the row that reaches this number of cells.
    private static let blockCellCountMax = 1 << 18

    let dialect: CSVDialect
    let rowSizeBytesMax: Int
    var rows: [CSVRow] = []
    /// Only the first `cellCount` are valid; the rest is spare room.
    var cells: [CSVCell] = []
    private var cellCount = 0
    var faults: [CSVFault] = []
    /// Cells with doubled quotes, in order.
    var escaped: [Int] = []
    /// Whether the last scan stopped early because the block is full.
    private(set) var hasMore = false
    /// The line where the next row begins, from 1.
    var line = 1
    /// Whether the scanner is skipping the rest of an overlong line.
    private var isInsideOverlongLine = false
    /// Line breaks in quoted cells of the current row.
    private var innerLines = 0
    /// Index of the opening quote of the last quoted cell.
    private var openQuote = 0
    /// The value of `innerLines` there.
    private var linesBeforeQuote = 0
    private var rowStart = 0
    /// The refused row that reached farthest. Without it, each of many refused lines would be
    /// scanned to the end of the file.
    private var refused = RefusedRow()

    init(dialect: CSVDialect, rowSizeBytesMax: Int) {
        self.dialect = dialect
        self.rowSizeBytesMax = rowSizeBytesMax
    }

    /// Removes all rows but keeps the memory.
    mutating func removeRows() {
        rows.removeAll(keepingCapacity: true)
        cellCount = 0
        faults.removeAll(keepingCapacity: true)
        escaped.removeAll(keepingCapacity: true)
    }

    /// Subtracts from all places, because bytes were removed from the start of the text.
    mutating func movePlaces(by count: Int) {
        refused.end -= count
        refused.openQuote -= count
        if case .textAfterQuote(let place) = refused.rowEnd {
            refused.rowEnd = .textAfterQuote(place: place - count)
        }
    }

    /// Adds the complete rows from `start` on.
    ///
    /// The result does not depend on how the file is divided into calls: the limits for rows and
    /// unclosed quotes are distances from the start of the row.
    ///
    /// - Parameter isEnd: whether `text` ends where the file ends.
    /// - Returns: the start of the first incomplete row.
    mutating func scan(_ text: PaddedBytes, from start: Int, isEnd: Bool) -> Int {
        var start = skipOverlongLine(text, from: start)
        hasMore = false
        while start < text.count {
            if cellCount >= CSVScanner.blockCellCountMax {
                hasMore = true
                return start
            }
            let firstCell = cellCount
            innerLines = 0
            rowStart = start
            let rowEnd = scanRow(text, start, isEnd: isEnd)
            let isWide = cellCount - firstCell > CSVScanner.cellCountMax
            if case .whole(let end, let next) = rowEnd, end - start <= rowSizeBytesMax, !isWide {
                rows.append(
                    CSVRow(
                        cells: firstCell..<cellCount, text: start..<end, line: line,
                        faultIndex: -1))
                line += 1 + innerLines
                start = next
                continue
            }
            let wideEnd = isWide ? Int(cells[firstCell + CSVScanner.cellCountMax].first) : nil
            cellCount = firstCell
            while let last = escaped.last, last >= firstCell { escaped.removeLast() }
            let mayBeLonger = !isEnd && !isWide && text.count - start <= rowSizeBytesMax
            if case .open = rowEnd, mayBeLonger { return start }
            remember(rowEnd, wideEnd: wideEnd, textEnd: text.count, isEnd: isEnd)
            guard let next = refuse(text, start, rowEnd, isWide: isWide, isEnd: isEnd) else {
                return start
            }
            start = next
        }
        return start
    }

    /// Remembers a row that is refused, if it reached farther than the last one.
    ///
    /// - Parameters:
    ///   - wideEnd: the start of the first cell beyond the limit; nil if there are not too many.
    ///   - isEnd: whether the file ends at `textEnd`.
    private mutating func remember(
        _ rowEnd: RowEnd, wideEnd: Int?, textEnd: Int, isEnd: Bool
    ) {
        var row = RefusedRow(rowEnd: rowEnd, isWide: wideEnd != nil, openQuote: openQuote)
        switch rowEnd {
        case .refused: return
        case .open: (row.end, row.isFinal) = (textEnd, isEnd)
        case .textAfterQuote(let place): (row.end, row.isFinal) = (place, true)
        case .whole(let end, _): row.end = end
        }
        if let wideEnd { (row.end, row.isFinal) = (wideEnd, true) }
        row.lastLine = line + innerLines
        if row.end > refused.end { refused = row }
    }

    /// Whether the row that is being scanned is refused as well if it has a line break in quotes at
    /// a place.
    private func isRefused(at place: Int) -> Bool {
        place < refused.end && (refused.isFinal || refused.end - rowStart > rowSizeBytesMax)
    }

    // MARK: Whole rows

    /// Adds the cells of one row.
    @inline(__always) private mutating func scanRow(
        _ text: PaddedBytes, _ rowStart: Int, isEnd: Bool
    ) -> RowEnd {
        let delimiter = dialect.delimiter
        let firstCell = cellCount
        var start = rowStart
        var index = rowStart
        while true {
            // A word contains at most eight ends of cells.
            if cellCount + 8 > cells.count {
                // Any result will do: the row is refused.
                if cellCount - firstCell > CSVScanner.cellCountMax { return .open }
                makeRoom()
            }
            let word = text.word(index)
            if dialect.hasQuotes && PaddedBytes.places(of: quote, in: word) != 0 {
                // With a quote in the word, go cell by cell: a quote counts only at the start of a
                // cell.
                switch scanCell(text, start, index, isEnd: isEnd) {
                case .delimiter(let place):
                    start = place + 1
                    index = start
                case .none: index += 8
                case .row(let end): return end
                }
                continue
            }
            let breaks = CSVScanner.exactMatchMask(of: newline, in: word)
            var ends = breaks | CSVScanner.exactMatchMask(of: delimiter, in: word)
            while ends != 0 {
                let place = index + ends.trailingZeroBitCount >> 3
                if breaks & (0 &- ends) & ends != 0 {
                    return rowEnd(text, start, place, isEnd: isEnd)
                }
                add(start, place)
                start = place + 1
                ends &= ends &- 1
            }
            index += 8
        }
    }

    /// Returns a mask with bit 7 set in each byte of `word` that equals `byte`. Exact for all
    /// bytes.
    @inline(__always) private static func exactMatchMask(of byte: UInt8, in word: UInt64) -> UInt64
    {
        let difference = word ^ UInt64(byte) &* 0x0101_0101_0101_0101
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~((difference & low) &+ low | difference | low)
    }

    /// Ends a row at a newline, which may be the one after all bytes.
    @inline(__always) private mutating func rowEnd(
        _ text: PaddedBytes, _ start: Int, _ place: Int, isEnd: Bool
    ) -> RowEnd {
        if place >= text.count && !isEnd { return .open }
        let hasReturn = place > start && text[place - 1] == carriageReturn
        let end = hasReturn ? place - 1 : place
        add(start, end)
        return .whole(end: end, next: Swift.min(place + 1, text.count))
    }

    @inline(__always) private mutating func add(
        _ start: Int, _ end: Int, isQuoted: Bool = false
    ) {
        // Fits in 32 bits: a row has at most 256 MiB, and read-ahead is no larger.
        cells[cellCount] = CSVCell(
            first: Int32(truncatingIfNeeded: start), last: Int32(truncatingIfNeeded: end),
            isQuoted: isQuoted)
        cellCount += 1
    }

    @inline(never) private mutating func makeRoom() {
        let empty = CSVCell(first: 0, last: 0, isQuoted: false)
        cells.append(contentsOf: repeatElement(empty, count: Swift.max(4096, cells.count)))
    }

    // MARK: Quoted cells

    private enum CellEnd {
        /// Index of the delimiter that ends the cell.
        case delimiter(Int)
        case row(RowEnd)
        case none
    }

    /// Adds the cell that begins at `start` if it ends in the word at `index`, which contains a
    /// quote. A quoted cell is scanned to its end.
    @inline(never) private mutating func scanCell(
        _ text: PaddedBytes, _ start: Int, _ index: Int, isEnd: Bool
    ) -> CellEnd {
        if index == start && text[start] == quote { return scanQuoted(text, start, isEnd: isEnd) }
        let word = text.word(index)
        let found =
            PaddedBytes.places(of: dialect.delimiter, in: word)
            | PaddedBytes.places(of: newline, in: word)
        if found == 0 { return .none }
        let place = index + found.trailingZeroBitCount >> 3
        if text[place] == newline { return .row(rowEnd(text, start, place, isEnd: isEnd)) }
        add(start, place)
        return .delimiter(place)
    }

    /// Adds the quoted cell whose opening quote is at `start`.
    @inline(__always) private mutating func scanQuoted(
        _ text: PaddedBytes, _ start: Int, isEnd: Bool
    ) -> CellEnd {
        openQuote = start
        linesBeforeQuote = innerLines
        var isEscaped = false
        var index = start + 1
        while true {
            let word = text.word(index)
            let found =
                PaddedBytes.places(of: quote, in: word) | PaddedBytes.places(of: newline, in: word)
            if found == 0 {
                index += 8
                if index >= text.count { return .row(.open) }
                continue
            }
            index += found.trailingZeroBitCount >> 3
            if index >= text.count { return .row(.open) }
            if text[index] == newline {
                if isRefused(at: index) { return .row(.refused) }
                innerLines += 1
                index += 1
            } else if text[index + 1] == quote {
                isEscaped = true
                index += 2
            } else {
                break
            }
        }
        if isEscaped { escaped.append(cellCount) }
        add(start + 1, index, isQuoted: true)
        return endOfQuoted(text, behind: index + 1, isEnd: isEnd)
    }

    /// Checks what follows a closing quote.
    @inline(__always) private func endOfQuoted(
        _ text: PaddedBytes, behind end: Int, isEnd: Bool
    ) -> CellEnd {
        let lineEnd = text[end] == carriageReturn && end < text.count ? end + 1 : end
        if lineEnd >= text.count {
            return .row(isEnd ? .whole(end: end, next: text.count) : .open)
        }
        if text[lineEnd] == newline { return .row(.whole(end: end, next: lineEnd + 1)) }
        if text[end] == dialect.delimiter { return .delimiter(end) }
        return .row(.textAfterQuote(place: end))
    }

    // MARK: Faulty rows

    /// Skips the rest of an overlong line.
    private mutating func skipOverlongLine(_ text: PaddedBytes, from start: Int) -> Int {
        guard isInsideOverlongLine else { return start }
        guard let end = text.firstIndex(of: newline, in: start..<text.count) else {
            return text.count
        }
        isInsideOverlongLine = false
        line += 1
        return end + 1
    }

    /// Refuses the first line of a row, so that a stray quote does not cost the rest of the file.
    /// The next line is scanned as a row again.
    ///
    /// - Returns: the start of the next row; nil if the end of the line has not been read yet.
    private mutating func refuse(
        _ text: PaddedBytes, _ start: Int, _ rowEnd: RowEnd, isWide: Bool, isEnd: Bool
    ) -> Int? {
        let isRefused = if case .refused = rowEnd { true } else { false }
        if isWide || isRefused && refused.isWide {
            let reason = isWide ? "a row" : "a line of a row"
            return refuseWide(text, start, "\(reason) of more", isEnd: isEnd)
        }
        let limit = Swift.min(text.count, start + rowSizeBytesMax + 1)
        let newlinePlace = text.firstIndex(of: newline, in: start..<limit)
        if newlinePlace == nil && limit - start > rowSizeBytesMax {
            add(
                CSVFault(column: 0, reason: "a row of more than \(rowSizeBytesMax) bytes"),
                start..<limit)
            isInsideOverlongLine = true
            return skipOverlongLine(text, from: limit)
        }
        if newlinePlace == nil && !isEnd { return nil }
        var end = newlinePlace ?? limit
        let next = Swift.min(end + 1, text.count)
        if end > start && text[end - 1] == carriageReturn { end -= 1 }
        add(fault(text, start, rowEnd), start..<end)
        line += 1
        return next
    }

    /// Refuses the first line of a row with too many cells and keeps its beginning.
    ///
    /// - Returns: as `refuse`.
    private mutating func refuseWide(
        _ text: PaddedBytes, _ start: Int, _ reason: String, isEnd: Bool
    ) -> Int? {
        let place = text.firstIndex(of: newline, in: start..<text.count)
        let kept = Refusal.lineSizeBytesMax
        if place == nil, !isEnd, text.count - start <= kept { return nil }
        let end = Swift.min(place ?? text.count, start + kept)
        let reason = "\(reason) than \(CSVScanner.cellCountMax) cells"
        add(CSVFault(column: 0, reason: reason), start..<end)
        isInsideOverlongLine = true
        return skipOverlongLine(text, from: end)
    }

    private mutating func add(_ fault: CSVFault, _ range: Range<Int>) {
        rows.append(
            CSVRow(
                cells: cellCount..<cellCount, text: range, line: line,
                faultIndex: faults.count))
        faults.append(fault)
    }

    /// Returns the fault of a row with a quote that is never closed or is followed by text.
    private func fault(_ text: PaddedBytes, _ start: Int, _ rowEnd: RowEnd) -> CSVFault {
        var (rowEnd, lastLine) = (rowEnd, line + innerLines)
        var isInFirstLine = linesBeforeQuote == 0
        if case .refused = rowEnd {
            (rowEnd, lastLine) = (refused.rowEnd, refused.lastLine)
            if refused.openQuote > openQuote { isInFirstLine = false }
        }
        let column = isInFirstLine ? openQuote - start + 1 : 0
        let opened = isInFirstLine ? "that begins here" : "that begins in a later line"
        guard case .textAfterQuote(let place) = rowEnd, place - start <= rowSizeBytesMax else {
            return CSVFault(
                column: column,
                reason: "the quoted cell \(opened) is never closed; expected a quote and then "
                    + "the end of the cell within \(rowSizeBytesMax) bytes")
        }
        var scalarEnd = place + 1
        while scalarEnd < text.count && text[scalarEnd] & 0xC0 == 0x80 { scalarEnd += 1 }
        let found = String(decoding: text.copy(place..<scalarEnd), as: UTF8.self)
        let inLine = lastLine == line ? "" : " in line \(lastLine)"
        return CSVFault(
            column: column,
            reason: "the quoted cell \(opened) has \"\(found)\" after its closing quote\(inLine); "
                + "expected the end of the cell (double a quote inside a cell)")
    }
}
