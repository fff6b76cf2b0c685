// The series that a refused line names, as far as that can be told: what deletions need to find
// the lines of a participant. Importers have the real parser; this one refuses nothing.

/// Experiment and tags at the beginning of a line of line protocol.
struct LineSeries {
    let experiment: String
    /// Those that have a name and a value.
    let tags: [(name: String, value: String)]

    /// Nil where the line begins with no name.
    init?(_ line: [UInt8]) {
        let (comma, equals, blank) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: " "))
        let start = line.firstIndex { $0 != blank && $0 != UInt8(ascii: "\t") } ?? line.count
        let end = LineSeries.next(blank, in: line, start..<line.count)
        var position = LineSeries.next(comma, in: line, start..<end)
        experiment = LineSeries.text(line[start..<position], special: [comma, blank])
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
        self.tags = tags
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
