// A small database of one study, for tests of summaries.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

/// Points of a study, asked for summaries once they are written.
struct BraceletStudy {
    private let directory = TemporaryDirectory()
    private let database: Database
    private var batch = WriteBatch()

    init() throws {
        var options = DatabaseOptions()
        options.presets = [.braceletRaw]
        database = try Database.open(directory.path, options: options)
    }

    /// - Parameter time: RFC 3339.
    mutating func add(
        _ time: String, of participant: String = "p1", _ fields: [String: FieldValue]
    ) throws {
        try add(try #require(Timestamp(time)).nanoseconds, of: participant, fields)
    }

    /// - Parameter time: nanoseconds since 1970.
    mutating func add(
        _ time: Int64, of participant: String = "p1", _ fields: [String: FieldValue]
    ) throws {
        try batch.add(
            experiment: "study", tags: ["id_participant": participant],
            time: Timestamp(nanoseconds: time), fields: fields)
    }

    /// Writes what was added; half of the tests' questions go to segments, half to memory.
    mutating func write(flushes: Bool = false) throws {
        if !batch.isEmpty { _ = try database.write(batch) }
        batch.removeAll()
        if flushes { try database.flush() }
    }

    /// - Parameter change: what is not the default in the request.
    func summaries(
        _ day: String, days: Int = 1, zone: String = "UTC",
        _ change: (inout SummaryRequest) throws -> Void = { _ in }
    ) throws -> BraceletSummaries {
        var request = SummaryRequest(
            experiment: "study", participants: ["p1"], firstDay: try #require(LocalDate(day)),
            zone: try TimeZoneRules(named: zone),
            now: try #require(Timestamp("2026-01-01T00:00:00Z")))
        request.dayCount = days
        try change(&request)
        return BraceletSummaries(try database.snapshot(), request)
    }
}

extension Timestamp {
    /// Nanoseconds since 1970 of an RFC 3339 text that a test is sure of.
    static func nanoseconds(_ text: String) -> Int64 { Timestamp(text)?.nanoseconds ?? 0 }
}

let minute: Int64 = 60_000_000_000
