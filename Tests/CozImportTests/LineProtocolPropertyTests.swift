// What must hold for any input: round trip, independence of chunks, no crash.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct LineProtocolPropertyTests {
    /// Prints a point as line protocol, with the escapes that InfluxDB's documentation names.
    private func print(_ point: ParsedPoint, _ random: inout SeededRandom) -> String {
        func escape(_ text: String, _ special: String) -> String {
            text.unicodeScalars.map { special.unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }
                .joined()
        }
        var text = escape(point.experiment, ", ")
        for (name, value) in point.tags.shuffled(using: &random) {
            text += ",\(escape(name, ",= "))=\(escape(value, ",= "))"
        }
        let fields = point.fields.map { "\(escape($0.key, ",= "))=\($0.value)" }
        let blanks = String(repeating: " ", count: Int.random(in: 1...3, using: &random))
        return text + blanks + fields.shuffled(using: &random).joined(separator: ",")
            + blanks + "\(point.time)"
    }

    private func name(_ random: inout SeededRandom) -> String {
        let pieces = ["a", "b", "cd", "é", "😀", ",", " ", "=", "\"", "#", "x_1", "longer name"]
        let count = Int.random(in: 1...3, using: &random)
        let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
        // A leading # or blank is a comment or nothing; `time` is reserved.
        return "n" + text
    }

    private func value(_ random: inout SeededRandom) -> FieldValue {
        switch random.next() % 5 {
        case 0: return .float(Double.random(in: -1e6...1e6, using: &random))
        case 1: return .integer(Int64(bitPattern: random.next()))
        case 2: return .boolean(random.next() % 2 == 0)
        case 3:
            let number = Double(bitPattern: random.next())
            return .float(number.isFinite ? number : 0)
        default:
            let pieces = [
                "", "abc", "\"", "\\", "\n", " ", ",", "=", "ü", "😀", "\\n", "0123456789",
            ]
            let count = Int.random(in: 0...9, using: &random)
            return .string((0..<count).map { _ in pieces.randomElement(using: &random)! }.joined())
        }
    }

    private func randomPoints(_ count: Int, _ random: inout SeededRandom) -> [ParsedPoint] {
        let names = (0..<12).map { _ in name(&random) }
        return (0..<count).map { _ in
            var point = ParsedPoint(
                experiment: names.randomElement(using: &random)!, tags: [:],
                time: Int64(bitPattern: random.next()) >> Int64.random(in: 1...60, using: &random),
                fields: [:])
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                point.tags[names.randomElement(using: &random)!] = name(&random)
            }
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                point.fields[names.randomElement(using: &random)!] = value(&random)
            }
            return point
        }
    }

    @Test func `random points printed as line protocol parse back equal`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let points = randomPoints(200, &random)
            let text = points.map { print($0, &random) }.joined(separator: "\n")
            var input = try parse(text)
            for index in input.points.indices { input.points[index].line = 0 }
            #expect(input.refusals.isEmpty, "seed \(seed)")
            #expect(input.points == points, "seed \(seed)")
        }
    }

    @Test func `the result does not depend on how the input is cut`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for round in 0..<40 {
            let text = randomPoints(30, &random).map { print($0, &random) }
                .joined(separator: round % 2 == 0 ? "\n" : "\r\n")
            var bytes = Array(text.utf8)
            if round % 4 > 1 { mutate(&bytes, &random) }
            var options = LineProtocolParser.Options()
            options.stringSizeBytesMax = 60
            let whole = try parse(bytes, options: options)
            #expect(try parse(bytes, options: options) { 1 } == whole, "seed \(seed)")
            let sizes = try parse(bytes, options: options, batchRows: 7) {
                Int.random(in: 1...50, using: &random)
            }
            #expect(sizes == whole, "seed \(seed)")
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let special = Array("\"\\,= \n\r\t#it-.e\u{0}".utf8) + [0x80, 0xC3, 0xFF]
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let index = Int.random(in: bytes.indices, using: &random)
            switch random.next() % 4 {
            case 0: bytes[index] = special.randomElement(using: &random)!
            case 1: bytes.insert(special.randomElement(using: &random)!, at: index)
            case 2 where bytes.count > 1: bytes.remove(at: index)
            default: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
        }
    }

    @Test func `mutated input neither crashes nor brings a line twice`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<1500 {
            let text = randomPoints(4, &random).map { print($0, &random) }.joined(separator: "\n")
            var bytes = Array(text.utf8)
            mutate(&bytes, &random)
            let input = try parse(bytes)
            let marks = input.points.map(\.line) + input.refusals.map(\.line)
            #expect(Set(marks).count == marks.count, "seed \(seed): a line came twice")
        }
    }

    @Test func `bytes that are no text at all do not crash`() throws {
        var random = SeededRandom(seed: 11)
        for size in 0..<300 {
            _ = try parse((0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            _ = try parse(
                (0..<size).map { _ in "m,= \"\\\n1\r".utf8.randomElement(using: &random)! })
        }
    }
}
