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
            _ = try database.write(batch)
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
            _ = try database.write(batch)
        }
        try database.flush()
        #expect(try database.counters().identicalValues == 1)
        try database.close()
    }

    /// Words of two columns as an encoder writes them and a reader reads them.
    @Test(arguments: 0..<4) func `times of a row come back from their codes`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (written, read) = (CommitTimes(), CommitTimes())
        for _ in 0..<2 {
            written.addColumn()
            read.addColumn()
        }
        var known = [ISOTime.packedTimeTag]
        var sizes = Set<Int>()
        for _ in 0..<5000 {
            let column = Int.random(in: 0..<2, using: &random)
            let time = Int64(bitPattern: random.next()) >> Int64.random(in: 0..<60, using: &random)
            let near = known.randomElement(using: &random) ?? 0
            let word =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: random.next() | ISOTime.packedTimeTag
                case 1: near
                case 2: ISOTime.word(near, movedTo: time)
                default: (near &+ random.next() >> 40) | ISOTime.packedTimeTag
                }
            known = known.suffix(5) + [word]
            let code = written.code(word, column: column, time: time)
            #expect(code & 1 == 1)
            sizes.insert(64 - code.leadingZeroBitCount)
            if code == CommitTimes.wordFollows {
                read.note(word, column: column)
            } else {
                #expect(read.word(code, column: column, time: time) == word, "seed \(seed)")
            }
        }
        #expect(sizes.contains(1) && sizes.contains(64))
        #expect(written.code(7, column: 0, time: 0) == 14)
    }

    @Test func `a time that other fields of the row have takes a byte`() throws {
        var writer = CommitTableWriter(experiment: 0)
        for id in 0..<2 { _ = writer.column(id, type: .string) }
        let forms = (0..<2).map { CommitTableWriter.CellForm(column: $0, type: .string) }
        let empty = writer.sizeBytes
        let word = try #require(ISOTime.word(of: Self.texts[0]))
        func cells(_ first: UInt64, _ second: UInt64) -> [BatchCell] {
            [BatchCell(bits: first, column: 0), BatchCell(bits: second, column: 1)]
        }
        for number in 0..<100 {
            // A transmission of its own for each row, an hour later; the rows' times differ too.
            let sent = word + UInt64(number) * 3_600_000_000
            writer.appendRow(
                tagSet: 0, time: Int64(number) * 3_600_000_000_000, layout: 0,
                cells: cells(sent, sent).span, forms: forms.span)
        }
        // Tag set, layout, four bytes of time, at most six of the first value, one of the second.
        #expect(writer.sizeBytes - empty < 100 * 13 + 20)
    }
}
