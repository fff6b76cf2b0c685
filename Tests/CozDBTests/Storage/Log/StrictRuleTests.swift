// The strict rule of types where the types come from a preset.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct StrictRuleTests {
    @Test(arguments: [false, true])
    func `the first point of a new experiment is held against its preset`(
        isSuggested: Bool
    ) throws {
        var options = DatabaseOptions()
        options.presets = [SchemaPreset(name: "study", fields: [.init("x", .float)])]
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        batch.settings.typeRule = .strict
        if isSuggested {
            batch.suggestedPreset = options.presets[0]
        } else {
            batch.settings.preset = "study"
        }
        for time in 0..<3 as Range<Int64> {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: time),
                fields: ["x": time == 1 ? .float(1) : .string("x"), "other": .integer(1)])
        }
        let report = try database.write(batch)
        #expect(report.refusedPoints == 2 && report.refusedValues == 0 && report.hasRefusals)
        #expect(try database.query("SELECT other FROM m").series[0].rowCount == 1)
        try database.close()
    }
}
