// A segment has the same bytes whatever the number of threads that make it.

import CozTestSupport
import Testing

@testable import CozDB

struct SegmentThreadTests {
    /// The file of a segment of a few series and columns of all types.
    private func written(seed: UInt64, _ effort: EncodingEffort, parallelFrom count: Int) throws
        -> [UInt8]
    {
        var random = SeededRandom(seed: seed)
        let system = FaultyFileSystem()
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        var schema = ExperimentSchema(
            id: 1, name: "dev", identity: .allTags, typeRule: .lossless, preset: "none")
        let types: [FieldType] = [.float, .integer, .string, .boolean]
        for number in 0..<12 {
            schema.add(name: "column \(number)", kind: .field, type: types[number % 4])
        }
        let writer = try SegmentWriter(
            directory.create(FileName.segment(4).text), number: 4, databaseID: 9, schema: schema,
            effort: effort, parallelCountMin: count)
        let strings = StringTable(heap: Array("abcde".utf8), ends: [1, 2, 3, 4, 5])
        for series in 0..<3 {
            try writer.beginSeries(SeriesKey(tags: [("p", "\(series)")]).bytes)
            for chunk in 0..<2 {
                let rowCount = Int.random(in: 1...700, using: &random)
                try writer.addRows((0..<rowCount).map { Int64(chunk * 1000 + $0) * 1_000_000 })
                let isPresent = (0..<rowCount).map { _ in random.next() % 3 > 0 }
                for column in schema.columns {
                    // Two groups of columns share their rows; some are like the one four before.
                    let rows = (0..<rowCount).filter { column.id < 6 || isPresent[$0] }
                    var values = SeededRandom(seed: UInt64(column.id % 8 * 100 + series))
                    let bits = rows.map { _ in
                        switch column.type {
                        case .float: (Double(values.next() % 500) / 10).bitPattern
                        case .integer: values.next() >> 50
                        case .string: values.next() % 5
                        case .boolean: values.next() % 2
                        }
                    }
                    try writer.addValues(
                        column, rows: rows.map { UInt32($0) }, bits: bits,
                        strings: .table(strings))
                }
            }
        }
        _ = try writer.finish()
        return system["db/" + FileName.segment(4).text]
    }

    @Test(arguments: UInt64(1)...4)
    func `one thread and many write the same bytes`(seed: UInt64) throws {
        for effort in [EncodingEffort.thorough, .quick] {
            let alone = try written(seed: seed, effort, parallelFrom: .max)
            let together = try written(seed: seed, effort, parallelFrom: 0)
            #expect(alone.count > 1000)
            #expect(alone == together, "seed \(seed), \(effort)")
        }
    }
}
