// Answers do not depend on where rows lie: in memory, in several segments, or in one.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct LayoutIndependenceTests {
    private struct Point {
        var participant: String
        var time: Int64
        var tags: [String: String] = [:]
        var fields: [String: FieldValue] = ["f": .float(1)]
    }

    private static func write(_ points: [Point], to database: Database) throws {
        var batch = WriteBatch()
        for point in points {
            try batch.add(
                experiment: "m",
                tags: point.tags.merging(["id_participant": point.participant]) { $1 },
                time: Timestamp(nanoseconds: point.time), fields: point.fields)
        }
        _ = try database.write(batch)
    }

    /// The answer of a statement from memory, from a segment for each point, and from one segment.
    private func answers(_ points: [Point], _ statement: String) throws -> [String] {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        var answers: [String] = []
        for isFlushed in [false, true] {
            let database = try Database.open(
                "db", access: .readWrite, options: options, on: FaultyFileSystem())
            for point in points {
                try Self.write([point], to: database)
                if isFlushed { try database.flush() }
            }
            answers.append(try Self.answer(database, statement))
            guard isFlushed else { continue }
            try database.compact()
            answers.append(try Self.answer(database, statement))
        }
        return answers
    }

    private static func answer(_ database: Database, _ statement: String) throws -> String {
        let options = QueryOptions(now: Timestamp(nanoseconds: 1000))
        return try database.query(statement, options: options).series.map { series in
            let columns = series.columns.map { column in
                "\((0..<series.rowCount).map { column.value($0)?.plainText ?? "-" })"
            }
            return "\(series.header.tags) \(columns)"
        }.joined(separator: "\n")
    }

    private static let statements = [
        "SELECT mean(f) FROM m WHERE time > 10 AND time < 60 GROUP BY id_participant SLIMIT 1",
        "SELECT mean(f) FROM m WHERE time > 10 AND time < 60 GROUP BY id_participant SOFFSET 1",
        "SELECT f FROM m WHERE time > 10 AND time < 60 GROUP BY id_participant SLIMIT 1",
        "SELECT mean(f) FROM m WHERE time > 10 GROUP BY id_participant SLIMIT 2",
        "SHOW TAG KEYS FROM m WHERE time > 10", "SHOW TAG KEYS FROM m WHERE time < 10",
        "SHOW SERIES FROM m WHERE time > 10 AND time < 20",
        "SHOW SERIES FROM m WHERE time > 10 AND time < 60",
        "SHOW TAG VALUES FROM m WITH KEY = build WHERE time > 10",
    ]

    @Test(arguments: statements)
    func `bounds of time mean rows, wherever these lie`(statement: String) throws {
        let points = [
            Point(participant: "a", time: 1, tags: ["build": "z"]),
            Point(participant: "b", time: 50, fields: ["f": .float(2)]),
            Point(participant: "a", time: 100),
        ]
        let answers = try answers(points, statement)
        #expect(Set(answers).count == 1, "\(answers)")
    }

    @Test func `tags of rows outside of the bounds are not shown`() throws {
        let points = [
            Point(participant: "a", time: 1, tags: ["build": "z"]),
            Point(participant: "a", time: 100),
        ]
        for answer in try answers(points, "SHOW TAG KEYS FROM m WHERE time > 10") {
            #expect(!answer.contains("build"))
        }
        for answer in try answers(points, "SHOW SERIES FROM m WHERE time > 10 AND time < 20") {
            #expect(answer.isEmpty)
        }
    }

    @Test func `a tag without values is not shown, wherever other rows lie`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        try Self.write(
            [
                Point(participant: "a", time: 1, tags: ["build": "z"]),
                Point(participant: "b", time: 1),
            ], to: database)
        try database.delete(experiment: "m", tags: ["build": "z"])
        for time in 2...3 {
            #expect(try Self.answer(database, "SHOW TAG KEYS").contains("build") == false)
            try Self.write([Point(participant: "b", time: Int64(time))], to: database)
            #expect(try Self.answer(database, "SHOW TAG KEYS").contains("build") == false)
            try database.flush()
        }
    }

    @Test(arguments: [
        "SELECT count(k) FROM m WHERE coalesce(v, x) / 2 = 1",
        "SELECT count(k) FROM m WHERE coalesce(v, x) / 2 = 1.5",
        "SELECT count(k) FROM m WHERE coalesce(v, x) / 2 = 1.5 AND time < 10",
        "SELECT k FROM m WHERE coalesce(v, x, 7) * 4611686018427387904 > 0",
        "SELECT coalesce(v, x) * 4611686018427387904 FROM m",
        "SELECT max(coalesce(v, x)), count(k) FROM m",
        "SELECT k FROM m WHERE (coalesce(y, false) | abs(v)) = true",
        "SELECT k FROM m WHERE (x & k) IS NOT NULL",
    ])
    func `coalesce has one type, whichever columns a batch has`(statement: String) throws {
        var points: [Point] = []
        for time in 0..<5 {
            points.append(
                Point(participant: "a", time: Int64(time), fields: ["v": .integer(3)]))
            points.append(
                Point(participant: "a", time: Int64(time) + 20, fields: ["x": .float(3)]))
        }
        for index in points.indices { points[index].fields["k"] = .integer(1) }
        points.append(Point(participant: "a", time: 50, fields: ["y": .boolean(true)]))
        points.sort { $0.time < $1.time }
        let answers = try answers(points, statement)
        #expect(Set(answers).count == 1, "\(answers)")
        if statement.hasSuffix("= 1.5") { #expect(answers[0].contains("10")) }
    }

    @Test(arguments: [
        "SELECT percentile(f, 50), max(k) FROM m",
        "SELECT percentile(f, 40), percentile(f, 60) FROM m",
        "SELECT percentile(f, 50), max(k) FROM m GROUP BY id_participant",
        "SELECT median(f), mode(f) FROM m",
    ])
    func `zeros of both signs have one order`(statement: String) throws {
        let values = [0.0, -0.0, 1, 0.0, -0.0, -1, -0.0, 0.0, -0.0]
        let points = [8, 2, 5, 0, 7, 3, 1, 6, 4].map { time in
            Point(
                participant: "p\(time % 2)", time: Int64(time),
                fields: ["f": .float(values[time]), "k": .integer(Int64(time))])
        }
        let answers = try answers(points, statement)
        #expect(Set(answers).count == 1, "\(answers)")
    }

    @Test(arguments: [
        "SHOW SERIES FROM m WHERE build = ''", "SHOW SERIES FROM m WHERE build != 'z'",
        "SHOW TAG VALUES FROM m WITH KEY = id_participant WHERE build = ''",
        "SHOW SERIES EXACT CARDINALITY FROM m WHERE build = '' AND id_participant != 'b'",
        "SHOW TAG KEYS FROM m WHERE build = ''", "SHOW TAG KEYS FROM m WHERE build = 'z'",
    ])
    func `a row that was written twice is one row for SHOW`(statement: String) throws {
        let points = [
            Point(participant: "a", time: 1, tags: ["build": "z"]),
            Point(participant: "a", time: 1, tags: ["build": "z"]),
            Point(participant: "b", time: 1),
        ]
        let answers = try answers(points, statement)
        #expect(Set(answers).count == 1, "\(answers)")
        let isAboutMissing = !statement.contains("build = 'z'")
        #expect(answers[0].contains("build") != isAboutMissing, "\(answers)")
        #expect(!answers[0].contains("=a"), "\(answers)")
    }
}
