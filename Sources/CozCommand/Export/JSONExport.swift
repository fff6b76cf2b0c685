// `cozdb export --format ndjson`: one object per line. The position of a value tells whether it is
// a tag, an integer or another field (docs/import-formats.md).

internal import CozDB

final class JSONExport: ExportFormat {
    private(set) var losses = FormatLosses()
    private var buffer: ExportBuffer
    private let time = TimeText(style: .full)
    private var table = ExportTable(experiment: "", tags: [], fields: [])
    /// The start of each line, and the names followed by colons.
    private var prefix: [UInt8] = []
    private var tagKeys: [[UInt8]] = []
    private var fieldKeys: [[UInt8]] = []

    init(_ output: OutputWriter) {
        buffer = ExportBuffer(output)
    }

    func begin(_ table: ExportTable) {
        self.table = table
        prefix = Array("{\"measurement\":".utf8)
        JSONText.append(table.experiment, to: &prefix)
        prefix.append(contentsOf: ",\"tags\":{".utf8)
        tagKeys = table.tags.map(JSONExport.key)
        fieldKeys = table.fields.map { JSONExport.key($0.name) }
    }

    private static func key(_ name: String) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        return bytes
    }

    func rows(_ batch: ResultBatch) {
        var buffer = buffer
        // If there are very many columns, a batch has values in few of them.
        let present = table.fields.indices.filter {
            batch.columns[$0 + 1 + table.tags.count].type != nil
        }
        let integers = present.filter { table.fields[$0].type == .integer }
        let others = present.filter { table.fields[$0].type != .integer }
        for row in 0..<batch.count {
            buffer.bytes.append(contentsOf: prefix)
            var isFirst = true
            for index in table.tags.indices {
                append(tagKeys[index], batch.columns[index + 1], row, &isFirst, &buffer.bytes)
            }
            buffer.bytes.append(contentsOf: "},\"time\":\"".utf8)
            time.append(Int64(bitPattern: batch.columns[0].bits(row)), to: &buffer.bytes)
            buffer.bytes.append(contentsOf: "\",\"fields\":{".utf8)
            isFirst = true
            append(others, batch, row, &isFirst, &buffer.bytes)
            let end = buffer.bytes.count
            buffer.bytes.append(contentsOf: "},\"fields_int\":{".utf8)
            isFirst = true
            append(integers, batch, row, &isFirst, &buffer.bytes)
            if isFirst { buffer.bytes.removeLast(buffer.bytes.count - end) }
            buffer.bytes.append(contentsOf: "}}\n".utf8)
            buffer.endRow()
        }
        buffer.flush()
        self.buffer = buffer
    }

    private func append(
        _ fields: [Int], _ batch: ResultBatch, _ row: Int, _ isFirst: inout Bool,
        _ bytes: inout [UInt8]
    ) {
        for index in fields {
            let vector = batch.columns[index + 1 + table.tags.count]
            append(fieldKeys[index], vector, row, &isFirst, &bytes)
        }
    }

    private func append(
        _ key: [UInt8], _ vector: ResultVector, _ row: Int, _ isFirst: inout Bool,
        _ bytes: inout [UInt8]
    ) {
        if vector.isNull(row) { return }
        if vector.isNonFinite(row) {
            losses.lose(
                "\(Double(bitPattern: vector.bits(row))), which JSON cannot represent as a number")
            return
        }
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(contentsOf: key)
        switch vector.type {
        case .string: JSONText.append(vector.text(row), to: &bytes)
        case .float: NumberText.append(float: Double(bitPattern: vector.bits(row)), to: &bytes)
        case .integer: NumberText.append(Int64(bitPattern: vector.bits(row)), to: &bytes)
        case .boolean: bytes.append(contentsOf: (vector.bits(row) != 0 ? "true" : "false").utf8)
        case nil: break
        }
    }
}
