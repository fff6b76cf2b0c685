// Commit records: whatever the bytes, reading gives an error or rows, and what it gives can be
// written to a segment.

import CozTestSupport
import Testing

@testable import CozDB

struct CommitRecordTests {
    func record(_ batch: WriteBatch) throws -> [UInt8] {
        var encoder = CommitEncoder(
            batch, schemas: SchemaSet(), options: DatabaseOptions(),
            journal: CommitJournal())
        return try #require(try encoder.encode(batch))
    }

    /// Applies a record and writes what it gave to segments, as a flush does.
    func apply(_ record: [UInt8]) throws {
        let memtable = Memtable()
        var schemas = SchemaSet()
        try memtable.apply(record, sequence: 1, schemas: &schemas)
        let system = FaultyFileSystem()
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        for schema in schemas.all {
            guard let table = memtable.tables[schema.id] else { continue }
            let file = try directory.create(FileName.segment(UInt64(schema.id)).text)
            let writer = try SegmentWriter(
                file, number: UInt64(schema.id), databaseID: 1, schema: schema)
            var flush = MemtableFlush(
                MemtableView(table, strings: memtable.strings), schema: schema)
            try flush.write(to: writer)
            _ = try writer.finish()
        }
    }

    @Test func `truncated and extended records are refused`() throws {
        let record = try record(FaultWorkload.batch(1))
        try apply(record)
        for size in 0..<record.count {
            #expect(throws: FormatError.self, "size \(size)") {
                try apply(Array(record[..<size]))
            }
        }
        #expect(throws: FormatError.self) { try apply(record + [0]) }
    }

    @Test func `any changed byte gives an error or rows that can be flushed`() throws {
        let record = try record(FaultWorkload.batch(1))
        for offset in record.indices {
            for value in [0, 0x7F, record[offset] ^ 1] {
                var changed = record
                changed[offset] = value
                try? apply(changed)
            }
        }
    }

    @Test(arguments: 0..<8) func `random changes give an error or rows`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let record = try record(FaultWorkload.batch(1))
        for _ in 0..<100 {
            var changed = record
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
                case 1: changed.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: changed.remove(at: place)
                }
            }
            try? apply(changed)
        }
    }

    @Test func `a record of another version is refused by its number`() throws {
        var record = try record(FaultWorkload.batch(1))
        record[0] = CommitRecord.version + 1
        #expect {
            try apply(record)
        } throws: { error in
            "\(error)".contains("version \(CommitRecord.version + 1)")
        }
    }

    @Test func `records of the first version are read`() throws {
        let column = Column(id: 0, name: "x", kind: .field, type: .string)
        var record = ByteWriter()
        record.append(CommitRecord.firstVersion)
        record.appendVarint(2)
        record.append(
            SchemaChange.experiment(
                ExperimentSchema(
                    id: 0, name: "dev", identity: .standard, typeRule: .lossless,
                    preset: SchemaPreset.none)))
        record.append(SchemaChange.column(experiment: 0, column))
        record.appendVarint(0)
        record.appendVarint(2)
        record.appendText("a")
        record.appendText("2023-03-01T07:42:24Z")
        record.append([1, 0, 1])
        record.appendBlob(SeriesKey(tags: [(name: "id_participant", value: "p")]).bytes)
        record.append([0, 1, 0, FieldType.string.rawValue, 2, 0])
        // Two rows: tag set 0, time in zigzag, 1 + the place of the column, the string, end.
        record.append([0, 10, 1, 0, 0, 0, 2, 1, 1, 0])
        let memtable = Memtable()
        var schemas = SchemaSet()
        try memtable.apply(record.bytes, sequence: 1, schemas: &schemas)
        let view = MemtableView(try #require(memtable.tables[0]), strings: memtable.strings)
        let slice = view.values(of: column, rows: 0..<2)
        #expect(slice.times == [5, 6])
        #expect(slice.value(0) == .string("a"))
        #expect(slice.value(1) == .string("2023-03-01T07:42:24Z"))
        #expect(ISOTime.isWord(slice.bits[1]))
    }

    @Test func `records of the second version are read`() throws {
        let column = Column(id: 0, name: "x", kind: .field, type: .string)
        var record = ByteWriter()
        record.append(CommitRecord.columnTimesVersion)
        record.appendVarint(2)
        record.append(
            SchemaChange.experiment(
                ExperimentSchema(
                    id: 0, name: "dev", identity: .standard, typeRule: .lossless,
                    preset: SchemaPreset.none)))
        record.append(SchemaChange.column(experiment: 0, column))
        record.append([0, 1])
        record.appendText("a")
        record.append([1, 0, 1])
        record.appendBlob(SeriesKey(tags: [(name: "id_participant", value: "p")]).bytes)
        record.append([0, 1, 0, FieldType.string.rawValue, 1, 1, 0])
        // Three rows: tag set 0, time in zigzag, layout 0, twice the string's number; or, for a
        // time, one more than twice the zigzag of the difference to the word before it.
        let word = try #require(ISOTime.word(of: "2023-03-01T07:42:24Z"))
        var rows = ByteWriter()
        rows.append([0, 10, 0, 0, 0, 2, 0])
        rows.appendVarint((word - ISOTime.wordTag) << 2 | 1)
        rows.append([0, 2, 0])
        rows.appendVarint(UInt64(2_000_000 - 1) << 1 | 1)
        record.append([3, UInt8(rows.count)])
        record.append(rows.bytes)
        let memtable = Memtable()
        var schemas = SchemaSet()
        try memtable.apply(record.bytes, sequence: 1, schemas: &schemas)
        let view = MemtableView(try #require(memtable.tables[0]), strings: memtable.strings)
        let slice = view.values(of: column, rows: 0..<3)
        #expect(slice.times == [5, 6, 7])
        #expect(
            (0..<3).map { slice.value($0) } == [
                .string("a"), .string("2023-03-01T07:42:24Z"), .string("2023-03-01T07:42:23Z"),
            ])
    }
}
