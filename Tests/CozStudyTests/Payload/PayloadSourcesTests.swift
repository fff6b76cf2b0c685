// Payloads as the documentation shows them and as the app sends them.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct PayloadSourcesTests {
    private let directory = TemporaryDirectory()

    /// The JSON examples of the documentation: from a line that ends with a bracket to a line of
    /// nothing but its counterpart.
    private func examples() throws -> [String] {
        var examples: [String] = []
        var lines: [String]?
        let page = try CatalogueSources.text("seeds/002_800b66a83393cfa0.txt")
        for line in page.components(separatedBy: "\n") {
            if lines == nil, line.hasSuffix("[") {
                lines = ["["]
            } else if lines != nil {
                lines?.append(line)
                if line == "]", let found = lines {
                    examples.append(found.joined(separator: "\n"))
                    lines = nil
                }
            }
        }
        return examples
    }

    @Test func `every example of the documentation imports and reads back`() throws {
        guard SharedData.path("seeds/002_800b66a83393cfa0.txt") != nil else { return }
        let examples = try examples()
        #expect(examples.count == 5)
        for (number, example) in examples.enumerated() {
            let folder = TemporaryDirectory()
            let database = try Database.open(folder.path)
            var options = CoziePayloadOptions()
            if example.contains(",\n}") {
                #expect(throws: DatabaseError.self) { try CoziePayload(Array(example.utf8)) }
                options.acceptsTrailingCommas = true
            }
            let payload = try CoziePayload(Array(example.utf8), options: options)
            let report = try payload.write(to: database)
            #expect(report.issues.isEmpty, "example \(number)")
            let rows = try StoredRow.all(database)
            #expect(rows.count == payload.itemCount)
            for row in rows {
                #expect(row.experiment == "dev" && row.key == ["dev01"])
                #expect(
                    row.attributes == [
                        "id_onesignal": .string("35E2A783-35DA-4C5F-B54E-5DAC30B6E860"),
                        "id_password": .string("5DAC30B6E86"),
                    ])
            }
            // The same, read by Foundation.
            let strict = example.replacing(",\n}", with: "\n}")
            let items = try #require(
                try JSONSerialization.jsonObject(with: Data(strict.utf8)) as? [[String: Any]])
            let expected = items.reduce(into: [String: Any]()) { all, item in
                for part in ["fields", "fields_int", "fields_float", "fields_str"] {
                    all.merge(item[part] as? [String: Any] ?? [:]) { $1 }
                }
            }
            var found = rows.reduce(into: [String: FieldValue]()) { all, row in
                all.merge(row.fields) { $1 }
            }
            for (name, value) in expected {
                let stored = found.removeValue(forKey: name)
                switch stored {
                case .string(let text): #expect(text == value as? String)
                case .float(let number):
                    // Foundation's last digit is not always the nearest.
                    let other = try #require(value as? Double)
                    #expect(abs(number - other) <= number.ulp)
                case .integer(let number): #expect(number == value as? Int64)
                default: Issue.record("\(name) of example \(number) is missing")
                }
            }
            #expect(found.isEmpty)
            if let longitude = rows[0].fields["ws_longitude"] {
                #expect(longitude == .float(103.77041753262827))
            }
        }
    }

    /// Values by row and field; numbers as floats, whose types the two forms name differently.
    private func values(_ database: Database) throws -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for row in try StoredRow.all(database) {
            for (name, value) in row.fields.merging(row.attributes, uniquingKeysWith: { $1 }) {
                var value = value
                if case .integer(let number) = value { value = .float(Double(number)) }
                values["\(row.experiment) \(row.key) \(row.time) \(name)"] = value
            }
        }
        return values
    }

    @Test func `a payload leads to the same values as its line protocol`() throws {
        guard let json = SharedData.path("data/cozie_v3/yanta006_payload_first600.json"),
            let lines = SharedData.path("data/cozie_v3/yanta006_write_points.lp")
        else { return }
        let payloads = try Database.open(directory.path)
        let report = try importFiles([json], into: payloads, options: options(.cozieJSON()))
        #expect(report.points == 600)
        #expect(!report.hasRefusals, "\(report.examples)")
        let folder = TemporaryDirectory()
        let points = try Database.open(folder.path)
        _ = try importFiles([lines], into: points, options: options(.lineProtocol))
        let (found, expected) = (try values(payloads), try values(points))
        #expect(found.count > 4000)
        var common = 0
        var missing: Set<String> = []
        for (place, value) in found {
            let name = place.split(separator: " ").last.map(String.init) ?? ""
            guard let other = expected[place] else {
                missing.insert(name)
                continue
            }
            common += 1
            #expect(value == other, "\(place)")
        }
        // Every value of the payload is in the line protocol.
        #expect(missing == [])
        #expect(common == found.count)
        // The same by one call.
        let payload = try CoziePayload(try SharedData.read(json))
        let once = TemporaryDirectory()
        let database = try Database.open(once.path)
        #expect(try payload.write(to: database).issues.isEmpty)
        #expect(try StoredRow.all(database) == (try StoredRow.all(payloads)))
    }

    private func options(_ format: InputFormat) -> ImportOptions {
        var options = ImportOptions()
        options.format = format
        options.batchRows = 130
        return options
    }
}
