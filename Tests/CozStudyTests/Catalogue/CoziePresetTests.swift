// The preset cozie-v3 as data, and as an experiment is created with it.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct CoziePresetTests {
    private let directory = TemporaryDirectory()

    private func batch(
        _ fields: [String: FieldValue], preset: String?
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.settings.preset = preset
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p1"],
            time: Timestamp(nanoseconds: 1_000), fields: fields)
        return batch
    }

    @Test func `every field is named once, and what is counted is whole`() {
        let fields = SchemaPreset.cozieV3.fields
        #expect(Set(fields.map(\.name)).count == fields.count)
        let types = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.type) })
        #expect(types["ts_heart_rate"] == .float)
        #expect(types["ws_sleep_core"] == .float)
        #expect(types["ws_survey_count"] == .integer)
        #expect(types["app_bundle_build_version"] == .string)
    }

    @Test func `an experiment made with it knows types and units before the first value`() throws {
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        let database = try Database.open(directory.path, options: options)
        let report = try database.write(
            batch(
                ["ts_heart_rate": .integer(61), "ws_survey_count": .float(1.5)],
                preset: "cozie-v3"))
        #expect(report.convertedValues == 1)
        #expect(report.refusedValues == 1)
        let stored = try database.schemas().first
        #expect(stored?.fields.map(\.name) == ["ts_heart_rate"], "what is refused creates nothing")
        try database.close()

        let reader = try Database.open(directory.path, access: .readOnly)
        let schema = try #require(try reader.schemas().first)
        #expect(schema.preset == "cozie-v3")
        #expect(schema.field("ts_heart_rate")?.unit == "count/min")
        #expect(schema.declaration(of: "ws_stand_time")?.type == .float)
        #expect(schema.field("ws_stand_time") == nil, "what nobody wrote is no field")
    }

    @Test func `it is stored: a program that does not know it goes on with it`() throws {
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        let first = try Database.open(directory.path, options: options)
        _ = try first.write(batch(["ts_heart_rate": .float(61)], preset: "cozie-v3"))
        try first.close()
        let second = try Database.open(directory.path)
        for preset in ["cozie-v3", nil] {
            let report = try second.write(batch(["ws_HRV": .string("x")], preset: preset))
            #expect(report.refusedValues == 1)
        }
        #expect(throws: DatabaseError.self) {
            _ = try second.write(batch(["ws_HRV": .float(1)], preset: "none"))
        }
        try second.close()
    }

    @Test func `an unknown preset is refused before anything is stored`() throws {
        var options = DatabaseOptions()
        options.presets = [.cozieV3]
        let database = try Database.open(directory.path, options: options)
        let error = #expect(throws: DatabaseError.self) {
            _ = try database.write(batch(["v": .float(1)], preset: "cozie-v4"))
        }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("cozie-v3, none") == true)
        #expect(try database.schemas().isEmpty)
        try database.close()
    }
}
