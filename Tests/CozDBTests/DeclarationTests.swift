// What is declared of fields: kept, found again, and decisive when a field is first written.

import CozDB
import CozTestSupport
import Testing

struct DeclarationTests {
    let directory = TemporaryDirectory()

    private func batch(_ fields: [String: FieldValue]) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: fields)
        return batch
    }

    private static let question = SchemaPreset.Field(
        "q_warm", .string, question: "Are you warm?", options: ["No", "Yes"])

    @Test func `questions and options survive without a value, a flush and a reopening`() throws {
        let database = try Database.open(directory.path)
        let first = try database.declare(experiment: "dev", fields: [Self.question])
        let again = try database.declare(experiment: "dev", fields: [Self.question])
        #expect(again.sequence <= first.sequence, "the same again stores nothing")
        for isClosed in [false, true] {
            if isClosed { try database.close() }
            let reader = try Database.open(directory.path, access: .readOnly)
            let schema = try #require(try reader.schemas().first)
            #expect(schema.declaration(of: "q_warm") == Self.question)
            #expect(schema.fields.isEmpty)
            try reader.close()
        }
    }

    @Test func `a declared type holds from the first value on`() throws {
        let database = try Database.open(directory.path)
        try database.declare(
            experiment: "dev",
            fields: [.init("n", .integer, unit: "s"), .init("x", .float, note: "why")])
        let report = try database.write(
            batch(["n": .float(2), "x": .integer(1), "other": .integer(3)]))
        #expect(report.values == 3)
        #expect(report.convertedValues == 2)
        let schema = try #require(try database.schemas().first)
        #expect(schema.field("n")?.type == .integer)
        #expect(schema.field("n")?.unit == "s")
        #expect(schema.field("x")?.note == "why")
        #expect(schema.field("other")?.type == .integer)
        try database.close()
    }

    @Test func `a field that is there keeps its type, and the report says so`() throws {
        let database = try Database.open(directory.path)
        _ = try database.write(batch(["q_warm": .float(1)]))
        let report = try database.declare(experiment: "dev", fields: [Self.question])
        #expect(report.conflicts.map(\.field) == ["q_warm"])
        #expect(report.conflicts.first?.locked == .float)
        let schema = try #require(try database.schemas().first)
        #expect(schema.field("q_warm")?.type == .float)
        #expect(schema.declaration(of: "q_warm")?.question == "Are you warm?")
        try database.close()
    }

    @Test func `in a preset names go before patterns, longer patterns before shorter`() throws {
        var options = DatabaseOptions()
        options.presets = [
            SchemaPreset(
                name: "p",
                fields: [
                    .init("*_ms", .float), .init("q_*", .string), .init("q_*_ms", .integer),
                    .init("q_a_ms", .boolean),
                ])
        ]
        let database = try Database.open(directory.path, options: options)
        var batch = try batch([
            "a_ms": .integer(1), "q_x": .string("1"), "q_b_ms": .float(1), "q_a_ms": .boolean(true),
            "_ms": .integer(1), "q_": .string(""), "ms": .integer(1),
        ])
        batch.settings.preset = "p"
        #expect(try database.write(batch).refusedValues == 0)
        let types = try #require(try database.schemas().first).fields.map {
            "\($0.name) \($0.type)"
        }
        #expect(
            types == [
                "_ms float", "a_ms float", "ms integer", "q_ string", "q_a_ms boolean",
                "q_b_ms integer", "q_x string",
            ])
        try database.close()
    }

    @Test func `a suggested preset makes new experiments and checks none`() throws {
        let database = try Database.open(directory.path)
        _ = try database.write(batch(["x": .integer(1)]))
        let preset = SchemaPreset(name: "p", fields: [.init("*", .float)])
        for name in ["dev", "new"] {
            var batch = WriteBatch()
            batch.suggestedPreset = preset
            try batch.add(
                experiment: name, tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 2),
                fields: ["y": .integer(1)])
            _ = try database.write(batch)
        }
        let schemas = try database.schemas()
        #expect(schemas.map(\.preset) == ["none", "p"])
        #expect(schemas.map { $0.field("y")?.type } == [.integer, .float])
        try database.close()
    }

    @Test func `names and texts that are too long are refused before anything is stored`() throws {
        let database = try Database.open(directory.path)
        let long = String(repeating: "x", count: 65_536)
        for field in [
            SchemaPreset.Field("", .float), .init(long, .float), .init("a", .float, note: long),
            .init("a", .string, options: ["ok", long]),
        ] {
            #expect { try database.declare(experiment: "dev", fields: [field]) } throws: { error in
                (error as? DatabaseError)?.kind == .usage
            }
        }
        #expect(try database.schemas().isEmpty)
        try database.close()
    }

    @Test func `a preset that names a field twice is refused before anything is stored`() throws {
        let database = try Database.open(directory.path)
        var batch = try batch(["x": .integer(1)])
        batch.suggestedPreset = SchemaPreset(
            name: "p", fields: [.init("y", .float), .init("y", .string)])
        let twice = batch
        let error = #expect(throws: DatabaseError.self) { try database.write(twice) }
        #expect(error?.kind == .usage)
        #expect(error?.message == "the preset \"p\" names a field twice")
        #expect(try database.schemas().isEmpty)
        try database.close()
    }
}
