// The code of the article Getting started, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

struct GettingStartedSnippets {
    @Test func `the article opens, writes, reads and closes`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Open a database
        let database = try Database.open(path)
        // End of snippet

        // Snippet: Write
        var batch = WriteBatch()
        for (minute, rate) in [71, 74, 72, 73].enumerated() {
            let seconds = 1_709_280_000 + Int64(minute) * 60
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p01", "device": "watch"],
                time: Timestamp(nanoseconds: seconds * 1_000_000_000),
                fields: ["ts_heart_rate": .integer(Int64(rate))])
        }
        let report = try database.write(batch)  // durable when it returns
        // End of snippet
        #expect(report.points == 4 && report.values == 4 && report.refusedValues == 0)

        // Snippet: Query
        let result = try database.query(
            "SELECT mean(ts_heart_rate), max(ts_heart_rate) FROM dev GROUP BY id_participant")
        var lines: [String] = []
        for series in result.series {
            guard let participant = series.tag("id_participant"),
                case .float(let mean)? = series.column("mean")?.value(0),
                case .integer(let highest)? = series.column("max")?.value(0)
            else { continue }
            lines.append("\(participant): mean \(mean), highest \(highest)")
        }
        // lines is ["p01: mean 72.5, highest 74"]
        // End of snippet
        #expect(lines == ["p01: mean 72.5, highest 74"])

        // Snippet: Write again
        var correction = WriteBatch()
        let time = Timestamp("2024-03-01T08:01:00Z") ?? .min
        try correction.add(
            experiment: "dev", tags: ["id_participant": "p01"], time: time,
            fields: ["ts_heart_rate": 70, "q_thermal": "Warmer"])
        _ = try database.write(correction)

        let rows = try database.query("SELECT ts_heart_rate, q_thermal FROM dev")
        let rates = rows.series.first?.column("ts_heart_rate")?.integers ?? []
        let answers = rows.series.first?.column("q_thermal")?.texts ?? []
        // rates is [71, 70, 72, 73], answers is [nil, "Warmer", nil, nil]
        // End of snippet
        #expect(rates == [71, 70, 72, 73])
        #expect(answers == [nil, "Warmer", nil, nil])

        // Snippet: Close
        try database.close()
        // End of snippet
    }
}
