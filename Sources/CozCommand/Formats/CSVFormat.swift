// `--format csv`: RFC 4180 with LF line ends. Null is an empty cell, the empty string is "".

internal import CozDB
internal import CozStudy

/// How to write cells.
struct CSVStyle {
    /// Whether to put an apostrophe in front of text that a spreadsheet would run as a formula.
    var marksFormulas = false
    var delimiter = UInt8(ascii: ",")
    /// Whether floats have a comma in place of the decimal point.
    var hasDecimalComma = false

    static let plain = CSVStyle()

    func append(_ number: Double, to bytes: inout [UInt8]) {
        let start = bytes.count
        NumberText.append(number, to: &bytes)
        guard hasDecimalComma,
            let point = bytes[start...].firstIndex(of: UInt8(ascii: "."))
        else { return }
        bytes[point] = UInt8(ascii: ",")
    }
}

final class CSVFormat: ResultWriter {
    private let output: OutputWriter
    private let time: TimeText
    private let style: CSVStyle
    private var bytes: [UInt8] = []
    private var header = ResultHeader()
    private var names = FlatNames()
    private var prefix: [UInt8] = []
    /// The header printed for this statement. Series with equal titles share a header.
    private var titles: [Name]?

    init(_ output: OutputWriter, _ time: TimeText, _ style: CSVStyle = .plain) {
        self.output = output
        self.time = time
        self.style = style
    }

    func beginStatement(_ index: Int) {
        if titles != nil { output.append("\n") }
        titles = nil
    }

    func beginSeries(_ header: ResultHeader) {
        self.header = header
        if names.update(header) || titles == nil {
            writeTitles((names.leading.map(\.name) + names.titles).map { Name($0) })
        }
        prefix = []
        for (_, tag) in names.leading {
            CSVFormat.append(header.value(ofLeading: tag), style, to: &prefix)
            prefix.append(style.delimiter)
        }
    }

    private func writeTitles(_ titles: [Name]) {
        if titles == self.titles { return }
        bytes.removeAll(keepingCapacity: true)
        if self.titles != nil { bytes.append(UInt8(ascii: "\n")) }
        self.titles = titles
        for (index, title) in titles.enumerated() {
            if index > 0 { bytes.append(style.delimiter) }
            CSVFormat.append(title.text, style, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        output.append(bytes)
    }

    func row(_ cells: [ResultCell]) {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: prefix)
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(style.delimiter) }
            switch cell {
            case .null: break
            case .time(let nanoseconds):
                time.append(nanoseconds, offset: header.zoneOffset?(nanoseconds) ?? 0, to: &bytes)
            case .value(.string(let text)): CSVFormat.append(text, style, to: &bytes)
            case .value(.integer(let number)): bytes.append(contentsOf: String(number).utf8)
            case .value(.float(let number)): style.append(number, to: &bytes)
            case .value(.boolean(let flag)):
                bytes.append(contentsOf: (flag ? "true" : "false").utf8)
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        output.append(bytes)
    }

    func endSeries() {}
    func endStatement(error: String?) {}
    func end() {}

    /// Appends a cell. Quotes it if a reader would otherwise split or trim it, or take it for null.
    static func append(_ text: String, _ style: CSVStyle = .plain, to bytes: inout [UInt8]) {
        let utf8 = (style.marksFormulas ? SpreadsheetFormula.marked(text) : text).utf8
        let needsQuotes =
            utf8.isEmpty || utf8.first == UInt8(ascii: " ") || utf8.last == UInt8(ascii: " ")
            || utf8.contains { byte in
                byte == style.delimiter || byte == UInt8(ascii: "\"")
                    || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            }
        guard needsQuotes else {
            bytes.append(contentsOf: utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
