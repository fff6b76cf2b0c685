// Columns of input that has no types, and batches that are stored whole or not at all.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

struct UntypedColumnTests {
    private let directory = TemporaryDirectory()

    private func add(
        _ field: String, _ value: FieldValue, isTyped: Bool, at time: Int64,
        to batch: inout WriteBatch
    ) {
        let experiment = batch.experiment("dev".utf8.span)
        let tags = batch.tagSet(experiment: experiment, tags: [("id_participant", "p1")])
        let column = batch.column(
            experiment: experiment, name: field.utf8.span, type: value.type, isTyped: isTyped)
        let bits: UInt64 =
            switch value {
            case .float(let number): number.bitPattern
            case .integer(let number): UInt64(bitPattern: number)
            case .boolean(let flag): flag ? 1 : 0
            case .string(let text): batch.string(text.utf8.span).bits
            }
        batch.append(column: column, bits: bits)
        batch.endRow(tagSet: tags, time: time, line: Int(time))
    }

    private func types(_ database: Database) throws -> [String: FieldType] {
        let fields = try database.schemas().first?.fields ?? []
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.type) })
    }

    @Test func `an untyped integer makes a float field and stays exact in an integer one`() throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        add("count", .integer(1), isTyped: true, at: 1, to: &batch)
        add("count", .integer(9_007_199_254_740_993), isTyped: false, at: 2, to: &batch)
        add("rate", .integer(74), isTyped: false, at: 3, to: &batch)
        add("rate", .integer(9_007_199_254_740_993), isTyped: false, at: 4, to: &batch)
        let report = try database.write(batch)
        #expect(try types(database) == ["count": .integer, "rate": .float])
        #expect(report.values == 3)
        #expect(report.convertedValues == 0)
        #expect(report.refusedValues == 1)
        let result = try database.query("SELECT count FROM dev")
        #expect("\(result)".contains("9007199254740993"))
    }

    @Test(arguments: [TypeRule.lossless, .strict])
    func `untyped numbers and blanks are no conflict`(_ rule: TypeRule) throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        batch.settings.typeRule = rule
        add("rate", .float(74.5), isTyped: true, at: 1, to: &batch)
        add("count", .integer(3), isTyped: true, at: 1, to: &batch)
        add("rate", .integer(74), isTyped: false, at: 2, to: &batch)
        add("count", .float(4), isTyped: false, at: 3, to: &batch)
        add("rate", .string(""), isTyped: false, at: 4, to: &batch)
        add("count", .string("  "), isTyped: false, at: 5, to: &batch)
        add("title", .string(""), isTyped: false, at: 6, to: &batch)
        let report = try database.write(batch)
        #expect(report.refusedPoints + report.refusedValues == 0, "\(report.examples)")
        #expect(report.values == 5)
        #expect(try types(database)["title"] == .string)
        batch.removeAll()
        add("rate", .string("x"), isTyped: false, at: 7, to: &batch)
        add("rate", .string(""), isTyped: true, at: 8, to: &batch)
        let second = try database.write(batch)
        #expect(second.refusedPoints + second.refusedValues == 2)
    }

    @Test func `a batch of all or nothing is refused for one value`() throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        add("rate", .float(74.5), isTyped: true, at: 1, to: &batch)
        _ = try database.write(batch)
        batch.removeAll()
        batch.isAllOrNothing = true
        add("rate", .float(75), isTyped: true, at: 2, to: &batch)
        add("rate", .string("x"), isTyped: true, at: 3, to: &batch)
        let error = #expect(throws: DatabaseError.self) { try database.write(batch) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("string for a field that is locked as float") == true)
        #expect(try database.rowCount() == 1)
        var entries = 0
        try database.rejects { _ throws(DatabaseError) in
            entries += 1
            return true
        }
        #expect(entries == 0)
    }

    @Test func `a refused value keeps the identity of its experiment`() throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        add("rate", .float(74.5), isTyped: true, at: 1, to: &batch)
        batch.refuse(
            Refusal(
                subject: .value(
                    experiment: "dev",
                    key: SeriesKey(tags: [("id_participant", "p1"), ("id_password", "x")]),
                    time: Timestamp(nanoseconds: 1), field: "q_list", value: .string("[1]"),
                    locked: .string), reason: "an array", source: "payload", line: 1))
        let report = try database.write(batch)
        #expect(report.points == 1)
        #expect(report.refusedValues == 1)
        #expect(report.refusedPoints == 0)
        var keys: [SeriesKey] = []
        try database.rejects { entry throws(DatabaseError) in
            if case .value(_, let key, _, _, _, _) = entry.refusal.subject { keys.append(key) }
            return true
        }
        #expect(keys == [SeriesKey(tags: [("id_participant", "p1")])])
    }
}
