// Texts that are times, on their way from a batch through the log and the memtable to a segment:
// they are integers all the way, and come back as the texts that were written.

import CozTestSupport
import Testing

@testable import CozDB

struct TimeTextTests {
    /// Times in several spellings, and texts that are nearly such.
    static let texts = [
        "2023-03-01T07:42:24.471123Z", "2023-03-01T07:42:24.471124Z", "2023-03-01T07:42:24Z",
        "2023-03-01T15:42:24.471+0800", "2023-03-01T15:42:24.471+08:00", "2023-03-01T07:42:24",
        "1970-01-01T00:00:00Z", "2111-12-31T23:59:59.999999Z", "1969-12-31T23:59:59Z",
        "2023-02-30T00:00:00Z", "2023-03-01 07:42:24Z", "2023-03-01T07:42:24.1234567Z", "",
    ]

    @Test func `times come back as texts from memory, the log and a segment`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: system)
        for turn in 0..<3 {
            var batch = WriteBatch()
            for (index, text) in (Self.texts + Self.texts.reversed()).enumerated() {
                try batch.add(
                    experiment: "dev", tags: ["id_participant": "p", "seen": Self.texts[turn]],
                    time: Timestamp(nanoseconds: Int64(turn * 100 + index)),
                    fields: ["lambda": .string(text), "other": .string("\(turn)")])
            }
            try database.write(batch)
        }
        let written = try Contents(database)
        let texts = Set(written.cells.values)
        for text in Self.texts where !text.isEmpty { #expect(texts.contains(.string(text))) }
        let replayed = try Database.open(
            "db", access: .readOnly, options: DatabaseOptions(), on: system.survivor(.nothing))
        #expect(try Contents(replayed) == written)
        try database.compact()
        #expect(try Contents(database) == written)
        try database.close()
    }

    @Test func `equal times of several commits are the same value`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: system)
        for _ in 0..<2 {
            var batch = WriteBatch()
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
                fields: ["lambda": .string(Self.texts[0])])
            try database.write(batch)
        }
        try database.flush()
        #expect(try database.counters().identicalValues == 1)
        try database.close()
    }

    @Test(arguments: 0..<4) func `a time is its difference to the one before`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<2000 {
            let (word, before) = (random.next() | ISOTime.wordTag, random.next() | ISOTime.wordTag)
            let code = CommitString.encode(word, after: before)
            #expect(code & 1 == 1)
            #expect(CommitString.time(code, after: before) == word)
        }
        #expect(CommitString.encode(7, after: ISOTime.wordTag) == 14)
    }
}
