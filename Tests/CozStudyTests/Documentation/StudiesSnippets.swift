// The code of the article Studies, which DocumentationTests compares with the article.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct StudiesSnippets {
    @Test func `the article's questions are answered`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Make up data
        let database = try Database.open(path)
        var sample = SampleData()
        sample.participants = 2
        sample.days = 3

        var parser = LineProtocolParser()
        var batch = WriteBatch()
        try sample.write { bytes throws(DatabaseError) in
            parser.append(bytes.span)
            _ = try parser.parse(into: &batch, points: .max)
        }
        _ = try database.write(batch)
        // End of snippet

        // Snippet: Ask a question
        let now = Timestamp("2024-03-04T00:00:00Z") ?? .max
        var options = StudyOptions(now: now)
        options.zone = "Asia/Singapore"
        options.goal = 10
        let study = try Study(database.snapshot(), experiment: "demo", options: options)

        let answer = try study.goal()
        for row in answer.rows {
            show(row.participant, row.day, row.valid, of: row.goal ?? 0)
        }
        // End of snippet
        #expect(study.participants.count == 2 && !answer.rows.isEmpty)

        // Snippet: Compute daily summaries
        let zone = try TimeZoneRules(named: "Asia/Singapore")
        guard let day = LocalDate("2024-03-01") else { return }
        var request = SummaryRequest(
            experiment: "demo", participants: [], firstDay: day, zone: zone, now: now)
        request.dayCount = 3
        let summaries = try BraceletSummaries(database.snapshot(), request).bpm()
        // End of snippet
        #expect(summaries.count == 2 && summaries.allSatisfy { $0.summaries.count == 3 })

        // Snippet: Export rows
        var csv: [UInt8] = []
        let export = ResearcherExport(ResearcherRequest(experiment: "demo", now: now))
        let summary = try export.write(from: database.snapshot()) { bytes throws(DatabaseError) in
            csv += bytes
        }
        // End of snippet
        #expect(summary.rows > 0 && !csv.isEmpty)
        try database.close()
    }

    private func show(_ participant: String, _ day: LocalDate, _ valid: Int, of goal: Int) {}
}
