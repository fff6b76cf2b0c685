// The code of the article Fields and types, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Testing

struct FieldsAndTypesSnippets {
    @Test func `the article's settings and declarations hold`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        // Snippet: Register a preset
        var options = DatabaseOptions()
        options.refusalPolicy = .throw
        options.presets = [
            SchemaPreset(
                name: "wristbands",
                fields: [
                    SchemaPreset.Field("ts_heart_rate", .float, unit: "count/min"),
                    SchemaPreset.Field("q_*", .string),
                ])
        ]
        let database = try Database.open(path, options: options)
        // End of snippet

        // Snippet: Choose settings
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(
            identity: .tags(["site", "id_participant"]), preset: "wristbands")
        // End of snippet
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01", "site": "a"],
            time: Timestamp(nanoseconds: 1), fields: ["q_age": .string("31")])
        _ = try database.write(batch)

        // Snippet: Declare a field
        try database.declare(
            experiment: "dev",
            fields: [
                SchemaPreset.Field(
                    "q_thermal", .string, question: "How would you prefer to be?",
                    options: ["Cooler", "No change", "Warmer"])
            ])
        // End of snippet

        // Snippet: Look at fields
        for info in try database.columns(of: "dev") {
            show(info.column.name, info.column.type, count: info.count, bytes: info.bytes)
        }
        // End of snippet
        let schema = try #require(try database.schemas().first)
        #expect(schema.identity == .tags(["site", "id_participant"]))
        #expect(schema.declaration(of: "q_thermal")?.options.count == 3)
        try database.close()
    }

    private func show(_ name: String, _ type: FieldType, count: Int, bytes: Int) {}
}
