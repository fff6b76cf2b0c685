// CSV of any size to rows and cells, with memory for a piece of it. Bytes only: what the cells mean
// is the caller's to say.

package import CozDB

/// Reads files of comma-separated values (RFC 4180) piece by piece.
///
///     let tokenizer = CSVTokenizer()
///     tokenizer.begin()
///     while let block = try tokenizer.nextBlock(of: file) {
///         for row in block.rows {
///             if let fault = block.fault(of: row) { ... }
///             for cell in block.cells[row.cells] { ... block.bytes, cell.range ... }
///         }
///     }
///
/// - A row ends at a newline, or a carriage return and a newline, outside of quotes; the last one
///   also at the end of the file. A byte order mark at the beginning is dropped.
/// - A cell that begins with a quote ends with one; inside, a quote is written twice and newlines
///   are content. A quote elsewhere is a byte as any other, and so are blanks.
/// - An empty line is a row of one empty cell (`CSVBlock.isBlank`).
/// - A row that breaks these rules, is too long or has too many cells, has a fault in place of
///   cells. It ends at the first newline, and reading resumes behind that: a missing quote costs
///   one line.
///
/// No memory is allocated for a row or a cell. Not for use by several threads at once.
package final class CSVTokenizer {
    /// Longest row of the default, as of a line of line protocol.
    package static let rowSizeBytesMax = 32 << 20

    private var chunkSizeBytes: Int
    private let rowSizeBytesMax: Int
    private var scanner: CSVScanner
    private let storage = CSVStorage()
    private var block: CSVBlock
    /// Bytes that were read, and of those the ones handed out as rows; behind them in the buffer
    /// stand the contents of cells with doubled quotes.
    private var readEnd = 0
    private var rowsEnd = 0
    private var isFileStart = true
    private var isEnd = false
    /// Why reading failed; thrown once the rows that were read before it are handed out.
    private var failure: DatabaseError?

    /// - Parameters:
    ///   - chunkSizeBytes: read at once; few enough to stay in the processor's cache. At least 1.
    ///   - rowSizeBytesMax: longest row, line breaks inside quotes counted. 1 byte to 256 MiB.
    package init(
        dialect: CSVDialect = CSVDialect(), chunkSizeBytes: Int = 1 << 17,
        rowSizeBytesMax: Int = CSVTokenizer.rowSizeBytesMax
    ) {
        precondition(chunkSizeBytes >= 1 && chunkSizeBytes <= 1 << 28, "chunks of 1 B to 256 MiB")
        precondition(
            rowSizeBytesMax >= 1 && rowSizeBytesMax <= 1 << 28, "rows of at most 256 MiB")
        self.chunkSizeBytes = chunkSizeBytes
        self.rowSizeBytesMax = rowSizeBytesMax
        scanner = CSVScanner(dialect: dialect, rowSizeBytesMax: rowSizeBytesMax)
        block = CSVBlock(bytes: storage.buffer.bytes, owner: storage)
    }

    /// A file begins: line numbers begin at 1 again, what was left of the one before is forgotten.
    ///
    /// - Parameters:
    ///   - dialect: of the file; nil: as before.
    ///   - chunkSizeBytes: as of `init`; nil: as before.
    package func begin(dialect: CSVDialect? = nil, chunkSizeBytes: Int? = nil) {
        self.chunkSizeBytes = chunkSizeBytes ?? self.chunkSizeBytes
        scanner = CSVScanner(
            dialect: dialect ?? scanner.dialect, rowSizeBytesMax: rowSizeBytesMax)
        storage.buffer.removeAll()
        readEnd = 0
        rowsEnd = 0
        isFileStart = true
        isEnd = false
        failure = nil
    }

    /// Reads on until there is at least one row; nil at the end of the file.
    ///
    /// The bytes of the block before are overwritten.
    ///
    /// - Throws: as `InputFile.read`; what was read before that is in earlier blocks, except for
    ///   the row in which the file broke off.
    package func nextBlock(of file: InputFile) throws(DatabaseError) -> CSVBlock? {
        takeBackArrays()
        storage.buffer.truncate(to: readEnd)
        while scanner.rows.isEmpty && !(isEnd && rowsEnd >= readEnd) {
            storage.buffer.removeFirst(rowsEnd)
            readEnd -= rowsEnd
            rowsEnd = 0
            // As much again as there is: a long row is not looked at too often.
            if !scanner.hasMore { try fill(Swift.max(chunkSizeBytes, readEnd), from: file) }
            guard !isFileStart || skipByteOrderMark() else { continue }
            rowsEnd = scanner.scan(storage.buffer.bytes, from: rowsEnd, isEnd: isEnd)
        }
        guard !scanner.rows.isEmpty else { return nil }
        return makeBlock()
    }

    /// Reads at least `size` bytes, unless the file ends or breaks off.
    private func fill(_ size: Int, from file: InputFile) throws(DatabaseError) {
        if let failure { throw failure }
        let start = readEnd
        let wanted = readEnd + size
        while !isEnd && readEnd < wanted {
            let room = wanted - readEnd
            do throws(DatabaseError) {
                unsafe try storage.buffer.append(upTo: room) {
                    (target) throws(DatabaseError) -> Int in
                    unsafe try file.read(into: target)
                }
            } catch {
                guard readEnd > start else { throw error }
                failure = error
                return
            }
            isEnd = storage.buffer.count == readEnd
            readEnd = storage.buffer.count
        }
    }

    /// False when it cannot be seen yet whether the file begins with one.
    private func skipByteOrderMark() -> Bool {
        guard readEnd >= 3 || isEnd else { return false }
        isFileStart = false
        if storage.buffer.bytes.starts(with: "\u{FEFF}", at: 0, end: readEnd) { rowsEnd = 3 }
        return true
    }

    /// The arrays of the last block become those of the next one, so that nothing is allocated
    /// unless somebody still holds them.
    private func takeBackArrays() {
        swap(&scanner.rows, &block.rows)
        swap(&scanner.cells, &block.cells)
        swap(&scanner.faults, &block.faults)
        scanner.removeRows()
        block.unescaped.removeAll(keepingCapacity: true)
    }

    private func makeBlock() -> CSVBlock {
        swap(&scanner.rows, &block.rows)
        swap(&scanner.cells, &block.cells)
        swap(&scanner.faults, &block.faults)
        for cell in scanner.escaped { unescape(cell) }
        block.bytes = storage.buffer.bytes
        return block
    }

    /// Writes the content of a cell with doubled quotes made single behind all other bytes.
    private func unescape(_ index: Int) {
        let cell = block.cells[index]
        let start = storage.buffer.count
        storage.buffer.appendUnescaped(cell.range)
        block.unescaped.append((index, Int(cell.first)))
        block.cells[index] = CSVCell(
            first: Int32(truncatingIfNeeded: start),
            last: Int32(truncatingIfNeeded: storage.buffer.count), isQuoted: true)
    }
}

extension PaddedBuffer {
    /// Appends bytes of its own, of two quotes in a row only the first.
    mutating func appendUnescaped(_ range: Range<Int>) {
        var index = range.lowerBound
        while index < range.upperBound {
            let end = bytes.firstIndex(of: quote, in: index..<range.upperBound)
            let pieceEnd = end.map { $0 + 1 } ?? range.upperBound
            append(from: index..<pieceEnd)
            index = end == nil ? pieceEnd : pieceEnd + 1
        }
    }
}
