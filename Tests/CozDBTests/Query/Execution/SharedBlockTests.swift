// Blocks that hold the values of many series: each series tests its own values alone.

internal import CozTestSupport
internal import Synchronization
internal import Testing

@testable internal import CozDB

struct SharedBlockTests {
    /// Counts the texts that it is asked about.
    private final class CountingTest: StringPredicate {
        let text: String
        let count = Mutex(0)

        init(_ text: String) {
            self.text = text
        }

        func accepts(_ text: String) -> Bool {
            count.withLock { $0 += 1 }
            return text == self.text
        }
    }

    @Test(arguments: [500, 1000, 2000])
    func `tests of texts grow as the rows, not as series times the block`(_ count: Int) throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        var batch = WriteBatch()
        for number in 0..<count {
            try batch.add(
                experiment: "e", tags: ["id_participant": "p\(number)"],
                time: Timestamp(nanoseconds: Int64(number)),
                fields: ["f": .string("v\(number)"), "u": .integer(Int64(number))])
        }
        _ = try database.write(batch)
        try database.compact()
        let view = try #require(try database.takeSnapshot().experiment("e"))
        let column = try #require(view.schema.field("f")).id
        let tests = [CountingTest("v7"), CountingTest("v9"), CountingTest("none")]
        let predicate = RowPredicate.any(
            tests.map { .all([.column(ColumnPredicate(column: column, test: .text($0)))]) })
        let pool = ColumnPool()
        var found = 0
        try view.forEachSeries { series throws(DatabaseError) in
            var cursor = view.rows(
                of: series, columns: [column], in: .all, descending: false, batchRows: 1024,
                cellCountMax: 1 << 20, test: predicate, counts: nil, pool: pool)
            var rows = ColumnBatch()
            while try cursor.next(into: &rows) { found += rows.times.count }
        }
        #expect(found == 2)
        for test in tests { #expect(test.count.withLock { $0 } <= 2 * count) }
        try database.close()
    }
}
