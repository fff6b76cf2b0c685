// What is added to payloads on request.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct CozieEnrichmentTests {
    private let directory = TemporaryDirectory()
    private let arrival = Timestamp("2025-10-15T02:25:40.864Z")

    private func stored(
        _ fields: String, _ enrichment: CozieEnrichment?, offsetField: String? = nil,
        time: String = "2022-09-01T07:02:51.578+0800"
    ) throws -> [String: FieldValue] {
        let database = try Database.open(directory.path)
        var options = CoziePayloadOptions()
        options.enrichment = enrichment
        options.offsetField = offsetField
        let json = """
            {"time":"\(time)","measurement":"dev",
            "tags":{"id_participant":"p1"},"fields":\(fields)}
            """
        let report = try CoziePayload(Array(json.utf8), options: options).write(to: database)
        #expect(report.issues.isEmpty)
        return try StoredRow.all(database).first?.fields ?? [:]
    }

    @Test func `arrival and trigger are added as the backend does`() throws {
        let fields = try stored(
            #"{"ts_heart_rate":74,"q_x":"Yes","transmit_trigger":"background_task"}"#,
            CozieEnrichment(arrival: arrival))
        #expect(
            fields == [
                "ts_heart_rate": .float(74), "q_x": .string("Yes"),
                "transmit_trigger": .string("background_task"),
                "timestamp_lambda": .string("2025-10-15T02:25:40.864000Z"),
                "ts_heart_rate_lambda": .string("2025-10-15T02:25:40.864000Z"),
                "ts_heart_rate_trigger": .string("background_task"),
            ])
    }

    @Test func `a missing trigger is empty, and arrivals may be milliseconds`() throws {
        let fields = try stored(
            #"{"a":1,"b":null,"c":"","d":2}"#,
            CozieEnrichment(form: .milliseconds, fields: ["a", "b", "c", "x"], arrival: arrival))
        #expect(
            fields == [
                "a": .float(1), "c": .string(""), "d": .float(2),
                "transmit_trigger": .string("empty"),
                "timestamp_lambda_ms": .float(1_760_495_140_864),
                "a_lambda_ms": .float(1_760_495_140_864), "a_trigger": .string("empty"),
            ])
    }

    @Test func `what the payload says itself stays`() throws {
        let fields = try stored(
            #"{"a":1,"timestamp_lambda":"earlier","a_lambda":"before","a_trigger":"t"}"#,
            CozieEnrichment(fields: ["a"], arrival: arrival))
        #expect(
            fields == [
                "a": .float(1), "timestamp_lambda": .string("earlier"),
                "a_lambda": .string("before"), "a_trigger": .string("t"),
                "transmit_trigger": .string("empty"),
            ])
    }

    @Test func `without being asked for nothing is added`() throws {
        #expect(try stored(#"{"ts_heart_rate":1}"#, nil) == ["ts_heart_rate": .float(1)])
    }

    @Test func `the catalogue names the fields`() {
        let text = CozieEnrichment.catalogueFields(.text)
        #expect(text.contains("ts_heart_rate") && text.contains("ws_survey_count"))
        #expect(text.count > 31)
        #expect(CozieEnrichment.catalogueFields(.milliseconds).contains("ts_latitude"))
        #expect(!text.contains { $0.contains("*") })
    }

    @Test(
        arguments: [
            ("2022-09-01T07:02:51.578+0800", 480), ("2022-09-01T07:02:51.578-09:30", -570),
            ("2022-09-01T07:02:51Z", 0), ("2022-09-01T07:02:51", nil),
        ] as [(String, Int64?)])
    func `the offset is kept on request`(time: String, minutes: Int64?) throws {
        let fields = try stored(
            #"{"a":1}"#, nil, offsetField: "utc_offset_min", time: time)
        #expect(fields["utc_offset_min"] == minutes.map { .integer($0) })
    }
}
