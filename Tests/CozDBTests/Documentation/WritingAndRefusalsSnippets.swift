// The code of the article Writing and refusals, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

// Snippet: Tell errors apart
enum Outcome {
    /// The batch is durable.
    case stored
    /// The batch or its use is wrong: sending it again does not help.
    case wrong
    /// The database cannot take it now: send it again later.
    case unavailable
}

func store(_ batch: WriteBatch, in database: Database) -> Outcome {
    do {
        _ = try database.write(batch)
        return .stored
    } catch {
        switch error.kind {
        case .usage, .limitExceeded: return .wrong
        default: return .unavailable
        }
    }
}
// End of snippet

// Snippet: Write values of your own types
struct WatchSample: Codable {
    var time: Timestamp
    var id_participant: String
    var ts_heart_rate: Double?
    var q_thermal: String?
}
// End of snippet

struct WritingAndRefusalsSnippets {
    @Test func `the article's rows are stored`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let time = Timestamp(nanoseconds: 1_709_280_000_000_000_000)

        // Snippet: Write values of your own types
        let samples = [
            WatchSample(time: time, id_participant: "p01", ts_heart_rate: 71),
            WatchSample(time: time, id_participant: "p02", q_thermal: "Warmer"),
        ]
        let report = try database.write(samples, experiment: "dev")
        // report.points is 2, report.values is 2, report.refusedValues is 0
        // End of snippet
        #expect(report.points == 2 && report.values == 2 && report.refusedValues == 0)
    }

    @Test func `the article's batches are stored and refused as it says`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let time = Timestamp(nanoseconds: 1_709_280_000_000_000_000)

        // Snippet: Read the report
        var batch = WriteBatch()
        batch.source = "upload 17"
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"], time: time,
            fields: ["ts_heart_rate": .float(71), "ws_survey_count": .integer(1)])
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p02"], time: time,
            fields: ["ts_heart_rate": .string("fast"), "ws_survey_count": .integer(4)])
        let report = try database.write(batch)
        // report.points is 2, report.values is 3, report.refusedValues is 1
        let examples = report.examples.map(\.description)
        // End of snippet
        #expect(report.points == 2 && report.values == 3 && report.refusedValues == 1)
        #expect(
            examples == [
                #"upload 17:2: dev ts_heart_rate="fast": "# + report.examples[0].reason
                    + " (p02, 2024-03-01T08:00:00Z)"
            ])

        // Snippet: Refuse the whole batch
        batch.isAllOrNothing = true
        // End of snippet
        #expect(store(batch, in: database) == .wrong)

        // Snippet: Read the rejects journal
        var waiting: [String] = []
        try database.rejects { entry throws(DatabaseError) in
            if entry.state == .waiting {
                waiting.append("\(entry.refusal.source): \(entry.refusal.reason)")
            }
            return true
        }
        // End of snippet
        #expect(waiting.count == 1 && waiting[0].hasPrefix("upload 17: "), "\(waiting)")

        // Snippet: Read the rejects journal
        try database.alter(experiment: "dev", field: "ts_heart_rate", type: .string)
        let replay = try database.replayRejects()
        // replay.replayed is 1
        // End of snippet
        #expect(replay.replayed == 1)
        try database.close()
    }

    @Test func `the article's handles write rows`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let samples: [Double] = [71, 74, 72]
        let start: Int64 = 1_709_280_000_000_000_000
        // Snippet: Write fast
        var batch = WriteBatch()
        let experiment = batch.experiment("dev".utf8.span)
        let tags = batch.tagSet(
            experiment: experiment, tags: [(name: "id_participant", value: "p01")])
        let rate = batch.column(
            experiment: experiment, name: "ts_heart_rate".utf8.span, type: .float)
        for (index, sample) in samples.enumerated() {
            batch.append(sample, to: rate)
            batch.endRow(
                tagSet: tags, time: start + Int64(index) * 1_000_000_000, line: index + 1)
        }
        let report = try database.write(batch)
        batch.removeAll()  // keeps its memory for the next points; its handles are invalid now
        // End of snippet
        #expect(report.values == 3)

        // Snippet: Delete
        let deleted = try database.delete(experiment: "dev", tags: ["id_participant": "p01"])
        // deleted.rows is 3
        // End of snippet
        #expect(deleted.rows == 3)
        try database.close()
    }
}
