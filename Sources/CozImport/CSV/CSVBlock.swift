// The output of the CSV tokenizer: rows and cells as byte ranges, without copies.

package import CozDB

/// The delimiter and the quoting rule of a CSV file.
package struct CSVDialect: Hashable, Sendable {
    /// The byte between two cells; not a quote and not part of a line break.
    package var delimiter: UInt8
    /// Whether a cell that begins with `"` is quoted (RFC 4180). If not, a quote is an ordinary
    /// byte, and every newline ends a row.
    package var hasQuotes: Bool

    package init(delimiter: UInt8 = UInt8(ascii: ","), hasQuotes: Bool = true) {
        precondition(
            delimiter != quote && delimiter != newline && delimiter != carriageReturn,
            "a quote or a line break cannot separate cells")
        self.delimiter = delimiter
        self.hasQuotes = hasQuotes
    }
}

/// One cell: the range of its content in `CSVBlock.bytes`, without the enclosing quotes and with
/// doubled quotes reduced to one.
package struct CSVCell {
    @usableFromInline let first: Int32
    @usableFromInline let last: Int32
    /// Whether the cell was quoted: `""` is an empty string, an empty unquoted cell is no value.
    package let isQuoted: Bool

    /// The range of its content in `CSVBlock.bytes`.
    @inlinable package var range: Range<Int> { Int(first)..<Int(last) }
    /// Whether the content is empty; see `isQuoted`.
    @inlinable package var isEmpty: Bool { first == last }
}

package struct CSVRow {
    /// Indices in `CSVBlock.cells`: at least one cell; none if the row has a fault.
    package let cells: Range<Int>
    /// The raw text of the row in `CSVBlock.bytes`, without the final line break.
    package let text: Range<Int>
    /// The line where the row begins, from 1.
    package let line: Int
    /// Index in `CSVBlock.faults`; -1 if none.
    let faultIndex: Int
}

/// Why a row cannot be split into cells.
package struct CSVFault: Hashable, Sendable {
    /// The byte in the row's first line that is to blame, from 1; 0 if there is none.
    package let column: Int
    /// What was found and what was expected.
    package let reason: String
}

/// The rows of one chunk of a file. `bytes` is valid until the tokenizer reads the next block.
package struct CSVBlock {
    package internal(set) var bytes: PaddedBytes
    package internal(set) var rows: [CSVRow] = []
    /// The cells of all rows. Cells past the last row are unused.
    package internal(set) var cells: [CSVCell] = []
    var faults: [CSVFault] = []
    /// Cells whose doubled quotes were reduced, in order, with the original start of each. Their
    /// content is stored after the rows.
    var unescaped: [(cell: Int, place: Int)] = []
    /// Keeps the bytes alive while a block is held.
    let owner: CSVStorage

    package func fault(of row: CSVRow) -> CSVFault? {
        row.faultIndex < 0 ? nil : faults[row.faultIndex]
    }

    /// Whether a row is empty or contains only blanks.
    package func isBlank(_ row: CSVRow) -> Bool {
        row.cells.count == 1 && !cells[row.cells.lowerBound].isQuoted
            && row.text.allSatisfy { bytes[$0] == space || bytes[$0] == tab }
    }

    /// Whether a row has as many cells as the header. Empty cells at its end are ignored.
    func fits(_ row: CSVRow, columnCount: Int) -> Bool {
        row.cells.count == columnCount
            || row.cells.count > columnCount
                && cells[row.cells].dropFirst(columnCount).allSatisfy(\.isEmpty)
    }

    /// Whether an unquoted cell contains a carriage return that no newline follows. In a header
    /// this indicates CR line endings (Mac OS 9 and earlier), which make the whole file look like
    /// one line.
    package func hasBareCarriageReturn(_ row: CSVRow) -> Bool {
        cells[row.cells].contains { cell in
            !cell.isQuoted && cell.range.contains { bytes[$0] == carriageReturn }
        }
    }

    /// The error message for such a header.
    package static let bareCarriageReturnMessage =
        "found a carriage return without a newline, expected lines that end with LF or CRLF; "
        + "convert the file with \"tr '\\r' '\\n' < FILE\""

    /// Returns the column of a cell for error messages: a byte position from 1, counted from the
    /// start of the row, also across line breaks in quoted cells.
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

    /// Refuses a row.
    ///
    /// - Parameters:
    ///   - column: byte position in the line, from 1; 0 if no byte is to blame.
    ///   - participant: whose row it is, if that is known.
    package func refuse(
        _ row: CSVRow, into batch: inout WriteBatch, column: Int = 0, reason: String,
        participant: String? = nil
    ) {
        var refusal = Refusal(
            subject: .line(bytes.copy(row.text.prefix(Refusal.lineSizeBytesMax))),
            reason: reason, source: batch.source, line: row.line, column: column)
        refusal.participant = participant
        batch.refuse(refusal)
    }
}

final class CSVStorage {
    var buffer = PaddedBuffer(capacity: 1 << 16)
}
