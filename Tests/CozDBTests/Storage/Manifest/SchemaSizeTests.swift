// Whatever is accepted into the schemas fits into a manifest that readers accept.

import CozTestSupport
import Testing

@testable import CozDB

struct SchemaSizeTests {
    private let folder = TemporaryDirectory()

    /// Calls the body until a limit refuses it, then opens the database again.
    ///
    /// - Returns: how often the body succeeded.
    private func fill(_ count: Int, _ body: (Database, Int) throws -> Void) throws -> Int {
        let database = try Database.open(folder.path)
        var accepted = 0
        do {
            for number in 0..<count {
                try body(database, number)
                accepted += 1
            }
        } catch let error as DatabaseError {
            #expect(error.kind == .limitExceeded)
        }
        try database.close()
        let reopened = try Database.open(folder.path, access: .readOnly)
        try reopened.close()
        return accepted
    }

    @Test func `notes declared for fields with values`() throws {
        let accepted = try fill(200) { database, number in
            if number == 0 {
                var batch = WriteBatch()
                let fields = (0..<200).map { ("q\($0)", FieldValue.integer(1)) }
                try batch.add(
                    experiment: "dev", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: 1),
                    fields: Dictionary(uniqueKeysWithValues: fields))
                _ = try database.write(batch)
            }
            let note = String(repeating: "n", count: 60_000)
            _ = try database.declare(
                experiment: "dev", fields: [.init("q\(number)", .integer, note: note)])
        }
        // Each note is there twice: in the declaration and in the column.
        #expect((120..<140).contains(accepted))
    }

    @Test func `long identity tags`() throws {
        let accepted = try fill(5) { database, number in
            let tags = (0..<100).map { "\($0)" + String(repeating: "t", count: 65_500) }
            _ = try database.declare(
                experiment: "e\(number)", fields: [.init("f", .float)],
                settings: ExperimentSettings(identity: .tags(tags)))
        }
        #expect(accepted == 2)
    }

    @Test func `participant tags of deleted experiments`() {
        var schemas = SchemaSet()
        for id in 1...10 {
            let tag = "\(id)" + String(repeating: "t", count: 1000)
            schemas.insert(
                ExperimentSchema(
                    id: id, name: "m", identity: .participant(tag: tag), typeRule: .lossless,
                    preset: "none"))
            let before = schemas.sizeBytes
            schemas.remove(id)
            #expect(schemas.sizeBytes > id * 1000 && schemas.sizeBytes <= before)
        }
    }

    @Test func `what is removed does not count`() throws {
        var schemas = SchemaSet()
        schemas.apply(
            .experiment(
                ExperimentSchema(
                    id: 1, name: "m", identity: .standard, typeRule: .lossless, preset: "none")))
        let before = schemas.sizeBytes
        let note = String(repeating: "n", count: 1000)
        var sizes: [Int] = []
        for id in 0..<3 {
            schemas.apply(
                .column(experiment: 1, Column(id: id, name: "f", kind: .field, type: .float)))
            schemas.apply(.declaration(experiment: 1, .init("f", .float, unit: "s", note: note)))
            schemas.apply(.declaration(experiment: 1, .init("f", .float)))
            schemas.remove(id, of: 1)
            sizes.append(schemas.sizeBytes - before)
        }
        // The number of a column remains.
        #expect(sizes.allSatisfy { $0 < 200 }, "\(sizes)")
        schemas.remove(1)
        #expect(schemas.sizeBytes == 0)
    }

    @Test func `names of experiments are separated`() {
        var schemas = SchemaSet()
        for (id, name) in [(1, "x (1)"), (2, "x (1)"), (3, "x"), (4, "x"), (5, "y")] {
            schemas.insert(
                ExperimentSchema(
                    id: id, name: name, identity: .standard, typeRule: .lossless, preset: "none"))
        }
        let renamed = schemas.separateNames { $0 == 3 }
        #expect(renamed.map(\.new) == ["x (2)"])
        #expect(schemas.all.map(\.name) == ["x", "x (1)", "x (2)", "y"])
        #expect(schemas.all.allSatisfy { schemas.named($0.name)?.id == $0.id })
        #expect(schemas.named("x (1)")?.id == 2)
        #expect(schemas.named("x")?.id == 4)
    }

    @Test func `no preset is called none`() throws {
        let database = try Database.open(folder.path)
        var batch = WriteBatch()
        batch.suggestedPreset = SchemaPreset(
            name: SchemaPreset.none, fields: [.init("f", .string)])
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["f": .string("x")])
        let error = #expect(throws: DatabaseError.self) { _ = try database.write(batch) }
        #expect(error?.kind == .usage)
    }
}
