// Rows of an answer as values of a program's own types.

internal import CozTestSupport
@testable internal import CozDB
internal import Testing

struct RowDecoderTests {
    private let folder = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(folder.path)
        var batch = WriteBatch()
        for minute in 0..<4 {
            try batch.add(
                experiment: "m",
                tags: minute < 3 ? ["id_participant": "a"] : ["id_participant": "b", "site": "x"],
                time: Timestamp(nanoseconds: Int64(minute) * 60_000_000_000),
                fields: minute == 1 ? ["s": "text"] : ["i": 3, "f": 2.0, "b": true])
        }
        _ = try database.write(batch)
    }

    private func message<Row: Decodable>(_ text: String, as type: Row.Type) -> String? {
        do throws(DatabaseError) {
            _ = try database.query(text).rows(as: type)
            return nil
        } catch {
            return error.kind == .usage ? error.message : nil
        }
    }

    @Test("aggregates and their groups become properties")
    func aggregates() throws {
        struct Mean: Decodable, Equatable {
            var time: Timestamp
            var id_participant: String
            var mean: Double
            var count: Int
        }
        let text = "SELECT mean(i), count(i) FROM m GROUP BY id_participant"
        #expect(
            try database.query(text).rows(as: Mean.self) == [
                Mean(time: Timestamp(nanoseconds: 0), id_participant: "a", mean: 3, count: 2),
                Mean(time: Timestamp(nanoseconds: 0), id_participant: "b", mean: 3, count: 1),
            ])
        #expect(try database.query("SELECT i FROM m WHERE i > 9").rows(as: Mean.self).isEmpty)
    }

    @Test("values of any type become field values")
    func fieldValues() throws {
        struct Point: Decodable, Equatable {
            var time: Timestamp
            var s: FieldValue?
            var i: FieldValue?
        }
        #expect(
            try database.query("SELECT s, i FROM m LIMIT 2").rows(as: Point.self) == [
                Point(time: Timestamp(nanoseconds: 0), i: 3),
                Point(time: Timestamp(nanoseconds: 60_000_000_000), s: "text"),
            ])
        let rows = try database.query("SELECT i, f, b, s FROM m GROUP BY site LIMIT 1")
            .rows(as: [String: FieldValue?].self)
        #expect(rows.last?["site"] == "x")
        #expect(
            rows.first == [
                "time": 0, "i": 3, "f": 2.0, "b": true, "s": FieldValue?.none,
                "site": FieldValue?.none,
            ])
        #expect(try database.query("SELECT count(i) FROM m").rows(as: FieldValue.self) == [3])
        let means = try database.query("SELECT mean(f) FROM m GROUP BY id_participant")
        #expect(try means.rows(as: FieldValue.self) == [2.0, 2.0])
        struct Wrapper: Decodable, Equatable {
            var value: FieldValue
            init(from decoder: any Decoder) throws { value = try FieldValue(from: decoder) }
        }
        #expect(try means.rows(as: Wrapper.self).map(\.value) == [2.0, 2.0])
        let null = message("SELECT s FROM (SELECT s, i FROM m)", as: FieldValue.self)
        #expect(null?.contains("expected FieldValue") == true)
        let missing = message("SELECT s, i FROM m", as: [String: FieldValue].self)
        #expect(missing?.contains("found null in the column \"s\"") == true)
    }

    @Test("rows of dictionaries can be written again")
    func dictionaries() throws {
        let rows = try database.query("SELECT * FROM m").rows(as: [String: FieldValue?].self)
        let other = try Database.inMemory()
        _ = try other.write(rows, experiment: "m", tags: ["site"])
        let text = "SELECT * FROM m"
        #expect(try "\(other.query(text))" == "\(database.query(text))")
    }

    @Test("a dictionary takes no two columns for one")
    func normalForms() throws {
        var batch = WriteBatch()
        let experiment = batch.experiment("n".utf8.span)
        let tags = batch.tagSet(experiment: experiment, tags: [("id_participant", "p")])
        for name in ["caf\u{e9}", "cafe\u{301}"] {
            let column = batch.column(
                experiment: experiment, name: name.utf8.span, type: .integer)
            batch.append(Int64(1), to: column)
        }
        batch.endRow(tagSet: tags, time: 0, line: 1)
        _ = try database.write(batch)
        let error = message("SELECT * FROM n", as: [String: FieldValue].self)
        #expect(error?.contains("Unicode normalizations") == true)
        struct Row: Decodable {
            var cafe: Int
            enum CodingKeys: String, CodingKey { case cafe = "cafe\u{301}" }
        }
        #expect(try database.query("SELECT * FROM n").rows(as: Row.self).map(\.cafe) == [1])
    }

    @Test("tags of GROUP BY cost what columns cost")
    func manyTags() throws {
        let growth = try Growth(from: 400) { count in
            let database = try Database.inMemory()
            var batch = WriteBatch()
            var tags = ["id_participant": "p"]
            for tag in 0..<count { tags["t\(tag)"] = "v" }
            for row in 0..<10 {
                try batch.add(
                    experiment: "m", tags: tags, time: Timestamp(nanoseconds: Int64(row)),
                    fields: ["f": 1])
            }
            _ = try database.write(batch)
            return try database.query("SELECT f FROM m GROUP BY *")
        } _: { result in
            let rows = try result.rows(as: [String: FieldValue].self)
            #expect(rows.count == 10)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test("a single value is that of the only column beside the time")
    func singleValues() throws {
        enum Word: String, Decodable { case text }
        let count = "SELECT count(i) FROM m GROUP BY id_participant"
        #expect(try database.query(count).rows(as: Int.self) == [2, 1])
        #expect(try database.query("SELECT s FROM m").rows(as: Word.self) == [.text])
        #expect(
            try database.query("SELECT i / 2 FROM m").rows(as: Double?.self) == [1.5, 1.5, 1.5])
        #expect(try database.query("SHOW MEASUREMENTS").rows(as: String.self) == ["m"])
        #expect(message("SELECT s FROM m", as: Int.self)?.contains("\"s\"") == true)
        #expect(message("SELECT i, f FROM m", as: Int.self)?.contains("single value") == true)
        #expect(message("SELECT i FROM m", as: [Int].self)?.contains("array") == true)
    }

    @Test("numbers convert where nothing is lost, nulls and missing columns are nil")
    func conversions() throws {
        struct Row: Decodable, Equatable {
            var i: Double?
            var f: Int8?
            var b: Bool?
            var s: String?
            var other: Float?
        }
        let rows = try database.query("SELECT i, f, b, s FROM m").rows(as: Row.self)
        #expect(rows[0] == Row(i: 3, f: 2, b: true, s: nil, other: nil))
        #expect(rows[1] == Row(i: nil, f: nil, b: nil, s: "text", other: nil))
    }

    @Test("types that stand for a value are read as it is")
    func wrappers() throws {
        struct Wrapped<Value: Decodable & Equatable>: Decodable, Equatable {
            var value: Value

            init(_ value: Value) {
                self.value = value
            }

            init(from decoder: any Decoder) throws {
                value = try decoder.singleValueContainer().decode(Value.self)
            }
        }
        struct Row: Decodable, Equatable {
            var time: Wrapped<Timestamp>
            var i: Wrapped<Int?>
            var f: Wrapped<Int128?>
        }
        let rows = try database.query("SELECT i, f FROM m").rows(as: Row.self)
        // A column without a value is nil, which only an optional property can be.
        #expect(rows.count == 3)
        #expect(rows[1].time == Wrapped(Timestamp(nanoseconds: 120_000_000_000)))
        #expect(rows[1].i == Wrapped(3) && rows[1].f == Wrapped(2))
        let nulls = try database.query("SELECT i, f, s FROM m").rows(as: Row.self)
        #expect(nulls[1].i == Wrapped(nil))
    }

    @Test func `an integer of 128 bits is read and written as others are`() throws {
        struct Row: Codable, Equatable {
            var time: Timestamp
            var id_participant: String?
            var i: Int128?
            var f: UInt128?
        }
        let rows = try database.query("SELECT i, f FROM m").rows(as: Row.self)
        #expect(rows.count == 3 && rows[1].i == 3 && rows[1].f == 2)
        let count = try database.query("SELECT count(i) FROM m")
        #expect(try count.rows(as: Int128.self) == count.rows(as: Int.self).map { Int128($0) })
        let written = Row(time: Timestamp(nanoseconds: 7), id_participant: "p", i: -5, f: 6)
        _ = try database.write([written], experiment: "wide", tags: ["id_participant"])
        let back = try database.query("SELECT id_participant, i, f FROM wide").rows(as: Row.self)
        #expect(back == [written])
    }

    @Test func `a tag is one in a column of a subquery, too`() throws {
        struct Row: Decodable, Equatable {
            var id: Int?
        }
        var batch = WriteBatch()
        try batch.add(
            experiment: "numbered", tags: ["id_participant": "7", "site": "12"],
            time: Timestamp(nanoseconds: 1), fields: ["f": 1, "id": "8"])
        _ = try database.write(batch)
        for text in [
            "SELECT f, id_participant AS id FROM numbered",
            "SELECT f, p AS id FROM (SELECT f, id_participant AS p FROM numbered)",
            "SELECT f, q AS id FROM (SELECT f, p AS q FROM (SELECT f, id_participant AS p "
                + "FROM numbered))",
        ] {
            let result = try database.query(text)
            #expect(result.columns.last?.tag == "id_participant", "\(text)")
            #expect(try result.rows(as: Row.self) == [Row(id: 7)], "\(text)")
        }
        let site = try database.query(
            "SELECT f, site AS id FROM (SELECT f, site FROM numbered)")
        #expect(try site.rows(as: Row.self) == [Row(id: 12)])
        // A field is none, and two tags in one column are neither.
        let field = try database.query("SELECT f, id FROM (SELECT f, id FROM numbered)")
        #expect(field.columns.last?.tag == nil)
        let both = try database.query(
            "SELECT f, id FROM (SELECT f, site AS id FROM numbered), "
                + "(SELECT f, id_participant AS id FROM numbered)")
        #expect(both.columns.last?.tag == nil)
    }

    @Test("a missing tag is nil, or empty where the property is not optional")
    func missingTags() throws {
        struct Optional: Decodable {
            var site: String?
        }
        struct Required: Decodable {
            var site: String
        }
        let result = try database.query("SELECT count(i) FROM m GROUP BY site")
        #expect(try result.rows(as: Optional.self).map(\.site) == [nil, "x"])
        #expect(try result.rows(as: Required.self).map(\.site) == ["", "x"])
    }

    @Test("what does not fit is an error with the column and row")
    func mismatches() {
        struct Integer: Decodable {
            var s: Int
        }
        struct Text: Decodable {
            var i: String
        }
        struct Other: Decodable {
            var missing: Int
        }
        struct Nested: Decodable {
            var i: [Int]
        }
        struct Time: Decodable {
            var s: Timestamp
        }
        enum Word: String, Decodable {
            case other
        }
        struct Late: Decodable {
            var time: Double
        }
        struct Small: Decodable {
            var f: Float
        }
        struct Choice: Decodable {
            var s: Word
        }
        let text = "SELECT i, s FROM m"
        #expect(message(text, as: Integer.self)?.hasPrefix("row 1: found null") == true)
        #expect(message(text, as: Text.self)?.contains("\"i\", which is of type integer") == true)
        #expect(
            message(text, as: Other.self)
                == "the result has no column \"missing\"; it has \"time\", \"i\", \"s\"")
        #expect(message(text, as: Nested.self)?.contains("for the property \"i\"") == true)
        #expect(message(text, as: Late.self)?.contains("found a time") == true)
        let large = "SELECT pow(f, 1000) AS f FROM m"
        #expect(message(large, as: Small.self)?.contains("expected Float") == true)
        let texts = "SELECT s FROM m WHERE s = 'text'"
        #expect(message(texts, as: Time.self)?.contains("expected a time as RFC 3339") == true)
        #expect(message(texts, as: Choice.self)?.hasPrefix("row 1 cannot be decoded: ") == true)
        #expect(message(text, as: Int.self)?.contains("expected a struct or class") == true)
        #expect(message(texts, as: [Int].self)?.contains("expected a struct or class") == true)
    }
}
