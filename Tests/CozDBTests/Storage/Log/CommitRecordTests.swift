// Commit records: whatever the bytes, reading gives an error or rows, and what it gives can be
// written to a segment.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

struct CommitRecordTests {
    func record(_ batch: WriteBatch) throws -> [UInt8] {
        var encoder = CommitEncoder(
            batch, schemas: SchemaSet(), options: DatabaseOptions(),
            journal: CommitJournal(), forgotten: ForgottenList())
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

    // MARK: Refused before they are written

    private func batch(
        _ experiment: String, _ fields: [String], time: Int64
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: experiment, tags: ["id_participant": "p"],
            time: Timestamp(nanoseconds: time),
            fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, .float(1)) }))
        return batch
    }

    /// The record of a batch in a database that has the experiments and fields of others.
    private func record(_ batch: WriteBatch, after others: [WriteBatch]) throws -> [UInt8] {
        var schemas = SchemaSet()
        for other in others {
            var encoder = CommitEncoder(
                other, schemas: schemas, options: DatabaseOptions(), journal: CommitJournal(),
                forgotten: ForgottenList())
            _ = try encoder.encode(other)
            schemas = encoder.schemas
        }
        var encoder = CommitEncoder(
            batch, schemas: schemas, options: DatabaseOptions(), journal: CommitJournal(),
            forgotten: ForgottenList())
        return try #require(try encoder.encode(batch))
    }

    @Test func `a record that no replay would take is refused before a byte is written`() throws {
        let (known, other) = (try batch("dev", ["x"], time: 1), try batch("other", ["x"], time: 1))
        let wide = try batch("dev", ["x", "y"], time: 1)
        let foreign = try (
            experiment: record(other, after: [known, other]), column: record(wide, after: [wide])
        )
        let faults: [(reason: String, change: @Sendable (inout [UInt8]) -> Void)] = [
            ("expected", { $0.removeLast() }),
            ("bytes after the end of a commit", { $0.append(0) }),
            ("commit record version", { $0[0] = CommitRecord.version + 1 }),
            ("rows of an unknown experiment", { [foreign] in $0 = foreign.experiment }),
            ("values of an unknown column", { [foreign] in $0 = foreign.column }),
        ]
        let fault = Change()
        var options = FaultWorkload().options
        options.changeRecord = { record in fault.of.withLock { $0 }?(&record) }
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: system)
        _ = try database.write(known)
        let (contents, calls) = (try Contents(database), system.callCount)
        for (reason, change) in faults {
            fault.of.withLock { $0 = change }
            let error = #expect(throws: DatabaseError.self, "\(reason)") {
                _ = try database.write(batch("dev", ["new"], time: 2))
            }
            #expect(error?.kind == .usage, "\(reason)")
            let message = error?.message ?? ""
            #expect(message.contains(reason) && message.hasSuffix("; nothing was stored"))
            #expect(system.callCount == calls, "\(reason): \(system.calls[calls...])")
            #expect(try Contents(database) == contents, "\(reason)")
            #expect(try database.schemas()[0].field("new") == nil, "\(reason)")
        }
        // A process that ends here leaves what was there before; this one goes on.
        let survivor = try FaultWorkload().open(system.survivor(.nothing))
        #expect(try Contents(survivor) == contents)
        fault.of.withLock { $0 = nil }
        _ = try database.write(batch("dev", ["new"], time: 2))
        let after = try Contents(database)
        #expect(after.cells.count == contents.cells.count + 1)
        try database.close()
        #expect(try Contents(FaultWorkload().open(system, .readOnly)) == after)
    }

    /// What happens to records from now on.
    private final class Change: Sendable {
        let of = Mutex<(@Sendable (inout [UInt8]) -> Void)?>(nil)
    }
}
