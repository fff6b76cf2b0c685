// Structures whose changed copies share most of the original.

import CozTestSupport
import Testing

@testable import CozDB

struct PartitionedDictionaryTests {
    @Test func `a changed copy leaves the original as it was, at every size`() {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        var dictionary = PartitionedDictionary<Name, Int>()
        var model: [Name: Int] = [:]
        var kept: [(PartitionedDictionary<Name, Int>, [Name: Int])] = []
        for step in 0..<4000 {
            let key = Name("f\(Int.random(in: 0..<1500, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                dictionary[key] = nil
                model[key] = nil
            case 1:
                dictionary.update(key) { $0 += 1 }
                model[key]? += 1
            default:
                dictionary[key] = step
                model[key] = step
            }
            #expect(dictionary.count == model.count, "seed \(seed)")
            if step % 200 == 0 { kept.append((dictionary, model)) }
        }
        kept.append((dictionary, model))
        for (dictionary, model) in kept {
            #expect(model.allSatisfy { dictionary[$0] == $1 }, "seed \(seed)")
            #expect(dictionary.values.sorted() == model.values.sorted(), "seed \(seed)")
            #expect(dictionary[Name("absent")] == nil)
        }
    }

    @Test func `columns of a changed copy leave the original as it was`() {
        var schema = ExperimentSchema(
            id: 1, name: "e", identity: .allTags, typeRule: .lossless, preset: "none")
        var kept: [ExperimentSchema] = []
        for number in 0..<1000 {
            if number % 200 == 0 { kept.append(schema) }
            schema.add(name: "f\(number)", kind: .field, type: .float)
            schema.declare(SchemaPreset.Field("f\(number)", .float, unit: "u\(number)"))
        }
        var changed = schema
        changed.remove(130)
        changed.removeDeclaration(of: "f3")
        changed.declare(SchemaPreset.Field("f2", .float, unit: "new"))
        kept.append(schema)
        for (index, schema) in kept.enumerated() {
            let names = (0..<(index * 200)).map { "f\($0)" }
            #expect(schema.columns.map(\.name) == names)
            #expect(schema.columns.indices.allSatisfy { schema.columns[$0].id == $0 })
            #expect(schema.declarations.map(\.name) == names)
            #expect(schema.columns.allSatisfy { $0.unit == "u\($0.id)" })
            #expect(schema.field("f\(index * 200)") == nil)
        }
        #expect(changed.field("f130") == nil)
        #expect(changed.columns[130].isRemoved)
        #expect(changed.declarations.map(\.name).prefix(3) == ["f0", "f1", "f2"])
        #expect(changed.declarations[3].name == "f4")
        #expect(changed.field("f2")?.unit == "new")
    }
}
