// `--format lp`: line protocol that `cozdb import` and InfluxDB read again.

internal import CozDB
internal import CozStudy

/// Names and values as line protocol writes them.
enum LineProtocolText {
    /// An experiment: comma and blank are escaped.
    static func append(experiment: String, to bytes: inout [UInt8]) {
        append(experiment, escaping: [UInt8(ascii: ","), UInt8(ascii: " ")], to: &bytes)
    }

    /// A tag name, tag value or field name: `=` as well.
    static func append(key: String, to bytes: inout [UInt8]) {
        append(
            key, escaping: [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "=")], to: &bytes)
    }

    private static func append(_ text: String, escaping: [UInt8], to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if escaping.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }

    /// False where line protocol cannot say the value (NaN and the infinities).
    static func append(_ value: FieldValue, to bytes: inout [UInt8]) -> Bool {
        switch value {
        case .float(let number):
            guard number.isFinite else { return false }
            bytes.append(contentsOf: NumberText.text(number).utf8)
        case .integer(let number): bytes.append(contentsOf: "\(number)i".utf8)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .string(let text):
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    bytes.append(UInt8(ascii: "\\"))
                }
                bytes.append(byte)
            }
            bytes.append(UInt8(ascii: "\""))
        }
        return true
    }
}

final class LineProtocolFormat: ResultFormat {
    private let output: OutputWriter
    private var header = ResultHeader()
    private var line: [UInt8] = []
    private var fields: [UInt8] = []

    init(_ output: OutputWriter) {
        self.output = output
    }

    func beginStatement(_ index: Int) {}

    func beginSeries(_ header: ResultHeader) {
        self.header = header
    }

    /// A row without a value or without a time is no point, and writes nothing.
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
        line.removeAll(keepingCapacity: true)
        LineProtocolText.append(experiment: header.name, to: &line)
        tags.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for tag in tags where !tag.value.isEmpty {
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
        let end = fields.count
        if end > 0 { fields.append(UInt8(ascii: ",")) }
        LineProtocolText.append(key: name, to: &fields)
        fields.append(UInt8(ascii: "="))
        if !LineProtocolText.append(value, to: &fields) { fields.removeLast(fields.count - end) }
    }

    func endSeries() {}
    func endStatement(error: String?) {}
    func end() {}
}
