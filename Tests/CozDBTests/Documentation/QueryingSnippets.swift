// The code of the article Querying, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

// Snippet: Read large results
struct RowCounter: QueryResultSink {
    var rows = 0

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) { rows += batch.count }
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}
// End of snippet

// Snippet: Read rows as values of your own type
struct HourlyRate: Decodable {
    var time: Timestamp
    var id_participant: String
    var mean: Double?
}
// End of snippet

struct QueryingSnippets {
    private static func database(_ path: String) throws -> Database {
        let database = try Database.open(path)
        var batch = WriteBatch()
        for minute in 0..<120 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p0\(minute % 2 + 1)"],
                time: Timestamp(nanoseconds: (1_709_280_000 + Int64(minute) * 60) * 1_000_000_000),
                fields: ["ts_heart_rate": .integer(Int64(60 + minute % 30))])
        }
        _ = try database.write(batch)
        return database
    }

    @Test func `the article's queries answer`() throws {
        let folder = TemporaryDirectory()
        let database = try Self.database(folder.path)
        // Snippet: Read a result
        let result = try database.query(
            """
            SELECT mean(ts_heart_rate), count(ts_heart_rate) FROM dev
            WHERE time >= '2024-03-01' AND time < '2024-03-02'
            GROUP BY id_participant, time(1h) fill(none) tz('Asia/Singapore')
            """)
        for series in result.series {
            let participant = series.tag("id_participant") ?? ""
            let means = series.column("mean")?.doubles ?? []
            for (time, mean) in zip(series.times, means) {
                show(participant, time, mean)
            }
        }
        // End of snippet
        #expect(result.series.count == 2)

        // Snippet: Read rows as values of your own type
        let rates = try database.query(
            """
            SELECT mean(ts_heart_rate) FROM dev WHERE time >= '2024-03-01' AND time < '2024-03-02'
            GROUP BY id_participant, time(1h)
            """
        ).rows(as: HourlyRate.self)
        // rates[8].mean is 74.0
        // End of snippet
        #expect(rates[8].mean == 74 && rates.count == 48)

        let (participant, midnight) = ("p01", Timestamp("2024-03-01") ?? .min)
        // Snippet: Bind parameters
        let highest = try database.query(
            "SELECT max($field) FROM dev WHERE id_participant = $who AND time >= $since",
            parameters: [
                "field": QueryParameter.identifier("ts_heart_rate"), "who": participant,
                "since": midnight,
            ])
        // End of snippet
        #expect(highest.series.first?.column("max")?.integers == [88])

        // Snippet: Read large results
        var counter = RowCounter()
        let counters = try database.query(
            "SELECT ts_heart_rate FROM dev", into: &counter)
        // counter.rows equals counters.rowsReturned
        // End of snippet
        #expect(counter.rows == 120 && counters.rowsReturned == 120)

        // Snippet: See one moment
        let snapshot = try database.snapshot()
        let participants = try snapshot.query("SHOW TAG VALUES WITH KEY = id_participant")
        let total = try snapshot.query("SELECT count(ts_heart_rate) FROM dev")
        // End of snippet
        #expect(participants.series.first?.rowCount == 2 && total.series.count == 1)

        let noon = try #require(Timestamp("2024-03-01T12:00:00Z"))
        // Snippet: Change data
        try database.execute(
            "DELETE FROM dev WHERE id_participant = $who AND time < $end",
            parameters: ["who": participant, "end": noon])
        // End of snippet
        #expect(try database.rowCount() == 60)
        try database.close()
    }

    @Test func `the article's cursor returns all rows`() throws {
        let folder = TemporaryDirectory()
        let database = try Self.database(folder.path)
        // Snippet: Read large results
        let cursor = try database.cursor("SELECT ts_heart_rate FROM dev")
        var sum: Int64 = 0
        while let batch = try cursor.next() {
            for rate in batch.column("ts_heart_rate")?.integers ?? [] { sum += rate ?? 0 }
        }
        // End of snippet
        #expect(sum == 120 * 60 + 4 * 435)
        try database.close()
    }

    @Test func `the article's limits hold`() throws {
        let folder = TemporaryDirectory()
        let database = try Self.database(folder.path)
        // Snippet: Set limits
        var options = QueryOptions()
        var limits = QueryLimits()
        limits.rowCountMax = 1_000_000
        limits.memorySizeBytesMax = 256 << 20
        limits.durationMax = .seconds(10)
        options.limits = limits
        options.redactsSecrets = true
        // End of snippet
        let result = try database.query("SELECT ts_heart_rate FROM dev", options: options)
        #expect(result.series.count == 1)
        options.limits?.durationMax = .zero
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT ts_heart_rate FROM dev", options: options)
        }
        #expect(error?.kind == .limitExceeded)
        try database.close()
    }

    private func show(_ participant: String, _ time: Timestamp, _ mean: Double?) {}
}
