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
}
