// The conformance cases of line protocol: what InfluxDB 1.8 stores or refuses.

internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct LineProtocolConformanceTests {
    static let cases: [JSONValue] = {
        guard let path = SharedFiles.path("conformance/open-cases.jsonl"),
            let bytes = try? SharedFiles.read(path)
        else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .compactMap { JSONValue($0) }.filter { $0["line"] != nil }
    }()

    private func matches(_ value: FieldValue, _ expected: JSONValue) -> Bool {
        guard case .array(let pair) = expected, pair.count == 2 else { return false }
        switch (value, pair[0].text, pair[1]) {
        case (.float(let number), "float", .number(let text)): return number == Double(text)
        case (.integer(let number), "integer", .number(let text)): return number == Int64(text)
        case (.string(let text), "string", .string(let other)): return text == other
        case (.boolean(let flag), "boolean", .boolean(let other)): return flag == other
        default: return false
        }
    }

    private func matches(
        _ fields: [String: FieldValue], _ expected: JSONValue, isComplete: Bool
    ) -> Bool {
        if isComplete && fields.count != expected.members.count { return false }
        return expected.members.allSatisfy { name, value in
            fields[name].map { matches($0, value) } ?? false
        }
    }

    /// What differs from the case, in words; nil where nothing does.
    private func difference(_ test: JSONValue) throws -> String? {
        var options = LineProtocolParser.Options()
        options.precision = TimestampPrecision(name: test["precision"]?.text ?? "") ?? .nanoseconds
        options.now = Timestamp(nanoseconds: 946_730_096_789_012_345)
        let input = try parse(test["line"]?.text ?? "", options: options)
        guard case .boolean(let isValid)? = test["valid"] else { return "no verdict" }
        if !isValid {
            if let suffix = test["error_suffix"]?.text,
                input.refusals.first?.reason.hasSuffix(suffix) != true
            {
                return "reason \(input.refusals.first?.reason ?? "none")"
            }
            return input.refusals.isEmpty ? "accepted" : nil
        }
        if !input.refusals.isEmpty { return "refused: \(input.refusals[0].reason)" }
        if let count = test["count"]?.number, input.points.count != Int(count) {
            return "\(input.points.count) points"
        }
        for (index, fields) in test["fields"]?.members ?? [:]
        where !matches(input.points[Int(index) ?? 0].fields, fields, isComplete: false) {
            return "fields \(input.points)"
        }
        for (index, time) in test["times"]?.members ?? [:]
        where time.number.flatMap({ Int64($0) }) != input.points[Int(index) ?? 0].time {
            return "time \(input.points)"
        }
        for (index, text) in test["strings"]?.members ?? [:] {
            let time = text.text?.split(separator: " ").last
            if time.flatMap({ Int64($0) }) != input.points[Int(index) ?? 0].time { return "time" }
        }
        for (index, name) in test["names"]?.members ?? [:]
        where name.text != input.points[Int(index) ?? 0].experiment {
            return "name"
        }
        guard let point = test["point"] else { return nil }
        let tags = point["tags"]?.members.compactMapValues(\.text) ?? [:]
        let isSame =
            input.points[0].experiment == point["name"]?.text
            && input.points[0].tags == tags
            && matches(input.points[0].fields, point["fields"] ?? .null, isComplete: true)
        return isSame ? nil : "point \(input.points[0])"
    }

    @Test(.enabled(if: !cases.isEmpty))
    func `all cases of line protocol are answered as InfluxDB answers them`() throws {
        for test in LineProtocolConformanceTests.cases {
            let difference = try difference(test)
            #expect(difference == nil, "\(test["name"]?.text ?? "?"): \(difference ?? "")")
        }
    }
}
