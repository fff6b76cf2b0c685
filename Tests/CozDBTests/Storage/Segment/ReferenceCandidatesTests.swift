// Fields of a segment that repeat each other or the times of rows, and texts that are times.

import CozTestSupport
import Testing

@testable import CozDB

struct ReferenceCandidatesTests {
    private let files = SegmentTests()

    /// Rows as the write Lambda sends them: a value with the time at which it arrived, which the
    /// row has once more, unless something arrived later; the watch's copy of a sample; times in
    /// words next to the row's own.
    private static let columns: [(String, FieldType)] = [
        ("stamp", .string), ("heart", .float), ("heart_stamp", .string), ("watch", .float),
        ("watch_stamp", .string), ("start", .string), ("end", .string), ("note", .string),
    ]

    private struct Row {
        var time: Int64
        var values: [String?]
        var numbers: [UInt64?]
    }

    private static func rows(_ count: Int, _ random: inout SeededRandom) -> [Row] {
        var time: Int64 = 1_700_000_000_000
        var stamp = time
        return (0..<count).map { number in
            time += Int64.random(in: 1...600_000, using: &random)
            if number % 90 == 0 {
                stamp = time * 1000 + Int64.random(in: 0...999_999, using: &random)
            }
            func text(_ micros: Int64, _ digits: UInt16) -> String {
                var bytes: [UInt8] = []
                let units = digits == 6 ? micros : micros / 1000
                ISOTime(style: .init(bits: 127 << 4 | digits), units: units).append(to: &bytes)
                return String(decoding: bytes, as: UTF8.self)
            }
            let isLate = Int.random(in: 0..<25, using: &random) == 0
            let own = text(stamp + (isLate ? 77_777_777 : 0), 6)
            let heart = Double.random(in: 50...90, using: &random)
            let hasWatch = number / 40 % 2 == 0
            let end = text((time + Int64.random(in: 1...600_000, using: &random)) * 1000, 3)
            let isOdd = Int.random(in: 0..<50, using: &random) == 0
            var row = Row(time: time * 1_000_000, values: [], numbers: [])
            row.values = [
                own, nil, isOdd ? "unknown" : own, nil, hasWatch ? own : nil,
                text(time * 1000, 3), isOdd ? "soon" : end,
                number % 3 == 0 ? "note \(number)" : nil,
            ]
            let watch = isLate ? heart + 1 : heart
            row.numbers = [nil, heart.bitPattern, nil, hasWatch ? watch.bitPattern : nil]
            return row
        }
    }

    private func write(
        _ series: [[Row]], _ schema: ExperimentSchema
    ) throws -> Manifest.Segment {
        var strings: [String] = []
        var numbers: [String: UInt64] = [:]
        for text in series.joined().flatMap(\.values).compactMap(\.self) where numbers[text] == nil
        {
            numbers[text] = UInt64(strings.count)
            strings.append(text)
        }
        let keys = series.indices.map { SeriesKey(tags: [("n", "\(10_000 + $0)")]).bytes }
        return try files.write(
            schema, zip(keys, series).map { (key: $0, times: $1.map(\.time)) }, strings: strings
        ) { number, row, column in
            let row = series[number][row]
            return column < row.numbers.count && row.numbers[column] != nil
                ? row.numbers[column] : row.values[column].flatMap { numbers[$0] }
        }
    }

    private func check(_ view: ExperimentView, _ series: [[Row]], _ comment: Comment) throws {
        let read = try files.everything(view)
        #expect(read.count == series.count)
        for (found, rows) in zip(read, series) {
            for (column, name) in Self.columns.map(\.0).enumerated() {
                let expected = rows.compactMap { row -> FieldValue? in
                    if let text = row.values[column] { return .string(text) }
                    guard column < row.numbers.count, let word = row.numbers[column] else {
                        return nil
                    }
                    return .float(Double(bitPattern: word))
                }
                #expect(found.values[name, default: []].map(\.value) == expected, comment)
            }
        }
    }

    @Test(arguments: UInt64(1)...8)
    func `fields that repeat each other read back`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let schema = files.schema(Self.columns)
        let sizes = seed % 2 == 0 ? [3000, 5, 700] : (0..<60).map { $0 * 3 % 41 + 1 }
        let series = sizes.map { Self.rows($0, &random) }
        let info = try write(series, schema)
        let view = try files.view(info, schema)
        try check(view, series, "seed \(seed)")
        guard case .segment(let reader) = view.sources[0] else { return }
        func encodings(_ name: String) throws -> Set<Int> {
            let column = try #require(Self.columns.firstIndex { $0.0 == name })
            let field = try #require(reader.field(column))
            return Set(
                try reader.directory(field).integers.columns[BlockTable.Column.encoding].map(
                    Int.init))
        }
        #expect(try encodings("heart_stamp").contains(Int(BlockEncoding.same.rawValue)))
        #expect(try encodings("watch").contains(Int(BlockEncoding.same.rawValue)))
        #expect(try encodings("start") == [Int(BlockEncoding.rowTime.rawValue)])
        #expect(try encodings("end") == [Int(BlockEncoding.rowTime.rawValue)])
        #expect(try files.problems(of: reader).isEmpty, "seed \(seed)")
    }

    @Test func `texts that are times beside more texts than a dictionary takes`() throws {
        let schema = files.schema([("text", .string)])
        let strings = (0..<20_000).map { number in
            number % 3 == 0 ? "2024-05-06T07:08:\(10 + number % 50).5Z" : "text \(number)"
        }
        let info = try files.write(
            schema, [(key: [], times: strings.indices.map { Int64($0) })], strings: strings
        ) { _, row, _ in UInt64(row) }
        let view = try files.view(info, schema)
        let read = try #require(try files.everything(view)[0].values["text"])
        #expect(read.map(\.value) == strings.map { .string($0) })
        guard case .segment(let reader) = view.sources[0] else { return }
        let codes = try reader.directory(0).integers.columns[BlockTable.Column.encoding]
        #expect(codes.contains(UInt64(SegmentFormat.mixedStrings)))
    }

    @Test func `no field is looked for through more blocks than readers allow`() throws {
        // Eight fields with the same values: each could repeat the one before it.
        let names = (0..<8).map { "field \($0)" }
        let schema = files.schema(names.map { ($0, .float) })
        let info = try files.write(
            schema, [(key: [], times: (0..<5000).map { Int64($0) })]
        ) { _, row, column in
            // Each differs from the others where it has nothing.
            (row + column) % 9 == 0 ? nil : UInt64(row) &* 0x9E37_79B9_7F4A_7C15 >> 2
        }
        let read = try files.everything(files.view(info, schema))
        for (column, name) in names.enumerated() {
            let expected = (0..<5000).filter { ($0 + column) % 9 != 0 }
                .map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 >> 2 }
            let found = read[0].values[name, default: []]
            #expect(found.map(\.value) == expected.map { .float(Double(bitPattern: $0)) })
        }
    }

    @Test(arguments: UInt64(1)...30)
    func `no chain of candidates is too long, whenever they are found`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var candidates = ReferenceCandidates()
        var all = [Set<Int>](repeating: [], count: 12)
        for _ in 0..<40 {
            var chunk = RowChunk()
            chunk.begin(firstRow: 0, Array(0..<4))
            // Fields come and go; what is equal in one chunk is not in the next one.
            let kinds = UInt64.random(in: 1...3, using: &random)
            for column in all.indices where random.next() % 3 > 0 {
                let word = random.next() % kinds
                chunk.add(
                    Column(id: column, name: "\(column)", kind: .field, type: .integer),
                    rows: [0, 1, 3], bits: [word, word, word], .table(.empty))
            }
            candidates.search(chunk)
            for column in chunk.filled {
                all[column].formUnion(candidates.referencedColumns(of: column))
            }
        }
        var depths = [Int](repeating: 0, count: all.count)
        for column in all.indices {
            #expect(all[column].allSatisfy { $0 < column }, "seed \(seed)")
            depths[column] = all[column].map { depths[$0] + 1 }.max() ?? 0
        }
        #expect(depths.allSatisfy { $0 <= SegmentFormat.referenceDepthMax }, "seed \(seed)")
        #expect(depths.contains { $0 > 0 })
    }

    @Test func `every flipped byte of fields that repeat each other is an error`() throws {
        var random = SeededRandom(seed: 5)
        let schema = files.schema(Self.columns)
        let series = [Self.rows(40, &random), Self.rows(9, &random)]
        let info = try write(series, schema)
        let path = "db/00000004.seg"
        let whole = files.system[path]
        for offset in whole.indices {
            files.system[path][offset] ^= UInt8(1 << (offset % 8))
            #expect(throws: DatabaseError.self, "offset \(offset)") {
                try files.everything(files.view(info, schema))
            }
            files.system[path] = whole
        }
    }
}
