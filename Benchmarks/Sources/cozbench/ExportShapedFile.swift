// Writes files in the form of `influx_inspect export`: one field per line, sorted by series, field
// and time, without duplicates.

internal import CozDB

enum ExportShapedFile {
    /// A value in the source: its time and the range of its text.
    private struct Value {
        var time: Int64
        var start: Int
        var end: Int
    }

    private struct Stream: Hashable {
        var series: Int
        var field: Int
    }

    static func write(_ source: String, to target: String) throws(DatabaseError) {
        let lines = try LineFile(source)
        var seriesNumbers: [String: Int] = [:]
        var fieldNumbers: [String: Int] = [:]
        var streams: [Stream: [Value]] = [:]
        for number in 0..<lines.lineCount {
            let line = unsafe lines.line(number)
            guard let cuts = unsafe LineParts(line) else { continue }
            let key = unsafe String(decoding: line[..<cuts.keyEnd], as: UTF8.self)
            let series = seriesNumbers[key, default: seriesNumbers.count]
            seriesNumbers[key] = series
            let base = lines.starts[number]
            for field in cuts.fields {
                let name = unsafe String(
                    decoding: line[field.start..<field.equals], as: UTF8.self)
                let fieldNumber = fieldNumbers[name, default: fieldNumbers.count]
                fieldNumbers[name] = fieldNumber
                streams[Stream(series: series, field: fieldNumber), default: []].append(
                    Value(time: cuts.time, start: base + field.start, end: base + field.end))
            }
        }
        let output = try OutputFile(target)
        unsafe try output.append(UnsafeRawBufferPointer(rebasing: lines.bytes[..<lines.headerEnd]))
        var count = 0
        let fields = fieldNumbers.sorted { $0.key < $1.key }
        for (key, series) in seriesNumbers.sorted(by: { $0.key < $1.key }) {
            for (_, field) in fields {
                guard let values = streams[Stream(series: series, field: field)] else { continue }
                count += try write(values, of: key, from: lines, to: output)
            }
        }
        try output.flush()
        print("\(count) values of \(seriesNumbers.count) series, \(fieldNumbers.count) fields")
    }

    /// Writes the values of a stream and returns how many. Of values with equal times, the last one
    /// in the source wins.
    private static func write(
        _ values: [Value], of key: String, from lines: LineFile, to output: OutputFile
    ) throws(DatabaseError) -> Int {
        let sorted = values.sorted { ($0.time, $0.start) < ($1.time, $1.start) }
        var count = 0
        for (index, value) in sorted.enumerated() {
            if index + 1 < sorted.count, sorted[index + 1].time == value.time { continue }
            try output.append(key)
            try output.append(" ")
            unsafe try output.append(
                UnsafeRawBufferPointer(rebasing: lines.bytes[value.start..<value.end]))
            try output.append(" \(value.time)\n")
            count += 1
        }
        return count
    }
}

/// The positions of the parts of a line of line protocol.
private struct LineParts {
    /// The end of the measurement and its tags.
    private(set) var keyEnd = 0
    private(set) var fields: [(start: Int, equals: Int, end: Int)] = []
    private(set) var time: Int64 = 0

    /// Returns nil if the line is not a point with a time.
    init?(_ line: UnsafeRawBufferPointer) {
        var isQuoted = false
        var start = -1
        var equals = -1
        var index = 0
        while index < line.count {
            let byte = unsafe line[index]
            if byte == UInt8(ascii: "\\") {
                index += 2
                continue
            }
            if start >= 0, byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if isQuoted {
                index += 1
                continue
            }
            switch byte {
            case UInt8(ascii: " ") where start < 0:
                keyEnd = index
                start = index + 1
            case UInt8(ascii: "=") where start >= 0 && equals < 0: equals = index
            case UInt8(ascii: ",") where start >= 0, UInt8(ascii: " "):
                guard equals > 0 else { return nil }
                fields.append((start, equals, index))
                if byte == UInt8(ascii: " ") {
                    let text = unsafe String(decoding: line[(index + 1)...], as: UTF8.self)
                    guard let time = Int64(text.split { $0.isNewline }.first ?? "") else {
                        return nil
                    }
                    self.time = time
                    return
                }
                start = index + 1
                equals = -1
            default: break
            }
            index += 1
        }
        return nil
    }
}
