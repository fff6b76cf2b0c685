// `cozdb export --format lp`: line protocol that CozDB and InfluxDB read again
// (docs/line-protocol.md).

internal import CozDB

final class LineProtocolExport: ExportFormat {
    private(set) var losses = ExportLosses()
    private var buffer: ExportBuffer
    private var table = ExportTable(experiment: "", tags: [], fields: [])
    private var prefix: [UInt8] = []
    /// `,name=` of tags, `name=` of fields; nil where line protocol has no way to write the name.
    private var tagKeys: [[UInt8]?] = []
    private var fieldKeys: [[UInt8]?] = []
    private var isWritable = true

    init(_ output: OutputWriter) {
        buffer = ExportBuffer(output)
    }

    func begin(_ table: ExportTable) {
        self.table = table
        prefix = []
        LineProtocolText.append(experiment: table.experiment, to: &prefix)
        isWritable = LineProtocolExport.canSay(experiment: table.experiment)
        tagKeys = table.tags.map { LineProtocolExport.key($0, after: ",") }
        fieldKeys = table.fields.map { field in
            // Blanks before a field are passed over, and readers take this byte for one.
            field.name.utf8.first == 0 ? nil : LineProtocolExport.key(field.name, after: "")
        }
    }

    private static func key(_ name: String, after separator: String) -> [UInt8]? {
        guard canSay(name.utf8), name != "time" else { return nil }
        var bytes = Array(separator.utf8)
        LineProtocolText.append(key: name, to: &bytes)
        bytes.append(UInt8(ascii: "="))
        return bytes
    }

    /// A line break ends the line, and a backslash at the end would take the meaning from the
    /// byte behind it.
    private static func canSay(_ name: some Collection<UInt8>) -> Bool {
        var last: UInt8 = 0
        for byte in name {
            if byte == UInt8(ascii: "\n") { return false }
            last = byte
        }
        return last != UInt8(ascii: "\\")
    }

    /// A line must not begin as a comment does, or with what is passed over there.
    private static func canSay(experiment name: String) -> Bool {
        let skipped: [UInt8?] = [UInt8(ascii: "#"), UInt8(ascii: "\t"), 0]
        return canSay(name.utf8) && !skipped.contains(name.utf8.first)
            && !name.utf8.starts(with: "\u{FEFF}".utf8)
    }

    func rows(_ batch: ResultBatch) {
        guard isWritable else {
            losses.lose(
                points: batch.count, "the experiment name \(table.experiment.debugDescription)")
            return
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

    /// False where the row would become another one.
    private func appendTags(_ batch: ResultBatch, _ row: Int, _ bytes: inout [UInt8]) -> Bool {
        for index in table.tags.indices where !batch.columns[index + 1].isNull(row) {
            let value = batch.columns[index + 1].text(row)
            if value.isEmpty { continue }
            guard let key = tagKeys[index], LineProtocolExport.canSay(value.utf8) else {
                losses.lose(
                    points: 1,
                    "the tag \(table.tags[index].debugDescription) with value "
                        + value.debugDescription)
                return false
            }
            bytes.append(contentsOf: key)
            LineProtocolText.append(key: value, to: &bytes)
        }
        return true
    }

    /// False where no field is left.
    private func appendFields(_ batch: ResultBatch, _ row: Int, _ bytes: inout [UInt8]) -> Bool {
        var separator = UInt8(ascii: " ")
        for index in table.fields.indices {
            let vector = batch.columns[index + 1 + table.tags.count]
            if vector.isNull(row) { continue }
            guard let key = fieldKeys[index] else {
                losses.lose("the field name \(table.fields[index].name.debugDescription)")
                continue
            }
            if vector.isUnspeakable(row) {
                losses.lose(
                    "\(Double(bitPattern: vector.bits(row))), which line protocol has no number for"
                )
                continue
            }
            bytes.append(separator)
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
