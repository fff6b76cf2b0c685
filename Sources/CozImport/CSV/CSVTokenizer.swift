// Splits CSV files of any size into rows and cells, chunk by chunk. The caller interprets the
// cells.

package import CozDB

/// Reads files of comma-separated values (RFC 4180) chunk by chunk.
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
/// - A row ends at an unquoted LF or CRLF; the last row may also end with the file. A byte order
///   mark at the beginning is dropped.
/// - A cell that begins with a quote ends with a quote. Inside, a quote is doubled, and newlines
///   are content. Elsewhere quotes are ordinary bytes, and so are blanks.
/// - An empty line is a row with one empty cell (`CSVBlock.isBlank`).
/// - A row that breaks these rules, is too long or has too many cells gets a fault instead of
///   cells. It ends at the first newline, and reading resumes after it: a missing quote costs one
///   line.
///
/// No memory is allocated per row or cell. Not safe for use by several threads at once.
package final class CSVTokenizer {
    /// The default limit of a row, the same as for a line of line protocol.
    package static let rowSizeBytesMax = 32 << 20

    private var chunkSizeBytes: Int
    private let rowSizeBytesMax: Int
    private var scanner: CSVScanner
    private let storage = CSVStorage()
    private var block: CSVBlock
    /// End of the bytes read, and end of those returned as rows. The contents of cells with doubled
    /// quotes follow `readEnd` in the buffer.
    private var readEnd = 0
    private var rowsEnd = 0
    private var isFileStart = true
    private var isEnd = false
    /// Why reading failed; thrown once the rows that were read before it are handed out.
    private var failure: DatabaseError?

    /// - Parameters:
    ///   - chunkSizeBytes: bytes per read, 1 byte to 256 MiB; small chunks stay in the processor's
    ///     cache.
    ///   - rowSizeBytesMax: the longest row, including line breaks in quotes; 1 byte to 256 MiB.
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

    /// Begins a file: line numbers restart at 1, the previous file is forgotten.
    ///
    /// - Parameters:
    ///   - dialect: the dialect of the file; nil: unchanged.
    ///   - chunkSizeBytes: as in `init`; nil: unchanged.
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

    /// Returns the next block, with at least one row; nil at the end of the file.
    ///
    /// Overwrites the bytes of the previous block.
    ///
    /// - Throws: as `InputFile.read`. Rows read since the previous block are lost then.
    package func nextBlock(of file: InputFile) throws(DatabaseError) -> CSVBlock? {
        recycleArrays()
        storage.buffer.truncate(to: readEnd)
        while scanner.rows.isEmpty && !(isEnd && rowsEnd >= readEnd) {
            storage.buffer.removeFirst(rowsEnd)
            scanner.movePlaces(by: rowsEnd)
            readEnd -= rowsEnd
            rowsEnd = 0
            // Reads as many bytes as it has: doubling limits how often a long row is scanned.
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

    /// False if more input is needed to tell whether the file begins with a byte order mark.
    private func skipByteOrderMark() -> Bool {
        guard readEnd >= 3 || isEnd else { return false }
        isFileStart = false
        if storage.buffer.bytes.starts(with: "\u{FEFF}", at: 0, end: readEnd) { rowsEnd = 3 }
        return true
    }

    /// Reuses the arrays of the previous block. They are copied only if the caller still holds it.
    private func recycleArrays() {
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

    /// Writes the content of a cell, with doubled quotes reduced to one, after all other bytes.
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
    /// Appends a range of its own bytes, with doubled quotes reduced to one.
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
