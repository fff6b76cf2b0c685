// The limit of the time of a query, and how it differs from cancelling.

internal import CozTestSupport
internal import Synchronization
internal import Testing

@testable internal import CozDB

struct QueryTimerTests {
    /// Seconds of work, if nothing ends it.
    private static let slow =
        "SELECT count(s) FROM m WHERE s =~ /(?i)(\\p{Han}|\\pL|x?y?z?){300}$/"

    private let database: Database

    init() throws {
        database = try Database.inMemory()
        var batch = WriteBatch()
        for row in 0..<20_000 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)),
                fields: ["f": .integer(Int64(row)), "s": "words of text \(row)"])
        }
        _ = try database.write(batch)
    }

    private func limited(_ duration: Duration) -> QueryOptions {
        var limits = QueryLimits()
        limits.durationMax = duration
        var options = QueryOptions()
        options.limits = limits
        return options
    }

    private func failure(_ text: String, _ options: QueryOptions) -> DatabaseError? {
        do throws(DatabaseError) {
            _ = try database.query(text, options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a query that runs too long ends with the limit`() throws {
        for duration in [Duration.milliseconds(20), .zero, .seconds(-1)] {
            let error = try #require(failure(Self.slow, limited(duration)))
            #expect(error.kind == .limitExceeded)
            #expect(error.message.contains("durationMax"))
        }
        #expect(failure("SELECT count(f) FROM m", limited(.seconds(Int64.max) * 10)) == nil)
    }

    @Test func `the limit is that of all statements of a text`() throws {
        let text = Array(repeating: Self.slow, count: 50).joined(separator: ";")
        #expect(failure(text, limited(.milliseconds(30)))?.kind == .limitExceeded)
    }

    @Test func `a query that its caller cancels is cancelled`() throws {
        var options = limited(.seconds(3600))
        options.isCancelled = { true }
        #expect(failure(Self.slow, options)?.kind == .cancelled)
    }

    @Test func `the limit of the database holds where a query sets none`() async throws {
        var options = DatabaseOptions()
        options.queryLimits.durationMax = .zero
        let other = try Database.inMemory(options: options)
        _ = try await other.write(batch())
        let error = await #expect(throws: DatabaseError.self) {
            try await other.query("SELECT f FROM m")
        }
        #expect(error?.kind == .limitExceeded)
        try await other.execute("DELETE FROM m", options: limited(.seconds(60)))
        #expect(try await other.schemas().first?.fields.count == 1)
    }

    private func batch() throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: .now, fields: ["f": 1])
        return batch
    }

    @Test func `the pauses of a cursor do not count`() async throws {
        let options = limited(.milliseconds(1500))
        let cursor = try await database.cursor("SELECT f, s FROM m", options: options)
        var rows = 0
        for try await batch in cursor {
            rows += batch.times.count
            if rows == batch.times.count { try await Task.sleep(for: .milliseconds(1600)) }
        }
        #expect(rows == 20_000)
    }
}
