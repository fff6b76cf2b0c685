// The series that a refused line names, as far as that can be told: what deletions need to find
// the lines of a participant. Importers have the real parser; this one refuses nothing.

/// Experiment and tags at the beginning of a line of line protocol, or of an item of JSON.
struct LineSeries {
    let experiment: String
    /// Those that have a name and a value.
    let tags: [(name: String, value: String)]

    private typealias Found = (experiment: String, tags: [(name: String, value: String)])

    /// Nil where the line begins with no name.
    init?(_ line: [UInt8]) {
        let first = line.first { !$0.isBlank }
        let found =
            first == UInt8(ascii: "{") ? LineSeries.item(line) : LineSeries.line(line)
        guard let found else { return nil }
        (experiment, tags) = found
    }

    private static func line(_ line: [UInt8]) -> Found? {
        let (comma, equals, blank) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "))
        let start = line.firstIndex { $0 != blank && $0 != UInt8(ascii: "\t") } ?? line.count
        let end = LineSeries.next(blank, in: line, start..<line.count)
        var position = LineSeries.next(comma, in: line, start..<end)
        let experiment = LineSeries.text(line[start..<position], special: [comma, blank])
        guard !experiment.isEmpty else { return nil }
        var tags: [(name: String, value: String)] = []
        while position < end {
            let first = position + 1
            position = LineSeries.next(comma, in: line, first..<end)
            let middle = LineSeries.next(equals, in: line, first..<position)
            guard middle > first, middle + 1 < position else { continue }
            let special = [comma, equals, blank]
            let name = LineSeries.text(line[first..<middle], special: special)
            let value = LineSeries.text(line[(middle + 1)..<position], special: special)
            tags.append((name, value))
        }
        return (experiment, tags)
    }

    /// An item such as `{"measurement":"dev","tags":{"id_participant":"p1"},...}`, whole or not:
    /// every name with a text or number behind it is taken for a tag, wherever it stands.
    private static func item(_ item: [UInt8]) -> Found? {
        var words = JSONWords(item)
        var experiment = ""
        var tags: [(name: String, value: String)] = []
        while let pair = words.nextPair() {
            if Name(pair.name) == Name("measurement") {
                experiment = pair.value
            } else if !pair.value.isEmpty {
                tags.append(pair)
            }
        }
        return experiment.isEmpty && tags.isEmpty ? nil : (experiment, tags)
    }

    /// Where a byte stands next without a backslash before it; the end of the range if nowhere.
    private static func next(_ byte: UInt8, in line: [UInt8], _ range: Range<Int>) -> Int {
        var index = range.lowerBound
        while index < range.upperBound, line[index] != byte {
            index += line[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index, range.upperBound)
    }

    private static func text(_ bytes: ArraySlice<UInt8>, special: [UInt8]) -> String {
        var plain: [UInt8] = []
        for byte in bytes {
            if plain.last == UInt8(ascii: "\\"), special.contains(byte) { plain.removeLast() }
            plain.append(byte)
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

/// Names with their values in something like JSON. Refuses nothing.
private struct JSONWords {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The next text with a colon and a text or number behind it.
    mutating func nextPair() -> (name: String, value: String)? {
        while let byte {
            guard byte == UInt8(ascii: "\"") else {
                index += 1
                continue
            }
            let name = text()
            skipBlanks()
            guard self.byte == UInt8(ascii: ":") else { continue }
            index += 1
            skipBlanks()
            if self.byte == UInt8(ascii: "\"") { return (name, text()) }
            let word = bytes[index...].prefix { $0.isWord || "+-.".utf8.contains($0) }
            index += word.count
            if !word.isEmpty { return (name, String(decoding: word, as: UTF8.self)) }
        }
        return nil
    }

    private mutating func skipBlanks() {
        while byte?.isBlank == true { index += 1 }
    }

    /// What stands between the quotes that begin here.
    private mutating func text() -> String {
        index += 1
        var units: [UInt8] = []
        while let byte, byte != UInt8(ascii: "\"") {
            index += 1
            guard byte == UInt8(ascii: "\\"), let escape = self.byte else {
                units.append(byte)
                continue
            }
            index += 1
            switch escape {
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "u"): units += Array(codeUnits().utf8)
            default: units.append(escape)
            }
        }
        index += 1
        return String(decoding: units, as: UTF8.self)
    }

    /// The characters of one escape of four digits, or of those that follow it as well.
    private mutating func codeUnits() -> String {
        var units: [UInt16] = []
        repeat {
            let end = Swift.min(index + 4, bytes.count)
            let digits = String(decoding: bytes[Swift.min(index, end)..<end], as: UTF8.self)
            guard let unit = UInt16(digits, radix: 16) else { break }
            units.append(unit)
            index = end
            guard bytes[index...].starts(with: "\\u".utf8) else { break }
            index += 2
        } while true
        return String(decoding: units, as: UTF16.self)
    }
}
