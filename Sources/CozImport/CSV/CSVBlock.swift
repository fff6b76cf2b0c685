// What the tokenizer hands out: rows and cells as ranges of bytes, nothing copied.

package import CozDB

/// What separates cells, and whether quotes mean anything.
package struct CSVDialect: Hashable, Sendable {
    /// The byte between two cells; neither a quote nor part of a line break.
    package var delimiter: UInt8
    /// Whether a cell that begins with `"` is quoted (RFC 4180). Without it a quote is a byte as
    /// any other, and every newline ends a row.
    package var hasQuotes: Bool

    package init(delimiter: UInt8 = UInt8(ascii: ","), hasQuotes: Bool = true) {
        precondition(
            delimiter != quote && delimiter != newline && delimiter != carriageReturn,
            "a quote or a line break cannot separate cells")
        self.delimiter = delimiter
        self.hasQuotes = hasQuotes
    }
}

/// One cell: where its content stands in `CSVBlock.bytes`, without quotes around it and with
/// doubled quotes made single.
package struct CSVCell {
    @usableFromInline let first: Int32
    @usableFromInline let last: Int32
    /// Whether it stood in quotes: `""` is an empty string where nothing is no value.
    package let isQuoted: Bool

    /// The place of its content.
    @inlinable package var range: Range<Int> { Int(first)..<Int(last) }
    /// Whether it has no content; `isQuoted` tells the empty string from nothing.
    @inlinable package var isEmpty: Bool { first == last }
}

/// One row.
package struct CSVRow {
    /// Its cells in `CSVBlock.cells`, at least one; none where the row has a fault.
    package let cells: Range<Int>
    /// Its text in `CSVBlock.bytes` as it came, without the line break that ends it.
    package let text: Range<Int>
    /// The line it begins in, from 1.
    package let line: Int
    /// Index in `CSVBlock.faults`; -1: none.
    let faultIndex: Int
}

/// Why a row cannot be split into cells.
package struct CSVFault: Hashable, Sendable {
    /// Byte in the line where the row begins, from 1.
    package let column: Int
    /// What was found and what was expected.
    package let reason: String
}

/// The rows of a piece of a file. `bytes` is valid until the tokenizer reads on.
package struct CSVBlock {
    package internal(set) var bytes: PaddedBytes
    /// In the order of the file.
    package internal(set) var rows: [CSVRow] = []
    /// Cells of all rows, and behind them some that mean nothing.
    package internal(set) var cells: [CSVCell] = []
    var faults: [CSVFault] = []
    /// Cells whose doubled quotes were made single, in order: their content stands behind the
    /// rows.
    var unescaped: [(cell: Int, place: Int)] = []
    /// Keeps the bytes where they are while a block is held.
    let owner: CSVStorage

    /// What is wrong with a row; nil: nothing.
    package func fault(of row: CSVRow) -> CSVFault? {
        row.faultIndex < 0 ? nil : faults[row.faultIndex]
    }

    /// Whether a row has nothing: no character, or blanks only.
    package func isBlank(_ row: CSVRow) -> Bool {
        row.cells.count == 1 && !cells[row.cells.lowerBound].isQuoted
            && row.text.allSatisfy { bytes[$0] == space || bytes[$0] == tab }
    }

    /// Whether a carriage return without a newline stands outside of quotes: in a header a sign of
    /// lines that end so, as on the Mac before 2001, all of which look like one.
    package func hasLoneReturn(_ row: CSVRow) -> Bool {
        cells[row.cells].contains { cell in
            !cell.isQuoted && cell.range.contains { bytes[$0] == carriageReturn }
        }
    }

    /// What to say of it.
    package static let loneReturn =
        "found a carriage return without a newline, expected lines that end with LF or CRLF; "
        + "\"tr '\\r' '\\n' < FILE\" makes lines of carriage returns alone"

    /// The column of a cell for error messages: byte in the line where the row begins, from 1.
    /// Behind a line break inside a quoted cell it goes on counting.
    package func column(of cell: Int, in row: CSVRow) -> Int {
        var (first, end) = (0, unescaped.count)
        while first < end {
            let middle = (first + end) / 2
            if unescaped[middle].cell < cell { first = middle + 1 } else { end = middle }
        }
        let isMoved = first < unescaped.count && unescaped[first].cell == cell
        let place = isMoved ? unescaped[first].place : Int(cells[cell].first)
        return place - row.text.lowerBound + 1
    }

    /// Keeps a row as a reject.
    ///
    /// - Parameter column: byte in the line, from 1; 0 where none is to blame.
    package func refuse(
        _ row: CSVRow, into batch: inout WriteBatch, column: Int = 0, reason: String
    ) {
        batch.refuse(
            Refusal(
                subject: .line(bytes.copy(row.text.prefix(Refusal.lineSizeBytesMax))),
                reason: reason, source: batch.source, line: row.line, column: column))
    }
}

/// The bytes of a tokenizer.
final class CSVStorage {
    var buffer = PaddedBuffer(capacity: 1 << 16)
}
