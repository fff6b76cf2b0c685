// `cozdb export --format csv`: tables with a header line of types (docs/import-formats.md).

internal import CozDB
internal import CozStudy

final class CSVExport: ExportFormat {
    private(set) var losses = FormatLosses()
    private var buffer: ExportBuffer
    private let style: CSVStyle
    private let time = TimeText(style: .full)
    private var table = ExportTable(experiment: "", tags: [], fields: [])
    private var prefix: [UInt8] = []
    private var tables = 0
    private var hasHeader = false

    init(_ output: OutputWriter, _ style: CSVStyle) {
        buffer = ExportBuffer(output)
        self.style = style
    }

    func begin(_ table: ExportTable) {
        self.table = table
        hasHeader = false
        prefix = []
        if table.experiment.utf8.first == UInt8(ascii: "#") {
            // Quotes keep the name from being read as an annotation.
            CSVText.append(quoted: table.experiment.utf8, to: &prefix)
        } else {
            CSVFormat.append(table.experiment, style, to: &prefix)
        }
    }

    private func writeHeader() {
        hasHeader = true
        if tables > 0 { buffer.bytes.append(UInt8(ascii: "\n")) }
        tables += 1
        var types = ["#datatype measurement"]
        types += table.tags.map { _ in "tag" }
        types.append("dateTime:RFC3339")
        types += table.fields.map { CSVExport.datatype($0.type) }
        buffer.bytes.append(contentsOf: types.joined(separator: ",").utf8)
        buffer.bytes.append(UInt8(ascii: "\n"))
        let labels = ["measurement"] + table.tags + ["time"] + table.fields.map(\.name)
        for (index, label) in labels.enumerated() {
            if index > 0 { buffer.bytes.append(UInt8(ascii: ",")) }
            CSVFormat.append(label, style, to: &buffer.bytes)
        }
        buffer.bytes.append(UInt8(ascii: "\n"))
    }

    private static func datatype(_ type: FieldType) -> String {
        switch type {
        case .float: "double"
        case .integer: "long"
        case .boolean: "boolean"
        case .string: "string"
        }
    }

    func rows(_ batch: ResultBatch) {
        if !hasHeader { writeHeader() }
        var buffer = buffer
        for row in 0..<batch.count {
            buffer.bytes.append(contentsOf: prefix)
            for index in table.tags.indices {
                buffer.bytes.append(UInt8(ascii: ","))
                append(batch.columns[index + 1], row, to: &buffer.bytes)
            }
            buffer.bytes.append(UInt8(ascii: ","))
            time.append(Int64(bitPattern: batch.columns[0].bits(row)), to: &buffer.bytes)
            for index in table.fields.indices {
                buffer.bytes.append(UInt8(ascii: ","))
                append(batch.columns[index + 1 + table.tags.count], row, to: &buffer.bytes)
            }
            buffer.bytes.append(UInt8(ascii: "\n"))
            buffer.endRow()
        }
        buffer.flush()
        self.buffer = buffer
    }

    private func append(_ vector: ResultVector, _ row: Int, to bytes: inout [UInt8]) {
        if vector.isNull(row) { return }
        switch vector.type {
        case .string: vector.withText(row) { CSVText.append($0, style, to: &bytes) }
        case .integer: NumberText.append(Int64(bitPattern: vector.bits(row)), to: &bytes)
        case .boolean: bytes.append(contentsOf: (vector.bits(row) != 0 ? "true" : "false").utf8)
        case .float where vector.isNonFinite(row):
            losses.lose(
                "\(Double(bitPattern: vector.bits(row))), which CSV cannot represent as a number")
        case .float: NumberText.append(Double(bitPattern: vector.bits(row)), to: &bytes)
        case nil: break
        }
    }
}

/// Writes CSV cells from bytes that are not in a String.
enum CSVText {
    private static let quote = UInt8(ascii: "\"")

    /// Like `CSVFormat.append`, but also quotes text that starts or ends with a tab.
    static func append(_ text: Span<UInt8>, _ style: CSVStyle, to bytes: inout [UInt8]) {
        if style.marksFormulas, let marked = SpreadsheetFormula.marked(text) {
            append(marked.span, to: &bytes)
        } else {
            append(text, to: &bytes)
        }
    }

    private static func append(_ text: Span<UInt8>, to bytes: inout [UInt8]) {
        let start = bytes.count
        var needsQuotes = text.count == 0
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ",") || byte == quote || byte == UInt8(ascii: "\n")
                || byte == UInt8(ascii: "\r")
            {
                needsQuotes = true
            }
        }
        if text.count > 0, isBlank(text[0]) || isBlank(text[text.count - 1]) { needsQuotes = true }
        guard needsQuotes else {
            bytes.append(addingCapacity: text.count) { output in
                for index in text.indices { output.append(text[index]) }
            }
            return
        }
        bytes.reserveCapacity(start + text.count + 2)
        bytes.append(quote)
        for index in text.indices {
            if text[index] == quote { bytes.append(quote) }
            bytes.append(text[index])
        }
        bytes.append(quote)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    static func append(quoted text: String.UTF8View, to bytes: inout [UInt8]) {
        bytes.append(quote)
        for byte in text {
            if byte == quote { bytes.append(quote) }
            bytes.append(byte)
        }
        bytes.append(quote)
    }
}
