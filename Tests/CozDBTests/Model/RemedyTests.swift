// Errors say what to do as a remedy, which front ends put into their own words.

internal import CozTestSupport
@testable internal import CozDB
internal import Testing

struct RemedyTests {
    @Test func `an error has no remedy unless it is given one`() {
        #expect(DatabaseError(.usage, "x").remedy == nil)
        let error = DatabaseError(.usage, "x", remedy: .change([.participantTag, .identity]))
        #expect(error.remedy == .change([.participantTag, .identity]))
        #expect(error.description == "x")
    }

    @Test func `missing files of a database are repaired`() {
        let error = DatabaseError(.notFound, "x", file: "db/1.seg").asDamageIfMissing
        #expect(error.kind == .damaged && error.remedy == .repair)
        #expect(error.message.contains("repair the database"))
    }

    @Test func `settings that differ from an experiment's are named`() {
        let schema = ExperimentSchema(
            id: 0, name: "m", identity: .allTags, typeRule: .lossless, preset: SchemaPreset.none)
        var settings = ExperimentSettings()
        settings.typeRule = .strict
        let error = #expect(throws: DatabaseError.self) { try schema.check(settings) }
        #expect(error?.remedy == .change([.typeRule]))
        settings = ExperimentSettings()
        settings.identity = .standard
        let other = #expect(throws: DatabaseError.self) { try schema.check(settings) }
        #expect(other?.remedy == .change([.identity]))
    }

    @Test func `lists of forgotten participants are exported again`() {
        let error = #expect(throws: DatabaseError.self) { try ForgottenList(text: "p1\np2\n") }
        #expect(error?.remedy == .listForgotten)
    }
}
