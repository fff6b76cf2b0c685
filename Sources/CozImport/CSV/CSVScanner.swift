// Where rows and cells end: the inner loop of the tokenizer. It looks at eight bytes a step and
// decides nothing but that.

internal import CozDB

/// Splits bytes into rows and cells.
struct CSVScanner {
    /// How the scan of one row ended.
    private enum RowEnd {
        /// `end` is behind its last byte, `next` behind the line break that follows.
        case whole(end: Int, next: Int)
        /// The bytes end before the row does; in a quoted cell, or outside of one.
        case open
        /// A closing quote, with something other than the end of the cell behind it.
        case textBehindQuote(place: Int)
    }

    /// Most cells of a row: more than the columns that an experiment can have by default. Cells
    /// take more memory than the text of the row does.
    static let cellCountMax = 1 << 17
    /// A block ends behind the row that reaches so many.
    private static let blockCellCountMax = 1 << 18

    let dialect: CSVDialect
    let rowSizeBytesMax: Int
    var rows: [CSVRow] = []
    /// The first `cellCount` count; the others are room for more.
    var cells: [CSVCell] = []
    private var cellCount = 0
    var faults: [CSVFault] = []
    /// Cells with doubled quotes, in order.
    var escaped: [Int] = []
    /// Whether the last scan ended before the text did, because there were many cells.
    private(set) var hasMore = false
    /// The line that the next row begins in, from 1.
    var line = 1
    /// Whether the rest of an overlong line is to be passed over.
    private var isInsideOverlongLine = false
    /// Line breaks inside the quoted cells of the row being scanned.
    private var innerLines = 0
    /// Where the quoted cell scanned last was opened.
    private var openQuote = 0

    init(dialect: CSVDialect, rowSizeBytesMax: Int) {
        self.dialect = dialect
        self.rowSizeBytesMax = rowSizeBytesMax
    }

    /// Forgets the rows, keeps the memory.
    mutating func removeRows() {
        rows.removeAll(keepingCapacity: true)
        cellCount = 0
        faults.removeAll(keepingCapacity: true)
        escaped.removeAll(keepingCapacity: true)
    }

    /// Adds the whole rows that begin at a place.
    ///
    /// What comes out does not depend on how the file is cut into calls: whether a row is too long
    /// or a quote is never closed is decided by the distance from where the row begins.
    ///
    /// - Parameter isEnd: whether no more bytes follow those that are there.
    /// - Returns: where the first row begins that is not whole.
    mutating func scan(_ text: PaddedBytes, from start: Int, isEnd: Bool) -> Int {
        var start = passOverlongLine(text, from: start)
        hasMore = false
        while start < text.count {
            if cellCount >= CSVScanner.blockCellCountMax {
                hasMore = true
                return start
            }
            let firstCell = cellCount
            innerLines = 0
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
            cellCount = firstCell
            while let last = escaped.last, last >= firstCell { escaped.removeLast() }
            if isWide {
                guard let next = refuseWide(text, start, isEnd: isEnd) else { return start }
                start = next
                continue
            }
            if case .open = rowEnd, !isEnd, text.count - start <= rowSizeBytesMax { return start }
            guard let next = refuse(text, start, rowEnd, isEnd: isEnd) else { return start }
            start = next
        }
        return start
    }

    // MARK: Whole rows

    /// Adds the cells of one row, eight bytes a step.
    @inline(__always) private mutating func scanRow(
        _ text: PaddedBytes, _ rowStart: Int, isEnd: Bool
    ) -> RowEnd {
        let delimiter = dialect.delimiter
        let firstCell = cellCount
        var start = rowStart
        var index = rowStart
        while true {
            // A word has eight ends of cells at most.
            if cellCount + 8 > cells.count {
                // The answer does not matter then: the row is refused.
                if cellCount - firstCell > CSVScanner.cellCountMax { return .open }
                makeRoom()
            }
            let word = text.word(index)
            if dialect.hasQuotes && PaddedBytes.places(of: quote, in: word) != 0 {
                // A cell at a time: what a quote means depends on whether a cell begins with it.
                switch scanCell(text, start, index, isEnd: isEnd) {
                case .delimiter(let place):
                    start = place + 1
                    index = start
                case .none: index += 8
                case .row(let end): return end
                }
                continue
            }
            let breaks = CSVScanner.exactPlaces(of: newline, in: word)
            var ends = breaks | CSVScanner.exactPlaces(of: delimiter, in: word)
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

    /// Bit 7 of the bytes of a word that equal a byte.
    @inline(__always) private static func exactPlaces(of byte: UInt8, in word: UInt64) -> UInt64 {
        let difference = word ^ UInt64(byte) &* 0x0101_0101_0101_0101
        let low: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        return ~((difference & low) &+ low | difference | low)
    }

    /// The end of a row at a newline, be it the one that stands behind all bytes.
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
        // Fits: a row is at most 256 MiB, and what is read ahead no more than that.
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
        /// Where the delimiter stands that follows the cell.
        case delimiter(Int)
        case row(RowEnd)
        /// Not in this word.
        case none
    }

    /// Adds the cell that begins at `start` and has a quote in the word at `index`, where that is
    /// known to end.
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

    /// Adds the quoted cell that begins at a quote.
    @inline(__always) private mutating func scanQuoted(
        _ text: PaddedBytes, _ start: Int, isEnd: Bool
    ) -> CellEnd {
        openQuote = start
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

    /// What follows a closing quote.
    @inline(__always) private func endOfQuoted(
        _ text: PaddedBytes, behind end: Int, isEnd: Bool
    ) -> CellEnd {
        let lineEnd = text[end] == carriageReturn && end < text.count ? end + 1 : end
        if lineEnd >= text.count {
            return .row(isEnd ? .whole(end: end, next: text.count) : .open)
        }
        if text[lineEnd] == newline { return .row(.whole(end: end, next: lineEnd + 1)) }
        if text[end] == dialect.delimiter { return .delimiter(end) }
        return .row(.textBehindQuote(place: end))
    }

    // MARK: Rows that cannot be split

    /// Passes over what is left of an overlong line.
    private mutating func passOverlongLine(_ text: PaddedBytes, from start: Int) -> Int {
        guard isInsideOverlongLine else { return start }
        guard let end = text.firstIndex(of: newline, in: start..<text.count) else {
            return text.count
        }
        isInsideOverlongLine = false
        line += 1
        return end + 1
    }

    /// Refuses the first line of a row, so that a stray quote costs one line and not the rest of
    /// the file; what follows is read as rows again.
    ///
    /// - Returns: where the next row begins; nil where the end of the line was not read yet.
    private mutating func refuse(
        _ text: PaddedBytes, _ start: Int, _ rowEnd: RowEnd, isEnd: Bool
    ) -> Int? {
        let limit = Swift.min(text.count, start + rowSizeBytesMax + 1)
        let newlinePlace = text.firstIndex(of: newline, in: start..<limit)
        if newlinePlace == nil && limit - start > rowSizeBytesMax {
            add(
                CSVFault(column: 0, reason: "a row of more than \(rowSizeBytesMax) bytes"),
                start..<limit)
            isInsideOverlongLine = true
            return passOverlongLine(text, from: limit)
        }
        if newlinePlace == nil && !isEnd { return nil }
        var end = newlinePlace ?? limit
        let next = Swift.min(end + 1, text.count)
        if end > start && text[end - 1] == carriageReturn { end -= 1 }
        add(fault(text, start, rowEnd), start..<end)
        line += 1
        return next
    }

    /// Refuses the first line of a row with too many cells; its beginning is kept.
    ///
    /// - Returns: as `refuse`.
    private mutating func refuseWide(_ text: PaddedBytes, _ start: Int, isEnd: Bool) -> Int? {
        let place = text.firstIndex(of: newline, in: start..<text.count)
        let kept = Refusal.lineSizeBytesMax
        if place == nil, !isEnd, text.count - start <= kept { return nil }
        let end = Swift.min(place ?? text.count, start + kept)
        let reason = "a row of more than \(CSVScanner.cellCountMax) cells"
        add(CSVFault(column: 0, reason: reason), start..<end)
        isInsideOverlongLine = true
        return passOverlongLine(text, from: end)
    }

    private mutating func add(_ fault: CSVFault, _ range: Range<Int>) {
        rows.append(
            CSVRow(
                cells: cellCount..<cellCount, text: range, line: line,
                faultIndex: faults.count))
        faults.append(fault)
    }

    /// Why a row with a quote that is not closed, or not closed well, cannot be split.
    private func fault(_ text: PaddedBytes, _ start: Int, _ rowEnd: RowEnd) -> CSVFault {
        let isInFirstLine = text.lastIndex(of: newline, in: start..<openQuote) == nil
        let column = isInFirstLine ? openQuote - start + 1 : 0
        let opened = isInFirstLine ? "that begins here" : "that begins in a later line"
        guard case .textBehindQuote(let place) = rowEnd, place - start <= rowSizeBytesMax else {
            return CSVFault(
                column: column,
                reason: "the quoted cell \(opened) is never closed; expected a quote and then "
                    + "the end of the cell within \(rowSizeBytesMax) bytes")
        }
        var scalarEnd = place + 1
        while scalarEnd < text.count && text[scalarEnd] & 0xC0 == 0x80 { scalarEnd += 1 }
        let found = String(decoding: text.copy(place..<scalarEnd), as: UTF8.self)
        let lines = text.copy(start..<place).count { $0 == newline }
        let inLine = lines == 0 ? "" : " in line \(line + lines)"
        return CSVFault(
            column: column,
            reason: "the quoted cell \(opened) is closed\(inLine) with \"\(found)\" behind the "
                + "quote; expected the end of the cell (a quote inside a cell is written twice)")
    }
}
