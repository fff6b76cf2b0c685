// Formats values and cells like pandas' `DataFrame.to_csv`. PandasColumn chooses the format of
// numeric columns.
//
// Source: experiments with pandas 1.5.3, 2.2.3 and 3.1.1 on responses of influxdb-python 5.3.2.
// Quoting follows Python's csv.writer since 3.11.9 and 3.12.3 (gh-67044).

internal import CozDB

enum PandasText {
    private static let quote = UInt8(ascii: "\"")

    /// Appends a text cell. Escapes it if a spreadsheet would evaluate it as a formula.
    static func append(safeCell text: Span<UInt8>, to bytes: inout [UInt8]) {
        if let marked = SpreadsheetFormula.marked(text) {
            append(cell: marked.span, to: &bytes)
        } else {
            append(cell: text, to: &bytes)
        }
    }

    /// Appends a text cell. Quotes it if it has a comma, a quote or a line break, but not for
    /// blanks or an empty text.
    static func append(cell text: Span<UInt8>, to bytes: inout [UInt8]) {
        var needsQuotes = false
        for index in text.indices where breaksCell(text[index]) {
            needsQuotes = true
            break
        }
        guard needsQuotes else {
            bytes.append(addingCapacity: text.count) { output in
                for index in text.indices { output.append(text[index]) }
            }
            return
        }
        bytes.append(quote)
        for index in text.indices {
            if text[index] == quote { bytes.append(quote) }
            bytes.append(text[index])
        }
        bytes.append(quote)
    }

    private static func breaksCell(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == quote || byte == UInt8(ascii: "\n")
            || byte == UInt8(ascii: "\r")
    }

    static func append(_ value: Bool, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: (value ? "True" : "False").utf8)
    }

    static func append(_ value: Int64, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        append(value.magnitude, to: &bytes)
    }

    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var size = 1
        var limit: UInt64 = 10
        while size < 20, value >= limit {
            size += 1
            if size < 20 { limit &*= 10 }
        }
        bytes.append(addingCapacity: size) { output in
            for _ in 0..<size { output.append(0) }
            var rest = value
            var digits = output.mutableSpan
            for place in stride(from: size - 1, through: 0, by: -1) {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                digits[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
                rest = quotient
            }
        }
    }

    /// Appends a float like Python's `repr`, with the fewest digits that read back: `74.0`,
    /// `1e-05`, `1e+16`.
    ///
    /// - Parameter value: not NaN, which is an empty cell. The sign of -0 is dropped: InfluxDB
    ///   prints `-0`, which Python reads as the integer 0.
    static func append(float value: Double, to bytes: inout [UInt8]) {
        let magnitude = value.magnitude
        if magnitude < 1e15, magnitude == magnitude.rounded(.towardZero) {
            append(Int64(value), to: &bytes)
            bytes.append(contentsOf: ".0".utf8)
        } else if magnitude >= 1e-4, magnitude < 1e15 {
            // In this range Swift prints no exponent and agrees with Python.
            bytes.append(contentsOf: value.description.utf8)
        } else if value.isFinite {
            bytes.append(contentsOf: ShortestDecimal(value).python.utf8)
        } else {
            bytes.append(contentsOf: (value < 0 ? "-inf" : "inf").utf8)
        }
    }

    /// Appends a float as Python prints it after reading InfluxDB's JSON, in which whole numbers
    /// are integers.
    ///
    /// - Parameter value: not NaN.
    static func append(answered value: Double, to bytes: inout [UInt8]) {
        guard isPrintedAsInteger(value) else { return append(float: value, to: &bytes) }
        if value.magnitude < 1e15 {
            append(Int64(value), to: &bytes)
        } else {
            bytes.append(contentsOf: ShortestDecimal(value).json.utf8)
        }
    }

    /// Whether InfluxDB's JSON prints the number without decimal point and exponent.
    static func isPrintedAsInteger(_ value: Double) -> Bool {
        value.magnitude < 1e21 && value == value.rounded(.towardZero)
    }
}
