// `cozdb export --format lp`: line protocol that CozDB and InfluxDB can import
// (docs/line-protocol.md).

internal import CozDB

final class LineProtocolExport: ExportFormat {
    private(set) var losses = FormatLosses()
    private var buffer: ExportBuffer
    private var table = ExportTable(experiment: "", tags: [], fields: [])
    private var prefix: [UInt8] = []
    /// `,name=` of tags and `name=` of fields; nil if line protocol cannot represent the name.
    private var tagKeys: [[UInt8]?] = []
    private var fieldKeys: [[UInt8]?] = []
    private var isWritable = true
    /// Indices of the fields that have values in the batch.
    private var present: [Int] = []

    init(_ output: OutputWriter) {
        buffer = ExportBuffer(output)
    }

    func begin(_ table: ExportTable) {
        self.table = table
        prefix = []
        LineProtocolText.append(experiment: table.experiment, to: &prefix)
        isWritable = LineText.canRepresent(experiment: table.experiment)
        tagKeys = table.tags.map { LineProtocolExport.key($0, after: ",") }
        fieldKeys = table.fields.map { LineProtocolExport.key($0.name, after: "") }
    }

    private static func key(_ name: String, after separator: String) -> [UInt8]? {
        guard LineProtocolText.canRepresent(key: name) else { return nil }
        var bytes = Array(separator.utf8)
        LineProtocolText.append(key: name, to: &bytes)
        bytes.append(UInt8(ascii: "="))
        return bytes
    }

    func rows(_ batch: ResultBatch) {
        guard isWritable else {
            losses.lose(
                points: batch.count, LineProtocolText.loss(experiment: table.experiment))
            return
        }
        // If there are very many columns, a batch has values in few of them.
        present = table.fields.indices.filter {
            batch.columns[$0 + 1 + table.tags.count].type != nil
        }
        var buffer = buffer
        for row in 0..<batch.count {
            let start = buffer.bytes.count
            buffer.bytes.append(contentsOf: prefix)
            if appendTags(batch, row, &buffer.bytes), appendFields(batch, row, &buffer.bytes) {
                buffer.bytes.append(UInt8(ascii: " "))
                NumberText.append(
                    Int64(bitPattern: batch.columns[0].bits(row)), to: &buffer.bytes)
                buffer.bytes.append(UInt8(ascii: "\n"))
                buffer.endRow()
            } else {
                buffer.bytes.removeLast(buffer.bytes.count - start)
            }
        }
        buffer.flush()
        self.buffer = buffer
    }

    /// Returns false if line protocol cannot represent a tag: without it the row would be another
    /// row.
    private func appendTags(_ batch: ResultBatch, _ row: Int, _ bytes: inout [UInt8]) -> Bool {
        for index in table.tags.indices where !batch.columns[index + 1].isNull(row) {
            let value = batch.columns[index + 1].text(row)
            if value.isEmpty { continue }
            guard let key = tagKeys[index], LineText.canRepresent(value) else {
                losses.lose(points: 1, LineProtocolText.loss(tag: table.tags[index], value))
                return false
            }
            bytes.append(contentsOf: key)
            LineProtocolText.append(key: value, to: &bytes)
        }
        return true
    }

    /// Returns false if no field is left.
    private func appendFields(_ batch: ResultBatch, _ row: Int, _ bytes: inout [UInt8]) -> Bool {
        var separator = UInt8(ascii: " ")
        for index in present {
            let vector = batch.columns[index + 1 + table.tags.count]
            if vector.isNull(row) { continue }
            guard let key = fieldKeys[index] else {
                losses.lose(LineProtocolText.loss(field: table.fields[index].name))
                continue
            }
            if vector.isNonFinite(row) {
                let number = Double(bitPattern: vector.bits(row))
                losses.lose(LineProtocolText.loss(number: .float(number)))
                continue
            }
            bytes.append(separator)
            if separator == UInt8(ascii: " "),
                LineText.isReadAsWhitespace(table.fields[index].name)
            {
                bytes.append(contentsOf: LineText.ignoredField.utf8)
            }
            separator = UInt8(ascii: ",")
            bytes.append(contentsOf: key)
            append(vector, row, &bytes)
        }
        return separator == UInt8(ascii: ",")
    }

    private func append(_ vector: ResultVector, _ row: Int, _ bytes: inout [UInt8]) {
        switch vector.type {
        case .float: NumberText.append(Double(bitPattern: vector.bits(row)), to: &bytes)
        case .integer:
            NumberText.append(Int64(bitPattern: vector.bits(row)), to: &bytes)
            bytes.append(UInt8(ascii: "i"))
        case .boolean: bytes.append(contentsOf: (vector.bits(row) != 0 ? "true" : "false").utf8)
        case .string: _ = LineProtocolText.append(.string(vector.text(row)), to: &bytes)
        case nil: break
        }
    }
}
