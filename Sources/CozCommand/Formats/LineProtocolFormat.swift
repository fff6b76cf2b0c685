// `--format lp`: line protocol that `cozdb import` and InfluxDB can read.

internal import CozDB
internal import CozStudy

final class LineProtocolFormat: ResultWriter {
    private let output: OutputWriter
    private var header = ResultHeader()
    /// Tags of the series, which take precedence over columns of the same name. Those without a
    /// value are left out: of thousands, most.
    private var tags: [(name: String, value: String)] = []
    private var tagNames: Set<[UInt8]> = []
    private var line: [UInt8] = []
    private var fields: [UInt8] = []
    /// What line protocol cannot represent and is left out.
    private(set) var losses = FormatLosses()

    init(_ output: OutputWriter) {
        self.output = output
    }

    func beginStatement(_ index: Int) {}

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        tags = header.tags.filter { !$0.value.isEmpty }
        tagNames = Set(tags.map { Array($0.name.utf8) })
    }

    func row(_ cells: [ResultCell]) { row(cells.enumerated().map { ($0, $1) }) }

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        let filled = batch.columns.indices.filter { batch.columns[$0].hasValues }
        var cells: [(column: Int, cell: ResultCell)] = []
        for row in 0..<batch.count {
            cells.removeAll(keepingCapacity: true)
            for column in filled where !batch.columns[column].isNull(row) {
                cells.append((column, batch.columns[column].cell(row, isTime: isTime[column])))
            }
            self.row(cells)
        }
    }

    /// Writes a row as a point. Skips rows without a value or a time, which are no points.
    ///
    /// - Parameter cells: by column, without columns that have no value: of thousands, most.
    private func row(_ cells: [(column: Int, cell: ResultCell)]) {
        var tags = tags
        var time: Int64?
        fields.removeAll(keepingCapacity: true)
        for (index, cell) in cells {
            switch cell {
            case .null: continue
            case .time(let nanoseconds): time = nanoseconds
            case .value(let value):
                let column = header.columns[index]
                let name = column.source ?? column.title
                if case .string(let text) = value, column.kind == .tag {
                    if !tagNames.contains(Array(name.utf8)) { tags.append((name, text)) }
                } else {
                    append(name, value)
                }
            }
        }
        guard let time, !fields.isEmpty else { return }
        guard LineText.canRepresent(experiment: header.name) else {
            losses.lose(points: 1, LineProtocolText.loss(experiment: header.name))
            return
        }
        line.removeAll(keepingCapacity: true)
        LineProtocolText.append(experiment: header.name, to: &line)
        tags.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        // A statement may have a tag in two columns.
        var last: String?
        for tag in tags where !tag.value.isEmpty {
            if let last, last.utf8.elementsEqual(tag.name.utf8) { continue }
            last = tag.name
            guard LineProtocolText.canRepresent(key: tag.name),
                LineText.canRepresent(tag.value)
            else {
                losses.lose(points: 1, LineProtocolText.loss(tag: tag.name, tag.value))
                return
            }
            line.append(UInt8(ascii: ","))
            LineProtocolText.append(key: tag.name, to: &line)
            line.append(UInt8(ascii: "="))
            LineProtocolText.append(key: tag.value, to: &line)
        }
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: fields)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: String(time).utf8)
        line.append(UInt8(ascii: "\n"))
        output.append(line)
    }

    private func append(_ name: String, _ value: FieldValue) {
        guard LineProtocolText.canRepresent(key: name) else {
            losses.lose(LineProtocolText.loss(field: name))
            return
        }
        let end = fields.count
        if end > 0 {
            fields.append(UInt8(ascii: ","))
        } else if LineText.isReadAsWhitespace(name) {
            fields.append(contentsOf: LineText.ignoredField.utf8)
        }
        LineProtocolText.append(key: name, to: &fields)
        fields.append(UInt8(ascii: "="))
        if !LineProtocolText.append(value, to: &fields) {
            losses.lose(LineProtocolText.loss(number: value))
            fields.removeLast(fields.count - end)
        }
    }

    func endSeries() {}
    func endStatement(error: String?) {}
    func end() {}
}
