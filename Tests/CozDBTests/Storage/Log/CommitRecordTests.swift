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
}
