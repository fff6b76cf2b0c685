// `--format lp`: line protocol that `cozdb import` and InfluxDB can read.

internal import CozDB
internal import CozStudy

final class LineProtocolFormat: ResultWriter {
    private let output: OutputWriter
    private var header = ResultHeader()
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
    }

    /// Writes a row as a point. Skips rows without a value or a time, which are no points.
    func row(_ cells: [ResultCell]) {
        var tags = header.tags
        var time: Int64?
        fields.removeAll(keepingCapacity: true)
        for (column, cell) in zip(header.columns, cells) {
            let name = column.source ?? column.title
            switch (cell, column.kind) {
            case (.time(let nanoseconds), _): time = nanoseconds
            case (.null, _): break
            case (.value(.string(let text)), .tag):
                let isKnown = tags.contains { $0.name.utf8.elementsEqual(name.utf8) }
                if !isKnown { tags.append((name, text)) }
            case (.value(let value), _): append(name, value)
            }
        }
        guard let time, !fields.isEmpty else { return }
        guard LineProtocolText.canRepresent(experiment: header.name) else {
            losses.lose(points: 1, LineProtocolText.loss(experiment: header.name))
            return
        }
        line.removeAll(keepingCapacity: true)
        LineProtocolText.append(experiment: header.name, to: &line)
        tags.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for tag in tags where !tag.value.isEmpty {
            guard LineProtocolText.canRepresent(key: tag.name),
                LineProtocolText.canRepresent(value: tag.value)
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
