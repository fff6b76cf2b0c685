// WHERE over many experiments: bound once where its names mean the same, counted where they do not.

internal import CozDB
internal import CozTestSupport
internal import Testing

struct ConditionMemoryTests {
    private static let names = (0..<8).map { "f\($0)" }
    private static let condition =
        names.map { "\($0) = 1" }.joined(separator: " OR ") + " OR id_participant IN ("
        + (0..<4000).map { "'p\($0)'" }.joined(separator: ", ") + ")"

    /// Opens a database of experiments whose fields a function chooses.
    private func database(
        _ path: String, _ fields: (Int) -> [String]
    ) throws -> Database {
        let database = try Database.open(path)
        var batch = WriteBatch()
        for number in 0..<200 {
            let values = Dictionary(
                uniqueKeysWithValues: fields(number).map { ($0, FieldValue.integer(2)) })
            try batch.add(
                experiment: "e\(number)", tags: ["id_participant": "p\(number)"],
                time: Timestamp(nanoseconds: 1), fields: values)
        }
        _ = try database.write(batch)
        return database
    }

    private static var options: QueryOptions {
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.memorySizeBytesMax = 20 << 20
        return options
    }

    private static let statements = [
        "SELECT count(x) FROM /e/ WHERE \(condition)", "DELETE FROM /e/ WHERE \(condition)",
    ]

    @Test func `experiments of the same fields share a condition`() throws {
        let directory = TemporaryDirectory()
        let database = try database(directory.path) { _ in Self.names + ["x"] }
        for statement in Self.statements {
            let result = try database.execute(statement, options: Self.options)
            #expect(!result.series.isEmpty)
        }
        #expect(try database.rowCount() == 0)
        try database.close()
    }

    @Test func `conditions of experiments with other fields are counted`() throws {
        let directory = TemporaryDirectory()
        let database = try database(directory.path) { number in
            Self.names.enumerated().filter { number >> $0.offset & 1 == 1 }.map(\.element) + ["x"]
        }
        for statement in Self.statements {
            let error = #expect(throws: DatabaseError.self) {
                try database.execute(statement, options: Self.options)
            }
            #expect(error?.kind == .limitExceeded)
            #expect(error?.message.hasPrefix("WHERE needs ") == true)
        }
        let result = try database.query(Self.statements[0])
        #expect(result.series.count == 200)
        try database.close()
    }

    @Test(arguments: [
        "TAG KEYS", "TAG VALUES FROM /e/ WITH KEY = id_participant", "SERIES", "MEASUREMENTS",
        "FIELDS", "SERIES EXACT CARDINALITY",
    ])
    func `a long WHERE of SHOW over very many experiments is refused`(_ subject: String) throws {
        let directory = TemporaryDirectory()
        let database = try database(directory.path) { _ in ["x"] }
        func statement(_ count: Int) -> String {
            let names = (0..<count).map { "'p\($0)'" }.joined(separator: ", ")
            return "SHOW \(subject) WHERE id_participant IN (\(names))"
        }
        var options = QueryOptions()
        options.limits = QueryLimits()
        options.limits?.textSizeBytesMax = 8 << 20
        let error = #expect(throws: DatabaseError.self) {
            try database.query(statement(170_000), options: options)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(
            error?.message.hasPrefix(
                "found 170002 names and values in WHERE and 200 experiments, expected at most "
                    + "33554432 combinations") == true)
        let result = try database.query(statement(100), options: options)
        #expect(!result.series.isEmpty)
        try database.close()
    }
}
