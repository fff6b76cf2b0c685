// `--format table`: aligned columns for people. Control characters are escaped and long cells cut.
// Rows wider than the terminal are printed one field per line, without empty fields: most rows have
// a few of the two hundred fields of a study.

internal import CozDB

final class TableFormat: ResultWriter {
    /// How many rows, and about how many cells, to collect before the column widths are computed.
    private static let chunkRows = 512
    private static let chunkCells = 1 << 17

    private enum Layout {
        case table(TextTable)
        case records(TextRecords)
    }

    private let output: OutputWriter
    private let time: TimeText
    private let widthMax: Int?
    private var header = ResultHeader()
    /// Chosen when the first rows of a series are known.
    private var layout: Layout?
    private var rows: [[String?]] = []
    private var isFirst = true
    private var hasFailed = false

    /// - Parameter widthMax: Width of the terminal; nil if there is none.
    init(_ output: OutputWriter, _ time: TimeText, widthMax: Int? = nil) {
        self.output = output
        self.time = time
        self.widthMax = widthMax
    }

    func beginStatement(_ index: Int) {}

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        layout = nil
        if !isFirst { output.append("\n") }
        isFirst = false
        if !header.name.isEmpty { output.append("name: \(PlainText.escaped(header.name))\n") }
        if !header.tags.isEmpty {
            let tags = header.tags.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
            output.append("tags: \(PlainText.escaped(tags))\n")
        }
    }

    func row(_ cells: [ResultCell]) {
        rows.append(cells.map(text))
        let rowCountMax = min(TableFormat.chunkRows, TableFormat.chunkCells / max(1, cells.count))
        if rows.count >= rowCountMax { writeRows() }
    }

    private func text(_ cell: ResultCell) -> String? {
        switch cell {
        case .null: nil
        case .time(let nanoseconds):
            time.text(nanoseconds, offset: header.zoneOffset?(nanoseconds) ?? 0)
        case .value(.string(let text)): text
        case .value(.integer(let number)): String(number)
        case .value(.float(let number)): NumberText.text(number)
        case .value(.boolean(let flag)): flag ? "true" : "false"
        }
    }

    private func writeRows() {
        switch layout {
        case .table(var table):
            for row in rows { table.append(row.map { $0 ?? "" }) }
            output.append(table.takeText())
            layout = .table(table)
        case .records(var records):
            for row in rows { output.append(records.text(row)) }
            layout = .records(records)
        case nil:
            layout = choose()
            return writeRows()
        }
        rows.removeAll(keepingCapacity: true)
    }

    /// Chooses a table if it fits the terminal, and records otherwise.
    private func choose() -> Layout {
        // A single column, as of EXPLAIN, may use the full width.
        let isSingle = header.columns.count == 1
        let table = TextTable(
            header.columns.map { column in
                var isRight = false
                if case .field(let type?) = column.kind { isRight = type.isNumber }
                return TextTable.Column(column.title, right: isRight)
            }, cellWidthMax: isSingle ? .max : TextTable.cellWidthMax)
        guard let widthMax, !isSingle else { return .table(table) }
        var trial = table
        for row in rows { trial.append(row.map { $0 ?? "" }) }
        if trial.width <= widthMax { return .table(table) }
        return .records(TextRecords(header.columns.map(\.title)))
    }

    func endSeries() {
        writeRows()
        if case .records(let records) = layout, records.hasEmpty {
            output.append("(empty fields are not shown; use --format csv to see all columns)\n")
        }
    }

    func endStatement(error: String?) {
        hasFailed = error != nil
    }

    func end() {
        if isFirst, !hasFailed { output.append("(no rows)\n") }
    }
}
