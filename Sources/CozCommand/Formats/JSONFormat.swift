// `--format json`: one array of objects per statement. `--format ndjson`: one object per line.

internal import CozDB

final class JSONFormat: ResultWriter {
    private let output: OutputWriter
    private let time: TimeText
    private let isArray: Bool
    private var bytes: [UInt8] = []
    private var header = ResultHeader()
    private var names = FlatNames()
    /// The start of every object of the series: experiment and tags.
    private var prefix: [UInt8] = []
    private var keys: [[UInt8]] = []
    private var rows = 0

    init(_ output: OutputWriter, _ time: TimeText, isArray: Bool) {
        self.output = output
        self.time = time
        self.isArray = isArray
    }

    func beginStatement(_ index: Int) {
        rows = 0
        if isArray { output.append("[") }
    }

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        prefix = []
        let isNew = names.update(header)
        for (name, tag) in names.leading { append(name, header.value(ofLeading: tag)) }
        guard isNew else { return }
        keys = names.titles.map { title in
            var key: [UInt8] = []
            JSONText.append(title, to: &key)
            key.append(UInt8(ascii: ":"))
            return key
        }
    }

    private func append(_ name: String, _ value: String) {
        JSONText.append(name, to: &prefix)
        prefix.append(UInt8(ascii: ":"))
        JSONText.append(value, to: &prefix)
        prefix.append(UInt8(ascii: ","))
    }

    func row(_ cells: [ResultCell]) {
        bytes.removeAll(keepingCapacity: true)
        if isArray { bytes.append(contentsOf: (rows == 0 ? "\n" : ",\n").utf8) }
        rows += 1
        bytes.append(UInt8(ascii: "{"))
        bytes.append(contentsOf: prefix)
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: keys[index])
            JSONText.append(cell, time, offset: header.zoneOffset, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        if !isArray { bytes.append(UInt8(ascii: "\n")) }
        output.append(bytes)
    }

    func rows(_ batch: ResultBatch, isTime: [Bool]) {
        var cells = JSONRowWriter(
            opening: Array((isArray ? ",\n{" : "{").utf8) + prefix,
            closing: Array((isArray ? "}" : "}\n").utf8), keys: keys)
        cells.load(batch, isTime: isTime, time: time, offset: header.zoneOffset)
        // A local array, because every access to a stored property of a class checks exclusivity.
        var bytes: [UInt8] = []
        swap(&bytes, &self.bytes)
        var row = 0
        while row < batch.count {
            bytes.removeAll(keepingCapacity: true)
            // The first row has no comma before it.
            let next = cells.append(
                from: row, skipping: isArray && rows == 0 ? 1 : 0, to: &bytes)
            output.append(bytes)
            rows += next - row
            row = next
        }
        swap(&bytes, &self.bytes)
    }

    func endSeries() {}

    func endStatement(error: String?) {
        if isArray { output.append(rows == 0 ? "]\n" : "\n]\n") }
    }

    func end() {}
}
