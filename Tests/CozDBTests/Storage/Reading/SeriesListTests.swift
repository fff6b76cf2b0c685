// One series among many is found without looking at the others.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct SeriesListTests {
    /// More than a segment keeps decoded.
    private static let count = 17_000

    @Test func `a prefix finds what a predicate finds, in segment and memtable`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        func write(_ numbers: some Sequence<Int>) throws {
            var batch = WriteBatch()
            for number in numbers {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(number)"],
                    time: Timestamp(nanoseconds: Int64(number)), fields: ["v": .integer(1)])
            }
            _ = try database.write(batch)
        }
        try write(0..<Self.count)
        try database.flush()
        try write(stride(from: 5, to: Self.count + 50, by: 1000))
        let view = try #require(try database.takeSnapshot().experiment("m"))
        for name in ["p0", "p5", "p1005", "p16999", "p17005", "p9999", "q", "", "p"] {
            let wanted = SeriesKey(tags: [("id_participant", name)])
            var found: [SeriesKey] = []
            var lookedAt = 0
            try view.forEachSeries(prefix: wanted.bytes) { key in
                lookedAt += 1
                return key == wanted
            } _: { series throws(DatabaseError) in
                found.append(series.key)
            }
            let expected = try view.series { $0 == wanted }.map(\.key)
            #expect(found == expected, "\(name)")
            // A block of the table at most, of each of two sources.
            #expect(lookedAt <= 2 * 1024 + 2, "\(name): \(lookedAt)")
        }
        let answer = try database.query("SELECT v FROM m WHERE id_participant = 'p1005'")
        #expect(answer.series.first?.rowCount == 1)
        try database.close()
    }
}
