// Segments: what is written reads back whatever the keys and sizes are, and damage is found.

import CozTestSupport
import Testing

@testable import CozDB

struct SegmentTests {
    /// A column's values of one series: (time, value), by ascending time.
    typealias Values = [String: [(time: Int64, value: FieldValue)]]

    let system = FaultyFileSystem()

    func schema(_ columns: [(String, FieldType)]) -> ExperimentSchema {
        var schema = ExperimentSchema(
            id: 1, name: "dev", identity: .allTags, typeRule: .lossless, preset: "none")
        for (name, type) in columns { schema.add(name: name, kind: .field, type: type) }
        return schema
    }

    /// Writes series given as rows in key order; strings are numbers into `strings`.
    func write(
        _ schema: ExperimentSchema, _ series: [(key: [UInt8], times: [Int64])],
        strings: [String] = [],
        _ value: (_ series: Int, _ row: Int, _ column: Int) -> UInt64?
    ) throws -> Manifest.Segment {
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        let writer = try SegmentWriter(
            directory.create(FileName.segment(4).text), number: 4, databaseID: 9, schema: schema)
        var heap: [UInt8] = []
        var ends: [Int] = []
        for text in strings {
            heap += Array(text.utf8)
            ends.append(heap.count)
        }
        let table = StringTable(heap: heap, ends: ends)
        for (number, entry) in series.enumerated() {
            try writer.beginSeries(entry.key)
            try writer.addRows(entry.times)
            for column in schema.columns {
                var rows: [UInt32] = []
                var bits: [UInt64] = []
                for row in entry.times.indices {
                    guard let word = value(number, row, column.id) else { continue }
                    rows.append(UInt32(row))
                    bits.append(word)
                }
                try writer.addValues(
                    column, rows: rows, bits: bits,
                    strings: .table(table))
            }
        }
        return try writer.finish()
    }

    /// What a check finds, all values decoded.
    func problems(of reader: SegmentReader) throws -> [SegmentCheck.Problem] {
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let file = try directory.open(
            FileName.segment(reader.info.number).text, writable: false)
        var check = SegmentCheck(reader, file, databaseID: 9)
        try check.run(decodes: true)
        return check.problems
    }

    func view(_ info: Manifest.Segment, _ schema: ExperimentSchema) throws -> ExperimentView {
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let reader = try SegmentReader(in: directory, info, databaseID: 9)
        return ExperimentView(schema: schema, sources: [.segment(reader)])
    }

    /// Everything in a view, by series and column.
    func everything(_ view: ExperimentView) throws -> [(key: [UInt8], values: Values)] {
        var all: [(key: [UInt8], values: Values)] = []
        for series in try view.series() {
            var values: Values = [:]
            for column in view.schema.columns {
                try view.scan(column.id, of: series, in: .all, summarize: { _, _ in false }) {
                    piece in
                    guard case .values(let slice) = piece else { return false }
                    for index in 0..<slice.count {
                        values[column.name, default: []].append(
                            (slice.times[index], slice.value(index)))
                    }
                    return true
                }
            }
            all.append((series.key.bytes, values))
        }
        return all
    }

    @Test func `rows out of order are found, and a rewritten segment lacks their block`() throws {
        let schema = schema([("x", .integer)])
        var series: [(key: [UInt8], times: [Int64])] = []
        for name in ["a", "b", "c"] {
            series.append((SeriesKey(tags: [("t", name)]).bytes, Array(1...10_000)))
        }
        series[1].times.swapAt(9_000, 9_001)
        let info = try write(schema, series) { _, row, _ in UInt64(row) }
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let file = try directory.open(FileName.segment(4).text, writable: false)
        let reader = try SegmentReader(in: directory, info, databaseID: 9)
        var check = SegmentCheck(reader, file, databaseID: 9)
        try check.run(decodes: true)
        #expect(check.problems.map(\.text.found) == ["the times of a series do not ascend"])
        #expect(check.damage.rows.contains { $0.contains(19_000) }, "\(check.damage.rows)")

        let writer = try SegmentWriter(
            directory.create(FileName.segment(5).text), number: 5, databaseID: 9, schema: schema)
        let salvage = try SegmentSalvage(reader, check.damage)
        try salvage.write(to: writer)
        let rewritten = try writer.finish()
        let found = try problems(
            of: try SegmentReader(in: directory, rewritten, databaseID: 9))
        #expect(found.isEmpty, "\(found)")
        #expect(
            try everything(try view(rewritten, schema)).map { $0.values["x"]?.count ?? 0 }
                .reduce(0, +) > 20_000)
    }

    @Test(arguments: [false, true])
    func `rows out of order are an error for every reader`(descending: Bool) throws {
        let schema = schema([("x", .integer), ("y", .float)])
        var random = SeededRandom(seed: 7)
        let key = SeriesKey(tags: [("t", "a")]).bytes
        for _ in 0..<50 {
            let times = (1...200).map { _ in Int64.random(in: 0..<1000, using: &random) }
            let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
            try? directory.remove(FileName.segment(4).text)
            let info = try write(schema, [(key: key, times: times)]) { _, row, column in
                row % 3 == column ? nil : UInt64(row)
            }
            let view = try view(info, schema)
            let series = try view.series()[0]
            var cursor = view.rows(
                of: series, columns: [0, 1], in: .all, descending: descending, batchRows: 7)
            var batch = ColumnBatch()
            let error = #expect(throws: DatabaseError.self) {
                while try cursor.next(into: &batch) { #expect(batch.count <= 7) }
            }
            #expect(error?.message == "the times of a series do not ascend")
            let scanned = #expect(throws: DatabaseError.self) {
                try view.scan(0, of: series, in: .all, summarize: { _, _ in false }) { _ in true }
            }
            #expect(scanned?.kind == .damaged)
        }
    }

    @Test func `hostile keys keep their bytes and their order`() throws {
        let values = [
            "", "\u{0}", "\u{0}\u{1}", "\u{1}", "a", "a\u{0}", "a\u{0}b", "ab", "é", "\u{10FFFF}",
        ]
        let names = ["", "\u{0}", "a", "a\u{0}", "b"]
        var keys: [SeriesKey] = [SeriesKey(tags: [])]
        for name in names {
            for value in values {
                keys.append(SeriesKey(tags: [(name, value)]))
                keys.append(SeriesKey(tags: [(name, value), ("zz", "1")]))
            }
        }
        keys.sort()
        #expect(Set(keys).count == keys.count)
        let schema = schema([("x", .integer)])
        let info = try write(schema, keys.map { (key: $0.bytes, times: [5]) }) { series, _, _ in
            UInt64(series)
        }
        let all = try everything(view(info, schema))
        #expect(all.map(\.key) == keys.map(\.bytes))
        #expect(all.indices.allSatisfy { all[$0].values["x"]?[0].value == .integer(Int64($0)) })
    }

    @Test func `many small series share blocks`() throws {
        let schema = schema([("x", .integer), ("y", .float)])
        let keys = (0..<3000).map { SeriesKey(tags: [("n", "\($0 + 10000)")]).bytes }
        let info = try write(schema, keys.map { (key: $0, times: [1, 2, 3]) }) {
            series, row, column in
            column == 0 ? UInt64(series * 3 + row) : series % 7 == row ? UInt64(row) : nil
        }
        let view = try view(info, schema)
        guard case .segment(let reader) = view.sources[0] else { return }
        #expect(try reader.directory(0).count == 9, "9000 values in blocks of 1023 and less")
        #expect(try reader.timeBlocks().count == 9)
        let all = try everything(view)
        #expect(all.count == 3000)
        for (number, series) in all.enumerated() {
            let expected = (0..<3).map { FieldValue.integer(Int64(number * 3 + $0)) }
            #expect(series.values["x"]?.map(\.value) == expected)
            #expect(series.values["y"]?.count ?? 0 == (number % 7 < 3 ? 1 : 0))
        }
    }

    @Test func `one series over many blocks`() throws {
        let schema = schema([("x", .integer), ("y", .boolean), ("z", .float)])
        let times = (0..<5000).map { Int64($0) * 1_000_000_007 }
        let info = try write(schema, [(key: [], times: times)]) { _, row, column in
            switch column {
            case 0: UInt64(bitPattern: Int64(row) - 2500)
            case 1: row % 3 == 0 ? UInt64(row % 2) : nil
            default: row > 4990 ? Double(row).bitPattern : nil
            }
        }
        let all = try everything(view(info, schema))
        #expect(all[0].values["x"]?.map(\.time) == times)
        #expect(all[0].values["x"]?.map(\.value) == (0..<5000).map { .integer(Int64($0) - 2500) })
        #expect(all[0].values["y"]?.count == 1667)
        #expect(all[0].values["z"]?.count == 9)
    }

    @Test func `a hundred thousand series of one row`() throws {
        let schema = schema([("x", .integer)])
        let keys = (0..<100_000).map { SeriesKey(tags: [("n", "\($0 + 100_000)")]).bytes }
        let info = try write(schema, keys.map { (key: $0, times: [7]) }) { series, _, _ in
            UInt64(series)
        }
        let view = try view(info, schema)
        #expect(info.sizeBytes < 1_200_000)
        let listed = try view.series()
        #expect(listed.map(\.key.bytes) == keys)
        for number in stride(from: 0, to: 100_000, by: 4999) {
            let found = try view.end(0, of: listed[number], in: .all, last: true)
            #expect(found?.value == .integer(Int64(number)))
        }
    }

    @Test func `more distinct strings than a dictionary takes`() throws {
        let schema = schema([("text", .string)])
        let strings = (0..<70_000).map { "text \($0)" }
        let info = try write(
            schema, [(key: [], times: strings.indices.map { Int64($0) })], strings: strings
        ) { _, row, _ in UInt64(row) }
        let view = try view(info, schema)
        let read = try #require(try everything(view)[0].values["text"])
        #expect(read.map(\.value) == strings.map { .string($0) })
        guard case .segment(let reader) = view.sources[0] else { return }
        #expect(reader.footer.fields[0].dictionaryCount <= SegmentFormat.dictionaryCountMax)
    }

    @Test func `long strings do not gather in one block`() throws {
        let schema = schema([("text", .string)])
        let strings = (0..<700).map { String(repeating: "\($0) ", count: 2000) }
        let info = try write(
            schema, [(key: [], times: strings.indices.map { Int64($0) })], strings: strings
        ) { _, row, _ in UInt64(row) }
        let view = try view(info, schema)
        guard case .segment(let reader) = view.sources[0] else { return }
        let table = try reader.directory(0)
        #expect(table.count > 3)
        #expect(try reader.dictionary(0).count < 300)
        let read = try #require(try everything(view)[0].values["text"])
        #expect(read.map(\.value) == strings.map { .string($0) })
    }

    @Test func `every flipped byte gives an error or the same rows`() throws {
        let columns: [(String, FieldType)] = [
            ("i", .integer), ("f", .float), ("b", .boolean), ("s", .string),
        ]
        let schema = schema(columns)
        let strings = ["", "a", "é", "longer text"]
        let keys = (0..<4).map { SeriesKey(tags: [("n", "\($0)")]).bytes }
        let info = try write(
            schema, keys.map { (key: $0, times: [1, 2, 30, 400]) }, strings: strings
        ) { series, row, column in
            guard (series + row + column) % 3 > 0 else { return nil }
            return column == 1
                ? Double(row).bitPattern : UInt64((series + row) % (column == 2 ? 2 : 4))
        }
        let path = "db/00000004.seg"
        let good = try everything(view(info, schema))
        let whole = system[path]
        var unnoticed = 0
        for offset in whole.indices {
            system[path][offset] ^= UInt8(1 << (offset % 8))
            do {
                let read = try everything(view(info, schema))
                unnoticed += 1
                #expect(read.map(\.key) == good.map(\.key), "offset \(offset)")
                for (left, right) in zip(read, good) {
                    #expect(
                        left.values.mapValues { $0.map(\.value) }
                            == right.values.mapValues { $0.map(\.value) }, "offset \(offset)")
                }
            } catch let error as DatabaseError {
                #expect(error.file == path, "offset \(offset)")
                #expect(error.kind != .io, "offset \(offset)")
            }
            system[path] = whole
        }
        #expect(unnoticed == 0, "every byte is covered by a checksum")
        for size in 0..<whole.count {
            system[path] = Array(whole[..<size])
            #expect(throws: DatabaseError.self) { try view(info, schema) }
        }
    }

    @Test func `a segment of another database or number is refused`() throws {
        let schema = schema([("x", .integer)])
        var info = try write(schema, [(key: [], times: [1])]) { _, _, _ in 1 }
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        #expect(throws: DatabaseError.self) {
            try SegmentReader(in: directory, info, databaseID: 8)
        }
        try directory.rename(FileName.segment(4).text, to: FileName.segment(5).text)
        info.number = 5
        #expect(throws: DatabaseError.self) {
            try SegmentReader(in: directory, info, databaseID: 9)
        }
    }

    @Test func `a segment of another version is refused by its number`() throws {
        let schema = schema([("x", .integer)])
        let info = try write(schema, [(key: [], times: [1])]) { _, _, _ in 1 }
        for version in [UInt8(0), 2] {
            system["db/00000004.seg"][8] = version
            let error = #expect(throws: DatabaseError.self) { try view(info, schema) }
            #expect(error?.message.contains("segment version \(version)") == true)
            #expect(error?.file == "db/00000004.seg")
        }
    }

    @Test(arguments: 0..<30) func `directories with senseless numbers do not trap`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        var table = IntegerTable(columnCount: BlockTable.fieldColumnCount)
        for block in 0..<3 {
            var entry = [UInt64](repeating: 0, count: BlockTable.fieldColumnCount)
            entry[BlockTable.Column.firstRow] = UInt64(block * 10)
            entry[BlockTable.Column.lastRow] = UInt64(block * 10 + 9)
            entry[BlockTable.Column.count] = 10
            entry[BlockTable.Column.sizeBytes] = 100
            table.append(entry)
        }
        try BlockTable(table).check(rowCount: 30, valueCount: 30, fileSizeBytes: 1000)
        let numbers: [UInt64] = [0, 1, 9, 30, 1025, 1 << 40, UInt64.max, 1 << 63]
        for _ in 0..<200 {
            var changed = table
            let columns = [
                BlockTable.Column.firstRow, BlockTable.Column.lastRow, BlockTable.Column.count,
                BlockTable.Column.sizeBytes,
            ]
            let column = columns.randomElement(using: &random)!
            for block in 0..<3 where Bool.random(using: &random) {
                changed.columns[column][block] = numbers.randomElement(using: &random)!
            }
            if (try? BlockTable(changed).check(rowCount: 30, valueCount: 30, fileSizeBytes: 1000))
                != nil
            {
                let directory = BlockTable(changed)
                _ = directory.blocks(rows: 0..<30)
                #expect((0..<3).reduce(0) { $0 + directory.sizeBytes($1) } <= 3000)
            }
        }
    }

    @Test func `a check finds damage anywhere in a segment of many reads`() throws {
        var random = SeededRandom(seed: 5)
        let schema = schema([("text", .string)])
        let strings = (0..<900).map { _ in
            (0..<60).map { _ in String(random.next(), radix: 36) }.joined()
        }
        let info = try write(
            schema, [(key: [], times: strings.indices.map { Int64($0) })], strings: strings
        ) { _, row, _ in UInt64(row) }
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let reader = try SegmentReader(in: directory, info, databaseID: 9, access: .copied)
        #expect(info.sizeBytes > 600 << 10, "more than what is read at once")
        let parts = try reader.valueParts(ofField: 0) + reader.timeParts()
        let path = reader.path
        for index in stride(from: 0, to: parts.count, by: 3) {
            let place = parts[index].handle
            system[path][place.offset + place.sizeBytes / 2] ^= 1
        }
        let file = try directory.open(FileName.segment(info.number).text, writable: false)
        var check = SegmentCheck(reader, file, databaseID: 9)
        try check.run(decodes: false)
        let found = Set(check.problems.map(\.offset))
        let damaged = stride(from: 0, to: parts.count, by: 3).map { parts[$0].handle.offset }
        #expect(found == Set(damaged))
    }

    @Test func `what there is no room to keep is decoded again`() throws {
        let schema = schema([("v", .integer)])
        let times = (0..<5000).map { Int64($0) }
        let info = try write(schema, [(key: [], times: times)]) { _, row, _ in
            row % 3 == 0 ? UInt64(row) : nil
        }
        let view = try view(info, schema)
        let sizeBytes = 32 << 20
        var taken = 0
        while DecodedMemory.take(sizeBytes >> 10) { taken += sizeBytes >> 10 }
        defer { DecodedMemory.give(taken) }
        for _ in 0..<2 {
            let values = try everything(view)[0].values["v", default: []]
            #expect(values.map(\.time) == times.filter { $0 % 3 == 0 })
            #expect(values.map(\.value) == values.map { .integer($0.time) })
        }
    }

    @Test func `a mapped file that was made shorter is damage, not a signal`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path + "/file"
        let directory = try PosixFileSystem().openDirectory(
            folder.path, create: true, access: .ownerOnly)
        let file = try directory.create("file")
        let bytes = [UInt8](repeating: 7, count: 1 << 20)
        try file.writeAll(bytes.span, at: 0)
        let mapping = try file.map(size: bytes.count)
        let first = try mapping.withBytes(0, count: 4) { [UInt8](copying: $0) }
        #expect(first == [7, 7, 7, 7])
        try file.truncate(to: 4096)
        let error = #expect(throws: FormatError.self, "\(path)") {
            _ = try mapping.withBytes(1 << 19, count: 4) { [UInt8](copying: $0) }
        }
        #expect(error?.kind == .truncated)
        #expect(error?.message.contains("the file was truncated") == true)
    }

    @Test func `a series is named by its participant, or by all its tags`() {
        #expect(SeriesKey(tags: [("id_participant", "p1")]).text == "p1")
        #expect(SeriesKey(tags: [("a", "1"), ("b", "2")]).text == "a=1,b=2")
    }
}
