// `--format influx-json`: the response body of InfluxDB 1.x for /query, byte for byte except for
// the order of some keys.

internal import CozDB

final class InfluxJSONFormat: ResultWriter {
    private let output: OutputWriter
    private let time: TimeText
    private var bytes: [UInt8] = []
    private var header = ResultHeader()
    /// The columns of the current series, and their JSON text.
    private var columns: [ResultHeader.Column] = []
    private var titles: [UInt8] = []
    private var statements = 0
    private var series = 0
    private var rows = 0

    init(_ output: OutputWriter, _ time: TimeText) {
        self.output = output
        self.time = time
    }

    private var cells = JSONRowWriter(
        opening: Array(",[".utf8), closing: Array("]".utf8), goCompatible: true)

    private func put(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    private func put(string: String) {
        JSONText.append(string, goCompatible: true, to: &bytes)
    }

    private func send() {
        output.append(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Collect small series: most series are short.
    private func sendIfLong() {
        if bytes.count >= JSONRowWriter.pieceSizeBytes { send() }
    }

    func beginStatement(_ index: Int) {
        if statements == 0 { put("{\"results\":[") } else { put(",") }
        statements += 1
        series = 0
        put("{\"statement_id\":")
        bytes.append(contentsOf: String(index).utf8)
    }

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        rows = 0
        // A local array, because every access to a stored property of a class checks exclusivity.
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        bytes.append(contentsOf: (series == 0 ? ",\"series\":[{" : ",{").utf8)
        series += 1
        if !header.name.isEmpty {
            bytes.append(contentsOf: "\"name\":".utf8)
            JSONText.append(header.name, goCompatible: true, to: &bytes)
            bytes.append(UInt8(ascii: ","))
        }
        if !header.tags.isEmpty {
            bytes.append(contentsOf: "\"tags\":{".utf8)
            for (index, tag) in header.tags.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(tag.name, goCompatible: true, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                JSONText.append(tag.value, goCompatible: true, to: &bytes)
            }
            bytes.append(contentsOf: "},".utf8)
        }
        if header.columns != columns || titles.isEmpty {
            columns = header.columns
            titles = Array("\"columns\":[".utf8)
            for (index, column) in columns.enumerated() {
                if index > 0 { titles.append(UInt8(ascii: ",")) }
                JSONText.append(column.title, goCompatible: true, to: &titles)
            }
            titles.append(UInt8(ascii: "]"))
        }
        bytes.append(contentsOf: titles)
        swap(&bytes, &self.bytes)
    }

    func row(_ cells: [ResultCell]) {
        put(rows == 0 ? ",\"values\":[[" : ",[")
        rows += 1
        for (index, cell) in cells.enumerated() {
            if index > 0 { put(",") }
            JSONText.append(cell, time, offset: header.zoneOffset, goCompatible: true, to: &bytes)
        }
        put("]")
        send()
    }

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        // Local copies, because every access to a stored property of a class checks exclusivity.
        var cells = JSONRowWriter()
        swap(&cells, &self.cells)
        cells.load(batch, isTime: isTime, time: time, offset: header.zoneOffset)
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        var row = 0
        while row < batch.count {
            if rows == 0 { bytes.append(contentsOf: ",\"values\":[".utf8) }
            // The first row has no comma before it.
            let next = cells.append(from: row, skipping: rows == 0 ? 1 : 0, to: &bytes)
            rows += next - row
            row = next
            if bytes.count >= JSONRowWriter.pieceSizeBytes {
                output.append(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        swap(&bytes, &self.bytes)
        swap(&cells, &self.cells)
        sendIfLong()
    }

    func endSeries() {
        put(rows == 0 ? "}" : "]}")
        sendIfLong()
    }

    func endStatement(error: String?) {
        if series > 0 { put("]") }
        if let error {
            put(",\"error\":")
            put(string: error)
        }
        put("}")
        send()
    }

    func end() {
        put(statements == 0 ? "{\"results\":[]}\n" : "]}\n")
        send()
    }

    func parseError(_ message: String) {
        put("{\"error\":")
        put(string: "error parsing query: " + message)
        put("}\n")
        send()
    }
}
