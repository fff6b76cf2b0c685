// Payloads through the library: one call to read a body, one to store it.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct CoziePayloadTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(directory.path)
    }

    private func item(
        time: String = "\"2022-09-01T07:02:51.578+0800\"", participant: String = "\"dev01\"",
        _ fields: String
    ) -> String {
        """
        {"time":\(time),"measurement":"dev","tags":{"id_participant":\(participant)},\(fields)}
        """
    }

    @discardableResult
    private func write(
        _ json: String, _ options: CoziePayloadOptions = CoziePayloadOptions()
    ) throws -> CoziePayload.Report {
        try CoziePayload(Array(json.utf8), options: options).write(to: database)
    }

    /// The fields of the only row.
    private func stored() throws -> [String: FieldValue] {
        let rows = try StoredRow.all(database)
        #expect(rows.count == 1)
        return rows.first?.fields ?? [:]
    }

    private func schema() throws -> ExperimentSchema {
        try #require(try database.schemas().first)
    }

    @Test func `an item becomes a row`() throws {
        let report = try write(
            """
            [{"time":"2022-09-01T07:02:51.578+0800","measurement":"dev","tags":{
              "id_onesignal":"35E2","id_participant":"dev01","id_password":""},
              "fields":{"ts_heart_rate":74,"q_noise":"None","x":1.5,"flag":true,"none":null}}]
            """)
        #expect(report.itemCount == 1)
        #expect(report.issues.isEmpty)
        #expect(report.write.values == 4)
        let row = try #require(try StoredRow.all(database).first)
        #expect(row.experiment == "dev")
        #expect(row.key == ["dev01"])
        #expect(row.time == 1_661_986_971_578_000_000)
        #expect(
            row.fields == [
                "ts_heart_rate": .float(74), "q_noise": .string("None"), "x": .float(1.5),
                "flag": .boolean(true),
            ])
        #expect(row.attributes == ["id_onesignal": .string("35E2")])
        #expect(try schema().preset == "cozie-v3")
    }

    @Test(arguments: [
        "ITEM", "[ITEM]", "[[ITEM],[]]", "[[[ITEM]]]", "\u{FEFF}ITEM", "[]ITEM", "\n ITEM \n",
    ])
    func `items stand in anything`(_ shape: String) throws {
        let report = try write(
            shape.replacing("ITEM", with: item(#""fields":{"a":"x"}"#)))
        #expect(report.itemCount == 1)
        #expect(try stored() == ["a": .string("x")])
    }

    @Test func `items stand in strings of JSON`() throws {
        func quoted(_ text: String) -> String {
            "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
        let inner = item(#""fields":{"a":"x\"y"}"#)
        let report = try write("[" + quoted(quoted("[\(inner)]")) + "]")
        #expect(report.itemCount == 1)
        #expect(try stored() == ["a": .string("x\"y")])
        let deep = (0..<6).reduce(inner) { text, _ in quoted(text) }
        #expect(
            try write(deep).issues.map(\.reason)
                == ["item 1: found JSON in more than 4 nested strings, expected fewer"])
    }

    @Test func `fields with types have them, whole numbers too`() throws {
        let report = try write(
            item(
                """
                "fields_int":{"i":3,"whole":4.0,"big":9007199254740993,"blank":""},
                "fields_float":{"f":90,"g":1.25},"fields_str":{"s":"5","e":""}
                """))
        #expect(report.issues.isEmpty)
        #expect(
            try stored() == [
                "i": .integer(3), "whole": .integer(4), "big": .integer(9_007_199_254_740_993),
                "f": .float(90), "g": .float(1.25), "s": .string("5"), "e": .string(""),
            ])
    }

    @Test func `a value that is not of its type is refused alone`() throws {
        let report = try write(
            item(
                """
                "fields_int":{"a":3.5,"b":"3","c":1e300,"ok":1},"fields_float":{"d":"x","e":true,
                "f":9007199254740993},"fields_str":{"g":5},"fields":{"h":[1,{"x":2}],"i":{},
                "j":1e400,"time":"now","":1,"k":"kept"},"debug":7
                """))
        #expect(report.itemCount == 1)
        #expect(report.issues.count == 13)
        #expect(report.issues.allSatisfy { $0.item == 1 && $0.isValue })
        #expect(report.write.refusedValues == 13)
        #expect(report.write.refusedPoints == 0)
        #expect(try stored() == ["ok": .integer(1), "k": .string("kept")])
        let refusals = try StoredRow.refusals(database)
        #expect(refusals.count == 13)
        guard
            case .value(let experiment, let key, _, let field, let value, _) =
                refusals.first(where: { $0.reason.hasPrefix("found an array") })?.subject
        else {
            Issue.record("the array is not among the refused values")
            return
        }
        #expect(experiment == "dev" && field == "h" && value == .string("[1,{\"x\":2}]"))
        #expect(key.tags.map(\.value) == ["dev01"])
    }

    @Test func `numbers become floats, or what their fields are`() throws {
        try write(item(#""fields":{"new":74,"ws_survey_count":3,"ts_heart_rate":74}"#))
        let schema = try schema()
        #expect(schema.field("new")?.type == .float)
        #expect(schema.field("ws_survey_count")?.type == .integer)
        #expect(schema.field("ts_heart_rate")?.type == .float)
        try write(
            item(#""fields":{"new":74.5,"ws_survey_count":9007199254740993,"wss_goal":4.0}"#))
        let fields = try stored()
        #expect(fields["new"] == .float(74.5))
        #expect(fields["ws_survey_count"] == .integer(9_007_199_254_740_993))
        #expect(fields["wss_goal"] == .integer(4))
        let report = try write(
            item(#""fields":{"new":9007199254740993,"ws_survey_count":3.5,"other":"x"}"#))
        #expect(report.write.refusedValues == 2)
        #expect(report.issues.count == 2)
        #expect(try stored()["new"] == .float(74.5))
    }

    @Test(arguments: [
        "1234567890123456789.0", "9007199254740993.5", "1.00000000000000000001",
        "-9223372036854775809", "-9223372036854776000", "9223372036854775808", "1e-400",
    ])
    func `an integer field stores no number that was rounded`(number: String) throws {
        try write(item(#""fields":{"ws_survey_count":3}"#))
        for part in ["fields", "fields_int", "fields_float"] {
            let report = try write(item("\"\(part)\":{\"ws_survey_count\":\(number),\"a\":1}"))
            #expect(report.write.refusedValues == 1, "\(part)")
            #expect(try stored()["ws_survey_count"] == .integer(3), "\(part)")
        }
        let replay = try database.replayRejects(overwrite: true)
        #expect(replay.replayed == 0 && replay.refused > 0)
        #expect(try stored()["ws_survey_count"] == .integer(3))
        // Elsewhere it is a float, as near as that is.
        try write(item("\"fields\":{\"ts_heart_rate\":\(number)}"))
        #expect(try stored()["ts_heart_rate"] == Double(number).map { .float($0) })
    }

    @Test func `whole numbers with a point and an exponent are integers`() throws {
        for part in ["fields", "fields_int"] {
            for (text, value) in [
                ("1234567890123456768.0", Int64(1_234_567_890_123_456_768)),
                ("1.2345678901234568e+18", 1_234_567_890_123_456_768), ("74.0000000000000000", 74),
            ] {
                try write(item("\"\(part)\":{\"ws_survey_count\":\(text)}"))
                #expect(try stored()["ws_survey_count"] == .integer(value), "\(part) \(text)")
            }
        }
    }

    @Test func `a whole number that no float holds makes no integer field`() throws {
        let report = try write(item(#""fields":{"new":9007199254740993,"a":1}"#))
        #expect(report.write.refusedValues == 1)
        #expect(try schema().field("new") == nil)
    }

    @Test func `blank strings are null where the field is a number`() throws {
        let report = try write(
            item(
                """
                "fields":{"si_iphone_wifi_signal_strength":"","ts_heart_rate":" ","q_x":"",
                "unknown":"","action_buttons_shown":""}
                """))
        #expect(report.issues.isEmpty)
        #expect(report.write.refusedValues == 0)
        #expect(
            try stored() == [
                "q_x": .string(""), "unknown": .string(""), "action_buttons_shown": .string(""),
            ])
    }

    @Test func `each bad item is reported with its number, and the others are stored`() throws {
        let good = item(time: "\"2022-09-01T07:00:00Z\"", #""fields":{"a":1}"#)
        let report = try write(
            """
            [\(good), {"msg":"debug"}, \(item(time: "1661986971", #""fields":{"a":1}"#)),
            [\(item(participant: "\"\"", #""fields":{"a":1}"#))], 7, "text",
            \(item(#""fields":[]"#)), \(item(#""fields":{"a":null}"#)),
            \(item(#""fields":{"a":1},"fields":{"a":2}"#)),
            {"time":null,"measurement":5,"tags":{"id_participant":{"x":1}},"fields":{"a":1}},
            \(good)]
            """)
        #expect(report.itemCount == 11)
        #expect(report.write.values == 2)
        let expected = [
            (2, "item 2: missing time; missing measurement; missing fields"),
            (3, "item 3: time is a number, expected text such as 2022-09-01T07:02:51.578+0800"),
            (4, "item 4: missing tags.id_participant"),
            (5, "item 5: found a number, expected an object"),
            (6, "item 6: found a string that is not JSON, expected an object"),
            (7, "item 7: \"fields\" is an array, expected an object; missing fields"),
            (8, "item 8: no field has a value"),
            (9, "item 9: found \"fields\" twice, expected it once"),
            (10, "item 10: missing time; tag \"id_participant\" is an object, expected a string"),
        ]
        #expect(report.issues.map(\.reason) == expected.map(\.1))
        #expect(report.issues.map(\.item) == expected.map(\.0))
        let refusals = try StoredRow.refusals(database)
        #expect(refusals.count == 9)
        #expect(refusals.map(\.line) == expected.map(\.0))
        #expect(refusals.first?.subject == .line(Array(#"{"msg":"debug"}"#.utf8)))
        #expect(try StoredRow.all(database).count == 1)
    }

    @Test(arguments: [
        (#""2022-09-01T07:02:51.578+0800""#, 1_661_986_971_578_000_000),
        (#""2022-09-01T07:02:51.578+08:00""#, 1_661_986_971_578_000_000),
        (#""2022-09-01T07:02:51.578+08""#, 1_661_986_971_578_000_000),
        (#""2022-08-31T23:02:51.578Z""#, 1_661_986_971_578_000_000),
        (#""2022-08-31T23:02:51.578""#, 1_661_986_971_578_000_000),
        (#""2022-08-31 23:02:51.578 +0000""#, 1_661_986_971_578_000_000),
        (#""2022-08-31T13:32:51.578-0930""#, 1_661_986_971_578_000_000),
        (#""2022-08-31t23:02:51.578123456z""#, 1_661_986_971_578_123_456),
        (#""2022-08-31T23:02:51Z""#, 1_661_986_971_000_000_000),
        (#""2022-08-31T23:02Z""#, 1_661_986_920_000_000_000),
        (#""2022-08-31""#, 1_661_904_000_000_000_000),
        (#""2022-09-01T07:02:51.578\u002B0800""#, 1_661_986_971_578_000_000),
    ])
    func `times have any offset and up to nine digits`(_ text: String, time: Int64) throws {
        let report = try write(item(time: text, #""fields":{"a":1}"#))
        #expect(report.issues.isEmpty)
        #expect(try StoredRow.all(database).map(\.time) == [time])
    }

    @Test(arguments: [
        "2565-09-01T07:02:51.578+0800", "0004-09-01T07:02:51.578+0800", "1444-02-04T07:02:51Z",
        "1944-09-01T07:02:51.578Z", "2022-13-01T07:02:51Z", "2022-02-30T07:02:51Z",
        "٢٠٢٢-٠٩-٠١T٠٧:٠٢:٥١.٥٧٨+٠٨٠٠", "2022-09-01T7:02:51 PM+0800", "2022-09-01T07:02:51,5Z",
        "2022-09-01T25:02:51Z", "2022-09-01T07:02:60Z", "2022-09-01T07:02:51.Z", "", "now",
        "2022-09-01T07:02:51.1234567890Z", "2022-09-01T07:02:51+8", "2022-09-01T07:02:51+0860",
        "2022-09-01T07:02:51+08000", "2022-09-01T", "2022-09-01 ", "22-09-01T07:02:51Z",
        "2022-09-01T07:02:51Z ", " 2022-09-01T07:02:51Z", "2022-W35-4",
    ])
    func `other times are refused, not guessed`(_ text: String) throws {
        let report = try write(item(time: "\"\(text)\"", #""fields":{"a":1}"#))
        #expect(report.issues.count == 1)
        #expect(report.issues.first?.reason.contains("time is \"") == true)
        #expect(try StoredRow.all(database).isEmpty)
    }

    @Test func `years of other calendars are named`() throws {
        let report = try write(
            item(time: "\"2565-09-01T07:02:51.578+0800\"", #""fields":{"a":1}"#))
        #expect(
            report.issues.first?.reason
                == "item 1: time is \"2565-09-01T07:02:51.578+0800\" with the year 2565, "
                + "expected 1970 to 2261; set the calendar of the phone to Gregorian")
    }

    @Test func `tags that are no strings become text, empty ones are missing`() throws {
        try write(
            """
            {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"id_participant":7,
            "flag":true,"id_password":1.50,"none":null,"empty":""},"fields":{"a":1}}
            """)
        let row = try #require(try StoredRow.all(database).first)
        #expect(row.key == ["7"])
        #expect(row.attributes == ["flag": .string("true"), "id_password": .string("1.50")])
    }

    @Test func `what is no JSON is thrown with line and column, and nothing is stored`() throws {
        let text = "[\n" + item(#""fields":{"a":1,}"#) + "]"
        let error = #expect(throws: DatabaseError.self) { try CoziePayload(Array(text.utf8)) }
        #expect(error?.kind == .usage)
        let column = item(#""fields":{"a":1,"#).utf8.count
        #expect(
            error?.message.hasPrefix("item 1: JSON, line 2, column \(column): found") == true)
        #expect(error?.message.hasSuffix("; accept trailing commas to read it") == true)
        var options = CoziePayloadOptions()
        options.acceptsTrailingCommas = true
        try write(text, options)
        #expect(try stored() == ["a": .float(1)])
    }

    @Test func `all or nothing is refused for what reading and what the schema shows`() throws {
        var options = CoziePayloadOptions()
        options.isAtomic = true
        let good = item(#""fields":{"ts_heart_rate":1}"#)
        for bad in [#"{"a":1}"#, item(#""fields":{"ts_heart_rate":"x"}"#)] {
            let payload = try CoziePayload(Array("[\(good),\(bad)]".utf8), options: options)
            let error = #expect(throws: DatabaseError.self) { try payload.write(to: database) }
            #expect(error?.kind == .usage)
        }
        #expect(try StoredRow.all(database).isEmpty)
        #expect(try StoredRow.refusals(database).isEmpty)
        try write("[\(good)]", options)
        #expect(try stored() == ["ts_heart_rate": .float(1)])
    }

    @Test(arguments: [
        (#""hun\\ter\\two""#, "hun"), (#""tab\tsec\\2ret""#, "2ret"), ("1234.50", "1234"),
        (#""a \"quoted\" word""#, "quoted"), (#""plain secret5""#, "secret5"),
        ("\"\(String(repeating: "stapleXYZ", count: 8))\"", "staple"),
    ])
    func `a credential of the wrong type is masked`(secret: String, word: String) throws {
        let report = try write(
            "[" + item(#""fields_int":{"id_password":\#(secret)}"#) + ","
                + item(#""fields_float":{"api_write_key":\#(secret)}"#) + "]")
        var texts = report.issues.map { "\($0)" } + report.write.examples.map { "\($0)" }
        try database.redactedRejects { entry throws(DatabaseError) in
            texts.append("\(entry)")
            return true
        }
        #expect(texts.count >= 3)
        for text in texts { #expect(!text.contains(word), "\(text)") }
    }

    @Test func `a payload sent twice changes nothing`() throws {
        let text = "[" + item(#""fields":{"a":1,"b":[2]}"#) + ",{}]"
        let first = try write(text)
        let again = try write(text)
        #expect(first.issues == again.issues)
        #expect(try StoredRow.all(database).count == 1)
        #expect(try StoredRow.refusals(database).count == 2)
    }

    @Test func `an empty payload is nothing`() throws {
        for text in ["[]", "[[],[]]", "", "  \n"] {
            let report = try write(text)
            #expect(report.itemCount == 0)
            #expect(report.issues.isEmpty)
        }
        #expect(try database.schemas().isEmpty)
    }

    @Test func `a later value of one field counts, also between objects of fields`() throws {
        try write(item(#""fields":{"a":1,"b":2,"a":3},"fields_float":{"b":4}"#))
        #expect(try stored() == ["a": .float(3), "b": .float(4)])
    }

    @Test func `names of any letters are kept, and written in any way are the same`() throws {
        try write(
            "[" + item(#""fields":{"fi\u0065ld":1,"\"x\"\n":2,"ü":"y"}"#) + ","
                + item(#""fields":{"field":3}"#) + "]")
        #expect(
            try stored() == ["field": .float(3), "\"x\"\n": .float(2), "ü": .string("y")])
    }

    @Test func `another identity may do without a participant`() throws {
        var settings = ExperimentSettings()
        settings.identity = .allTags
        let json = """
            {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"room":"a"},"fields":{"a":1}}
            """
        let payload = try CoziePayload(Array(json.utf8), settings: settings)
        #expect(payload.experiments == ["dev"])
        let report = try payload.write(to: database)
        #expect(report.issues.isEmpty)
        #expect(try StoredRow.all(database).map(\.key) == [["a"]])
    }
}
