// Merges of segments: whole blocks that nothing newer touches are copied, everything else is
// encoded again, and the values are the same either way.

import CozTestSupport
import Testing

@testable import CozDB

struct SegmentMergeTests {
    let system = FaultyFileSystem()
    let schema: ExperimentSchema

    init() {
        var schema = ExperimentSchema(
            id: 0, name: "dev", identity: .allTags, typeRule: .lossless, preset: "none")
        schema.add(name: "x", kind: .field, type: .integer)
        schema.add(name: "y", kind: .field, type: .float)
        schema.add(name: "sent", kind: .field, type: .string)
        self.schema = schema
    }

    /// What one input has of the only series: rows at these times, and values by column and time.
    struct Rows {
        var times: [Int64]
        var value: (ColumnID, Int64) -> UInt64?
    }

    static func word(_ column: ColumnID, _ time: Int64) -> UInt64? {
        switch column {
        case 0: UInt64(bitPattern: time &* 7919 % 1009)
        case 1: (Double(time % 97) / 10).bitPattern
        default: ISOTime.word(of: "2023-03-01T07:42:24.000000Z").map { $0 + UInt64(time * 977) }
        }
    }

    func segment(_ number: UInt64, _ rows: Rows, isQuicklyEncoded: Bool = false) throws
        -> SegmentReader
    {
        let info = try write(number) { writer in
            try writer.beginSeries(SeriesKey(tags: []).bytes)
            try writer.addRows(rows.times)
            for column in schema.columns {
                let there = rows.times.indices.filter {
                    rows.value(column.id, rows.times[$0]) != nil
                }
                try writer.addValues(
                    column, rows: there.map { UInt32($0) },
                    bits: there.compactMap { rows.value(column.id, rows.times[$0]) },
                    strings: .table(.empty))
            }
        }
        var known = info
        known.isQuicklyEncoded = isQuicklyEncoded
        return try open(known)
    }

    func write(
        _ number: UInt64, _ fill: (SegmentWriter) throws -> Void
    ) throws -> Manifest.Segment {
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        let writer = try SegmentWriter(
            directory.create(FileName.segment(number).text), number: number, databaseID: 9,
            schema: schema)
        try fill(writer)
        return try writer.finish()
    }

    func open(_ info: Manifest.Segment) throws -> SegmentReader {
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        return try SegmentReader(in: directory, info, databaseID: 9, access: .copied)
    }

    /// Merges the inputs, oldest first.
    func merge(_ inputs: [SegmentReader]) throws -> SegmentReader {
        let info = try write(99) { writer in
            var merge = try SegmentMerge(inputs, schema: schema)
            try merge.write(to: writer)
        }
        return try open(info)
    }

    /// How many values each block of a column has.
    func counts(_ segment: SegmentReader, _ column: ColumnID) throws -> [Int] {
        let table = try segment.directory(try #require(segment.field(column)))
        return (0..<table.count).map { table.valueCount($0) }
    }

    /// The values of a column by time.
    func values(_ segment: SegmentReader, _ column: ColumnID) throws -> [Int64: UInt64] {
        let field = try #require(segment.field(column))
        var reader = try SegmentColumnReader(segment, field: field)
        var found = RowValues()
        try reader.append(rows: 0..<segment.footer.rowCount, to: &found)
        let times = try segment.times(rows: 0..<segment.footer.rowCount)
        let pairs = zip(found.rows.map { times[Int($0)] }, found.bits)
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test func `blocks of inputs that follow each other are copied`() throws {
        let inputs = [
            try segment(1, Rows(times: Array(0..<5000), value: Self.word)),
            try segment(2, Rows(times: Array(5000..<10_000), value: Self.word)),
        ]
        let merged = try merge(inputs)
        for column in schema.columns.map(\.id) {
            let before = try inputs.flatMap { try counts($0, column) }
            #expect(before == [1024, 1024, 1024, 1024, 904, 1024, 1024, 1024, 1024, 904])
            #expect(try counts(merged, column) == before)
            let found = try values(merged, column)
            #expect(found.count == 10_000)
            #expect(found.allSatisfy { Self.word(column, $0.key) == $0.value })
        }
    }

    @Test func `what was encoded in haste is encoded again`() throws {
        let merged = try merge([
            try segment(1, Rows(times: Array(0..<5000), value: Self.word), isQuicklyEncoded: true),
            try segment(
                2, Rows(times: Array(5000..<10_000), value: Self.word), isQuicklyEncoded: true),
        ])
        #expect(try counts(merged, 0) == Array(repeating: 1024, count: 9) + [784])
        #expect(try values(merged, 1).allSatisfy { Self.word(1, $0.key) == $0.value })
    }

    @Test func `small blocks of inputs become one`() throws {
        let merged = try merge([
            try segment(1, Rows(times: Array(0..<300), value: Self.word)),
            try segment(2, Rows(times: Array(300..<600), value: Self.word)),
        ])
        #expect(try counts(merged, 0) == [600])
        #expect(try values(merged, 2).count == 600)
    }

    /// Many inputs of one block and a little more: what is left over joins the next block, and
    /// later merges find no crumbs.
    @Test func `a few values between whole blocks stay no blocks of their own`() throws {
        var inputs: [SegmentReader] = []
        for number in 0..<6 {
            let start = Int64(number) * 1030
            inputs.append(
                try segment(
                    UInt64(number + 1),
                    Rows(times: Array(start..<(start + 1030)), value: Self.word)))
        }
        #expect(try counts(inputs[0], 0) == [1024, 6])
        let merged = try merge(inputs)
        for column in 0..<3 {
            #expect(try counts(merged, column).dropLast().allSatisfy { $0 >= WholeBlock.countMin })
            let found = try values(merged, column)
            #expect(found.count == 6180)
            #expect(found.allSatisfy { Self.word(column, $0.key) == $0.value })
        }
    }

    /// A value of one column that comes late: the block it meets is encoded again, those of other
    /// columns are copied.
    @Test func `a newer value replaces one in a block, other columns keep theirs`() throws {
        let late = Rows(times: [1500, 6000]) { column, time in column == 0 ? 1_000_000 : nil }
        let merged = try merge([
            try segment(1, Rows(times: Array(0..<5000), value: Self.word)),
            try segment(2, late),
        ])
        let found = try values(merged, 0)
        #expect(found.count == 5001)
        #expect(found[1500] == 1_000_000 && found[6000] == 1_000_000)
        #expect(
            found.allSatisfy { [1500, 6000].contains($0.key) || Self.word(0, $0.key) == $0.value })
        #expect(try counts(merged, 1) == [1024, 1024, 1024, 1024, 904])
        #expect(try values(merged, 1).allSatisfy { Self.word(1, $0.key) == $0.value })
    }

    /// Rows of several inputs that lie among each other, some of them in more than one.
    @Test(arguments: 0..<12) func `merges keep the newest of each cell`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var expected: [ColumnID: [Int64: UInt64]] = [:]
        var inputs: [SegmentReader] = []
        for number in 0..<UInt64(Int.random(in: 2...4, using: &random)) {
            let start = Int64.random(in: 0..<6000, using: &random)
            let count = Int64.random(in: 1...3000, using: &random)
            let density = Int.random(in: 1...8, using: &random)
            var cells: [ColumnID: [Int64: UInt64]] = [:]
            for column in 0..<3 {
                for time in start..<(start + count)
                where Int.random(in: 0..<8, using: &random) < density {
                    let shift = Int64(number) * 31
                    cells[column, default: [:]][time] = Self.word(column, time + shift)
                    expected[column, default: [:]][time] = Self.word(column, time + shift)
                }
            }
            let known = cells
            inputs.append(
                try segment(
                    number + 1,
                    Rows(times: Array(start..<(start + count))) { known[$0]?[$1] },
                    isQuicklyEncoded: Bool.random(using: &random)))
        }
        let merged = try merge(inputs)
        for column in 0..<3 where expected[column] != nil {
            #expect(try values(merged, column) == expected[column], "seed \(seed)")
        }
    }

    /// Forty inputs with one row each, or with values of the same row: 160 MB of strings.
    @Test(arguments: [1, 0])
    func `a chunk ends where the strings of all inputs are large`(step: Int) throws {
        let inputs = try (0..<40).map { number in
            let info = try write(UInt64(number)) { writer in
                try writer.beginSeries(SeriesKey(tags: []).bytes)
                try writer.addRows([Int64(number * step)])
                let text = Array("\(number)".utf8) + [UInt8](repeating: 0x61, count: 4_000_000)
                try writer.addValues(
                    schema.columns[2], rows: [0], bits: [0],
                    strings: .table(StringTable(heap: text, ends: [text.count])))
            }
            return try open(info)
        }
        var merge: SegmentMerge?
        let info = try write(99) { writer in
            var running = try SegmentMerge(inputs, schema: schema)
            try running.write(to: writer)
            merge = running
        }
        // Each chunk has up to 16 rows; a row is never split.
        #expect(merge?.stepCount == (step == 1 ? 3 : 1))
        let merged = try open(info)
        #expect(merged.footer.rowCount == (step == 1 ? 40 : 1))
        var reader = try SegmentColumnReader(merged, field: try #require(merged.field(2)))
        var found = RowValues()
        try reader.append(rows: 0..<1, to: &found)
        let text = found.strings.text(try #require(found.bits.first))
        #expect(text.utf8.count == (step == 1 ? 4_000_001 : 4_000_002))
        #expect(text.hasPrefix(step == 1 ? "0a" : "39a"))
    }

    /// Blocks of many columns begin in different rows: a chunk for each of them would decode all
    /// others again.
    @Test func `chunks do not multiply where blocks begin in different rows`() throws {
        var schema = ExperimentSchema(
            id: 0, name: "dev", identity: .allTags, typeRule: .lossless, preset: "none")
        let (columnCount, rowCount) = (600, 400)
        for column in 0..<columnCount {
            schema.add(name: "s\(column)", kind: .field, type: .string)
        }
        let long = [UInt8](repeating: 0x61, count: 140_000)
        let heap = long + [0x62]
        let strings = StringTable(heap: heap, ends: [long.count, heap.count])
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        func write(
            _ number: UInt64, _ fill: (SegmentWriter) throws -> Void
        ) throws -> SegmentReader {
            let writer = try SegmentWriter(
                directory.create(FileName.segment(number).text), number: number, databaseID: 9,
                schema: schema)
            try fill(writer)
            return try open(try writer.finish())
        }
        let inputs = try (0..<2).map { half in
            try write(UInt64(half)) { writer in
                try writer.beginSeries(SeriesKey(tags: []).bytes)
                let rows = half * rowCount / 2..<(half + 1) * rowCount / 2
                try writer.addRows(rows.map { Int64($0) })
                for (number, column) in schema.columns.enumerated() {
                    try writer.addValues(
                        column, rows: rows.map { UInt32($0 - rows.lowerBound) },
                        bits: rows.map { ($0 + number) % 100 == 0 ? 0 : 1 },
                        strings: .table(strings))
                }
            }
        }
        var stepCount = 0
        _ = try write(99) { writer in
            var merge = try SegmentMerge(inputs, schema: schema)
            try merge.write(to: writer)
            stepCount = merge.stepCount
        }
        // 336 MB of strings, of which 64 MiB or more are in each chunk.
        #expect(stepCount <= 12 * columnCount, "\(stepCount)")
    }
}
