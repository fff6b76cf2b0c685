// `--format table`: aligned columns for people. Control characters are escaped and long cells cut.

internal import CozDB

final class TableFormat: ResultFormat {
    /// Rows that are held back to find the widths of the columns.
    private static let chunkRows = 512

    private let output: OutputWriter
    private let time: TimeText
    private var table = TextTable([])
    private var header = ResultHeader()
    private var isFirst = true

    init(_ output: OutputWriter, _ time: TimeText) {
        self.output = output
        self.time = time
    }

    func beginStatement(_ index: Int) {}

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        if !isFirst { output.append("\n") }
        isFirst = false
        if !header.name.isEmpty { output.append("name: \(PlainText.escaped(header.name))\n") }
        if !header.tags.isEmpty {
            let tags = header.tags.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
            output.append("tags: \(PlainText.escaped(tags))\n")
        }
        table = TextTable(
            header.columns.map { column in
                var isRight = false
                if case .field(let type?) = column.kind { isRight = type.isNumber }
                return TextTable.Column(column.title, right: isRight)
            })
    }

    func row(_ cells: [ResultCell]) {
        table.append(
            cells.map { cell in
                switch cell {
                case .null: ""
                case .time(let nanoseconds):
                    time.text(nanoseconds, offset: header.zoneOffset?(nanoseconds) ?? 0)
                case .value(.string(let text)): text
                case .value(.integer(let number)): String(number)
                case .value(.float(let number)): NumberText.text(number)
                case .value(.boolean(let flag)): flag ? "true" : "false"
                }
            })
        if table.rowCount >= TableFormat.chunkRows { output.append(table.takeText()) }
    }

    func endSeries() {
        output.append(table.takeText())
    }

    func endStatement(error: String?) {}

    func end() {
        if isFirst { output.append("(no rows)\n") }
    }
}

extension FieldType {
    fileprivate var isNumber: Bool { self == .float || self == .integer }
}
