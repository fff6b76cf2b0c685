// Rows that are values of a program's own types.

internal import CozTestSupport
@testable internal import CozDB
internal import Foundation
internal import Testing

struct RowEncoderTests {
    private enum Answer: String, Codable {
        case warmer = "Warmer"
        case cooler = "Cooler"
    }

    private struct Sample: Codable, Equatable {
        var time: Timestamp
        var participant: String
        var rate: Double?
        var steps: Int
        var isAwake: Bool
        var answer: Answer?
        var sent: Timestamp?
        var site: String?

        enum CodingKeys: String, CodingKey {
            case time, rate = "ts_heart_rate", steps, isAwake, answer = "q_thermal", sent, site
            case participant = "id_participant"
        }
    }

    private static let samples = [
        Sample(
            time: Timestamp(nanoseconds: 1), participant: "p1", rate: 71.5, steps: 3, isAwake: true,
            answer: .warmer, sent: Timestamp(nanoseconds: 5), site: "a"),
        Sample(
            time: Timestamp(nanoseconds: 2), participant: "p1", rate: nil, steps: -1,
            isAwake: false, answer: nil, sent: nil, site: nil),
        Sample(
            time: .max, participant: "p2", rate: .infinity, steps: .max, isAwake: false,
            answer: .cooler, sent: .min, site: "ü"),
    ]

    private let folder = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(folder.path)
    }

    @Test("rows come back as they were written", arguments: [false, true])
    func roundTrip(isFlushed: Bool) throws {
        let report = try database.write(Self.samples, experiment: "dev", tags: ["site"])
        #expect(report.refusedValues == 0)
        if isFlushed { try database.flush() }
        let schema = try #require(try database.schemas().first)
        #expect(
            schema.fields.map { "\($0.name) \($0.type)" } == [
                "isAwake boolean", "q_thermal string", "sent string", "steps integer",
                "ts_heart_rate float",
            ])
        #expect(schema.attributes.map(\.name) == ["site"])
        let all = try database.query("SELECT * FROM dev")
        #expect(try all.rows(as: Sample.self) == Self.samples)
        let grouped = try database.query("SELECT * FROM dev GROUP BY id_participant")
        #expect(try grouped.rows(as: Sample.self) == Self.samples)
        let cursor = try database.cursor("SELECT * FROM dev")
        var rows: [Sample] = []
        while let batch = try cursor.next() { rows += try batch.rows(as: Sample.self) }
        #expect(rows == Self.samples)
    }

    @Test("a field value is stored with its type")
    func fieldValues() throws {
        struct Reading: Codable, Equatable {
            var time: Timestamp
            var id_participant: FieldValue
            var values: FieldValue?
        }
        let kinds: [FieldValue?] = [1.5, nil, 2.0]
        let readings = kinds.enumerated().map { minute, value in
            Reading(
                time: Timestamp(nanoseconds: Int64(minute)), id_participant: "p", values: value)
        }
        _ = try database.write(readings, experiment: "dev")
        let rows = try database.query("SELECT * FROM dev").rows(as: Reading.self)
        #expect(rows == [readings[0], readings[2]])
        let fields = try #require(try database.schemas().first).fields
        #expect(fields.map(\.type) == [.float])
    }

    @Test("a field value keeps its type through JSON, but for whole floats")
    func fieldValuesOfJSON() throws {
        let values: [String: FieldValue] = [
            "a": 1.5, "b": .integer(.min), "c": "text", "d": true, "e": "1", "f": .integer(1),
        ]
        let bytes = try JSONEncoder().encode(values)
        #expect(try JSONDecoder().decode([String: FieldValue].self, from: bytes) == values)
        let whole = try JSONEncoder().encode([FieldValue.float(2)])
        #expect(try JSONDecoder().decode([FieldValue].self, from: whole) == [2])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([FieldValue].self, from: Data("[[1]]".utf8))
        }
    }

    @Test("tasks write rows as threads do")
    func fromTask() async throws {
        _ = try await database.write(Self.samples, experiment: "dev", tags: ["site"])
        let rows = try await database.query("SELECT * FROM dev").rows(as: Sample.self)
        #expect(rows == Self.samples)
    }

    @Test("the identity of the experiment says which properties are tags")
    func identity() throws {
        struct Reading: Codable, Equatable {
            var time: Timestamp
            var room: String
            var floor: Int
            var value: Double
        }
        let readings = [1, 2].map {
            Reading(time: Timestamp(nanoseconds: 7), room: "r", floor: $0, value: Double($0))
        }
        let settings = ExperimentSettings(identity: .tags(["room", "floor"]))
        _ = try database.write(readings, experiment: "rooms", settings: settings)
        // The second time the stored identity is known.
        _ = try database.write(readings, experiment: "rooms")
        #expect(try database.snapshot().rowCount(of: "rooms") == 2)
        for text in ["SELECT * FROM rooms", "SELECT value FROM rooms GROUP BY *"] {
            #expect(try database.query(text).rows(as: Reading.self) == readings)
        }
    }

    @Test("where all tags identify rows, they must be named")
    func allTags() throws {
        let settings = ExperimentSettings(identity: .allTags)
        let error = #expect(throws: DatabaseError.self) {
            try database.write(Self.samples, experiment: "dev", settings: settings)
        }
        #expect(error?.message.contains("name the properties that are tags") == true)
        let tags = ["id_participant", "site"]
        _ = try database.write(Self.samples, experiment: "dev", tags: tags, settings: settings)
        #expect(throws: DatabaseError.self) {
            try database.write(Self.samples, experiment: "dev")
        }
        let result = try database.query("SELECT * FROM dev")
        #expect(try result.rows(as: Sample.self) == Self.samples)
    }

    @Test("a property that is renamed to a tag is one")
    func renames() throws {
        struct Row: Encodable {
            var time = Timestamp(nanoseconds: 1)
            var pid = "p1"
            var value = 1
        }
        var batch = WriteBatch()
        batch.renames = ["pid": "id_participant"]
        try batch.add(Row(), experiment: "m")
        _ = try database.write(batch)
        let result = try database.query("SELECT value FROM m WHERE id_participant = 'p1'")
        #expect(result.series.first?.column("value")?.integers == [1])
    }

    private func refusal(_ row: some Encodable) -> String? {
        var batch = WriteBatch()
        var message: String?
        do throws(DatabaseError) {
            try batch.add(row, experiment: "m")
        } catch {
            message = error.kind == .usage ? error.message : nil
        }
        #expect(batch.isEmpty && batch.mistake == nil)
        return message
    }

    @Test("a row that cannot be stored is refused with its property")
    func refusals() throws {
        struct Row<Value: Encodable>: Encodable {
            var time: Timestamp? = Timestamp(nanoseconds: 1)
            var id_participant = "p"
            var value: Value
        }
        struct Pair: Encodable {
            var first = 1
        }
        struct Empty: Encodable {
            var first: Int?
        }
        enum Choice: Encodable {
            case first
        }
        struct Late: Encodable {
            var time = 5
            var value = 1
        }
        #expect(
            refusal(Row(value: [1, 2]))?.contains("array or a nested value for the property")
                == true)
        #expect(refusal(Row(value: [1, 2]))?.contains("property \"value\"") == true)
        #expect(refusal(Row(value: Pair()))?.contains("for the property \"value\"") == true)
        #expect(refusal(Row(value: ["a": 1]))?.contains("for the property \"value\"") == true)
        #expect(refusal(Row(value: [Int]()))?.contains("for the property \"value\"") == true)
        #expect(refusal(Row(value: Empty()))?.contains("for the property \"value\"") == true)
        #expect(refusal(Row(value: Choice.first))?.contains("for the property \"value\"") == true)
        #expect(refusal(Row(value: Int128.max))?.contains("expected an integer") == true)
        #expect(refusal(Row(value: UInt64.max))?.contains("18446744073709551615") == true)
        #expect(
            refusal(Row(time: nil, value: 1))?.contains("without the property \"time\"") == true)
        #expect(refusal(Late())?.contains("found Int for the property \"time\"") == true)
        #expect(refusal(Row(value: Int?.none))?.contains("has no fields") == true)
        #expect(refusal([Int]())?.contains("expected a struct or class") == true)
        #expect(refusal([1, 2])?.contains("expected a struct or class") == true)
        #expect(refusal(7)?.contains("expected a struct or class") == true)
        #expect(refusal(["time": 1.5])?.contains("found Double for the property") == true)
    }

    @Test("a row of which all fields are nil stores nothing")
    func emptyRows() throws {
        struct Row: Encodable {
            var time = Timestamp(nanoseconds: 1)
            var id_participant = "p"
            var value: Int?
        }
        let rows = [Row(value: 1), Row(id_participant: "q"), Row(time: .max, value: 2)]
        let report = try database.write(rows, experiment: "m")
        #expect(report.points == 2 && report.refusedValues == 0)
        #expect(try database.query("SELECT value FROM m").series.first?.rowCount == 2)
        _ = try database.write([Row(), Row()], experiment: "other")
        #expect(try database.schemas().map(\.name) == ["m"])
    }

    @Test("a property that is an attribute of the experiment stays one")
    func storedAttributes() throws {
        struct Row: Codable, Equatable {
            var time: Timestamp
            var id_participant = "p"
            var device: String
            var value = 1
        }
        let first = Row(time: Timestamp(nanoseconds: 1), device: "a")
        let second = Row(time: Timestamp(nanoseconds: 2), device: "b")
        _ = try database.write([first], experiment: "m", tags: ["device"])
        _ = try database.write([second], experiment: "m")
        let schema = try #require(try database.schemas().first)
        #expect(schema.fields.map(\.name) == ["value"])
        #expect(schema.attributes.map(\.name) == ["device"])
        #expect(try database.query("SELECT * FROM m").rows(as: Row.self) == [first, second])
    }

    @Test("names that Swift takes for one are not merged")
    func normalizations() throws {
        struct Row: Encodable {
            enum CodingKeys: String, CodingKey {
                case time, id_participant
                case composed = "\u{E9}"
                case decomposed = "e\u{301}"
            }

            var time = Timestamp(nanoseconds: 1)
            var id_participant = "p"
            var composed: Int? = 1
            var decomposed: Int?
        }
        _ = try database.write([Row()], experiment: "m")
        #expect(refusal(Row(decomposed: 2))?.contains("Unicode normalizations") == true)
    }

    @Test("a Date is refused, because it counts seconds since 2001")
    func dates() throws {
        struct Row: Codable {
            var time = Timestamp(nanoseconds: 1)
            var id_participant = "p"
            var sent: Date?
        }
        _ = try database.write([Row(sent: nil)], experiment: "m")
        let error = #expect(throws: DatabaseError.self) {
            try database.write(
                [Row(sent: nil), Row(sent: Date(timeIntervalSince1970: 0))], experiment: "m")
        }
        #expect(error?.message.hasPrefix("row 2: found a Date for the property \"sent\"") == true)
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: ["sent": .float(1)])
        _ = try database.write(batch)
        let read = #expect(throws: DatabaseError.self) {
            try database.query("SELECT * FROM m").rows(as: Row.self)
        }
        #expect(read?.message.contains("found a Date for the property \"sent\"") == true)
    }

    @Test("a wrong row keeps all of its batch out")
    func atomicity() throws {
        struct Row: Encodable {
            var time = Timestamp(nanoseconds: 1)
            var id_participant = "p"
            var value: UInt64
        }
        let error = #expect(throws: DatabaseError.self) {
            try database.write([Row(value: 1), Row(value: .max)], experiment: "m")
        }
        #expect(error?.kind == .usage)
        #expect(error?.message.hasPrefix("row 2: ") == true)
        #expect(try database.schemas().isEmpty)
        _ = try database.write([Row](), experiment: "m")
        #expect(try database.schemas().isEmpty)
    }

    @Test("a subclass stores the properties of its superclass")
    func inheritance() throws {
        class Base: Encodable {
            var time = Timestamp(nanoseconds: 1)
            var id_participant = "p"
        }
        final class Derived: Base {
            var value = 2

            enum CodingKeys: CodingKey {
                case value
            }

            override func encode(to encoder: any Encoder) throws {
                try super.encode(to: encoder)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(value, forKey: .value)
            }
        }
        _ = try database.write([Derived()], experiment: "m")
        let result = try database.query("SELECT value FROM m WHERE id_participant = 'p'")
        #expect(result.series.first?.column("value")?.integers == [2])
    }
}
