// Rows of a batch at once print what they print cell by cell.

internal import CozTestSupport
internal import Testing

@testable internal import CozCommand
@testable internal import CozDB

struct JSONRowTests {
    private static func float(_ random: inout SeededRandom) -> Double {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: Double(bitPattern: random.next())
        case 1: Double(Int64.random(in: -100_000...100_000, using: &random))
        case 2: Double(Int64.random(in: 0...1_000_000_000, using: &random)) / 1e7
        case 3: Double.random(in: -1...1, using: &random)
        case 4: Double.random(in: 1e14...2e15, using: &random).rounded()
        case 5:
            [0, -0.0, .nan, .infinity, 1e-4, 9.999e-5, 1e15, 1e21].randomElement(using: &random)!
        case 6: Double(Int64.random(in: 0...9999, using: &random)) / 1000
        case 7:
            Double(Int64.random(in: -1_000_000...1_000_000, using: &random))
                / Double(Int64.random(in: 1...10_000, using: &random))
        case 8: powerOfTwo(&random)
        default: Double(Int64.random(in: 0...1_000_000_000_000, using: &random)) / 1e12
        }
    }

    /// Or a neighbour of one: what is read as them is not as wide above as below.
    private static func powerOfTwo(_ random: inout SeededRandom) -> Double {
        let exponent = Int.random(in: -16...51, using: &random)
        let power = Double(sign: .plus, exponent: exponent, significand: 1)
        return [power, power.nextUp, power.nextDown].randomElement(using: &random)!
    }

    @Test func `a decimal of few digits is the shortest text of its number`() {
        var random = SeededRandom(seed: 31)
        for _ in 0..<20_000 {
            let number = Self.float(&random)
            guard number.isFinite else { continue }
            var bytes: [UInt8] = []
            NumberText.append(number, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == NumberText.text(number))
        }
    }

    @Test func `integers of every size are printed with all their digits`() {
        var random = SeededRandom(seed: 32)
        var numbers: [Int64] = [0, -1, .min, .max, 9, 10, 99_999_999, 100_000_000]
        for shift in 0..<64 { numbers.append(Int64(bitPattern: random.next()) >> Int64(shift)) }
        for power in 1..<19 {
            let ten = (0..<power).reduce(Int64(1)) { number, _ in number * 10 }
            numbers += [ten - 1, ten, ten + 1, -ten]
        }
        for number in numbers {
            var bytes: [UInt8] = []
            NumberText.append(number, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == String(number))
        }
    }

    /// Cells of every type, with and without values.
    private func batch(_ random: inout SeededRandom, countMax: Int) -> ResultBatch {
        let count = Int.random(in: (countMax / 2)...countMax, using: &random)
        let texts = ["", "plain", "a \"b\"", "<&>", "\u{2028}", "ä\n", "x\\"]
        let types: [FieldType?] = [.integer, .float, .integer, .string, .boolean, nil, .string]
        var columns: [ResultVector] = []
        for (column, type) in types.enumerated() {
            var builder = VectorBuilder(type: type)
            for _ in 0..<count {
                let isThere = column == 0 || Bool.random(using: &random)
                switch type {
                case .integer? where isThere:
                    builder.append(.integer(Int64(bitPattern: random.next()) >> 20))
                case .float? where isThere: builder.append(.float(Self.float(&random)))
                case .boolean? where isThere: builder.append(.boolean(.random(using: &random)))
                case .string? where isThere:
                    builder.append(.string(texts.randomElement(using: &random)!))
                default: builder.appendNull()
                }
            }
            columns.append(builder.finished())
        }
        return ResultBatch(columns: columns, count: count)
    }

    /// Passes rows on one by one.
    private final class ByCells: ResultWriter {
        private let format: any ResultWriter

        init(_ format: any ResultWriter) { self.format = format }

        func beginStatement(_ index: Int) { format.beginStatement(index) }
        func beginSeries(_ header: ResultHeader) { format.beginSeries(header) }
        func row(_ cells: [ResultCell]) { format.row(cells) }
        func endSeries() { format.endSeries() }
        func endStatement(error: String?) { format.endStatement(error: error) }
        func end() { format.end() }
    }

    @Test(arguments: [TimeText.Style.shortest, .full, .epoch(nanosecondsPerUnit: 1)])
    func `rows of a batch are the rows of its cells`(_ style: TimeText.Style) {
        var random = SeededRandom(seed: 33)
        let time = TimeText(style: style)
        let makers: [(OutputWriter) -> any ResultWriter] = [
            { InfluxJSONFormat($0, time) }, { JSONFormat($0, time, isArray: true) },
            { JSONFormat($0, time, isArray: false) },
        ]
        for round in 0..<40 {
            // The first are longer than a piece that is handed on.
            let batches = (0..<2).map { _ in batch(&random, countMax: round == 0 ? 1500 : 30) }
            if round == 0 { #expect(batches[0].count * 7 * 8 > JSONRowWriter.pieceSizeBytes) }
            for make in makers {
                let outputs = [OutputWriter(descriptor: nil), OutputWriter(descriptor: nil)]
                for (output, isByCells) in zip(outputs, [false, true]) {
                    let format = isByCells ? ByCells(make(output)) : make(output)
                    write(batches, to: format)
                }
                let texts = outputs.map { String(decoding: $0.collected, as: UTF8.self) }
                #expect(texts[0] == texts[1], "round \(round)")
            }
        }
    }

    private func write(_ batches: [ResultBatch], to format: any ResultWriter) {
        var header = ResultHeader()
        header.columns = (0..<7).map {
            .init(title: "c\($0)", kind: $0 == 0 ? .time : .field(nil), source: nil)
        }
        let isTime = (0..<7).map { $0 == 0 }
        format.beginStatement(0)
        for batch in batches {
            format.beginSeries(header)
            format.rows(batch, isTime: isTime)
            format.endSeries()
        }
        format.endStatement(error: nil)
        format.end()
    }
}
