// Memory does not grow with the length of strings: a batch has fewer rows if they are long.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct LongStringTests {
    private static let stringSizeBytes = 256 << 10
    private static let rowCount = 200

    private static func text(_ time: Int) -> String {
        "\(time)" + String(repeating: "abcdefgh", count: stringSizeBytes / 8)
    }

    /// Rows of one or two participants in one or two segments that overlap.
    private func database(participantCount: Int, segmentCount: Int) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        for segment in 0..<segmentCount {
            for time in stride(from: segment, to: Self.rowCount, by: segmentCount) {
                var batch = WriteBatch()
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(time % participantCount)"],
                    time: Timestamp(nanoseconds: Int64(time)),
                    fields: ["s": .string(Self.text(time)), "k": .integer(Int64(time))])
                _ = try database.write(batch)
            }
            try database.flush()
        }
        return database
    }

    @Test(
        arguments: [(1, 1), (1, 2), (2, 1), (2, 2)],
        [
            "SELECT s, k FROM m", "SELECT s, k FROM m ORDER BY time DESC",
            "SELECT s, k FROM m WHERE k >= 0", "SELECT s, k FROM m WHERE s =~ /abc/ AND k >= 0",
        ])
    func `a batch has a few megabytes`(
        _ shape: (participantCount: Int, segmentCount: Int), _ statement: String
    ) throws {
        let database = try database(
            participantCount: shape.participantCount, segmentCount: shape.segmentCount)
        let cursor = try database.cursor(statement)
        var times: [Int64] = []
        while let batch = try cursor.next() {
            var sizeBytes = 0
            for (row, text) in try #require(batch.column("s")).texts.enumerated() {
                let time = Int(batch.times[row].nanoseconds)
                #expect(text == Self.text(time))
                sizeBytes += text?.utf8.count ?? 0
                times.append(Int64(time))
            }
            #expect(sizeBytes <= 10 << 20, "\(sizeBytes) bytes in a batch of \(batch.times.count)")
        }
        let expected = Array(0..<Int64(Self.rowCount))
        #expect(times == (statement.contains("DESC") ? expected.reversed() : expected))
    }

    @Test func `a selector keeps only the strings that it returns`() throws {
        let database = try database(participantCount: 1, segmentCount: 2)
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.memorySizeBytesMax = 4 << 20
        let answer = try database.query(
            "SELECT first(s), last(s) FROM m GROUP BY time(100ns) fill(none)",
            options: options)
        let series = try #require(answer.series.first)
        #expect(series.columns[1].texts == [Self.text(0), Self.text(100)])
        #expect(series.columns[2].texts == [Self.text(99), Self.text(199)])
    }
}
