// What must hold for any payload: texts of all kinds come back, nothing crashes.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Foundation
internal import Testing

struct PayloadPropertyTests {
    private func text(_ random: inout SeededRandom) -> String {
        let pieces = [
            "", "a", "\"", "\\", "\n", "\r\n", "\t", "\0", "\u{1}", ",", "=", " ", "'", "{", "]",
            "é", "e\u{301}", "😀", "👩‍👩‍👧", "שלום", "\u{202E}", "\u{2028}", "\u{FEFF}", "\u{FFFF}",
            "\u{10FFFF}", "None", "null", "0123456789abcdef", "日本語",
        ]
        let count = Int.random(in: 0...6, using: &random)
        return (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
    }

    /// A text as JSON, with some characters as escapes that need none.
    private func quoted(_ text: String, _ random: inout SeededRandom) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if !mustEscape, random.next() % 8 != 0 {
                result.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16, uppercase: random.next() % 2 == 0)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result + "\""
    }

    @Test func `texts of all kinds come back byte for byte`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        var items: [String] = []
        var expected: [[String: FieldValue]] = []
        for index in 0..<300 {
            var fields: [String: FieldValue] = ["index": .float(Double(index))]
            var json = ["\"index\":\(index)"]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                // Names that are normalised differently are different names, and Swift's == says
                // otherwise: one of a kind is enough here.
                let name = "n" + self.text(&random)
                if fields[name] != nil { continue }
                let value = self.text(&random)
                fields[name] = .string(value)
                json.append("\(quoted(name, &random)) : \(quoted(value, &random))")
            }
            let tag = quoted("tag " + self.text(&random), &random)
            let time = Timestamp(nanoseconds: Int64(index) * 1_000_000)
            items.append(
                """
                {"fields":{\(json.joined(separator: ","))},"tags":{\(tag):\(tag),
                "id_participant":"p"},"measurement":"dev","time":"\(time)"}
                """)
            expected.append(fields)
        }
        let payload = try CoziePayload(Array("[\(items.joined(separator: ","))]".utf8))
        let report = try payload.write(to: database)
        #expect(report.issues.isEmpty, "seed \(seed): \(report.issues)")
        let rows = try StoredRow.all(database)
        #expect(rows.count == expected.count)
        for (row, fields) in zip(rows, expected) {
            #expect(row.fields == fields, "seed \(seed)")
        }
    }

    @Test func `a text of 64 KiB of anything comes back`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        var text = ""
        while text.utf8.count < 65_536 { text += self.text(&random) }
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        let json = """
            {"time":"2022-09-01T07:02:51Z","measurement":"dev","tags":{"id_participant":"p"},
            "fields":{"s":\(quoted(text, &random))}}
            """
        _ = try CoziePayload(Array(json.utf8)).write(to: database)
        #expect(
            try StoredRow.all(database).first?.fields == ["s": .string(text)], "seed \(seed)")
    }

    @Test func `damaged payloads are read or refused, and never crash`() throws {
        let count = Int(ProcessInfo.processInfo.environment["COZDB_FUZZ"] ?? "") ?? 600
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let item = """
            {"time":"2022-09-01T07:02:51.578+0800","measurement":"dev","tags":{"id_participant":
            "p1","n":7},"fields":{"a":1.5,"b":"x\\u00e9","c":[1,{"d":null}],"e":true},"fields_int":
            {"i":9007199254740993,"blank":""},"fields_float":{"f":3},"fields_str":{"s":"😀"}}
            """
        let quoted =
            "\""
            + item.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n") + "\""
        let document = Array("[[\(item),\(quoted)],\n\(item)]".utf8)
        let pieces = ["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", "\n", "null", "é"]
        var options = CoziePayloadOptions()
        options.enrichment = CozieEnrichment(fields: ["a", "b"])
        options.offsetField = "offset"
        var accepted = 0
        for round in 0..<count {
            var bytes = document
            for _ in 0...(random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes.remove(at: place)
                case 1: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 40))
                default:
                    bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
                }
            }
            options.acceptsTrailingCommas = round % 2 == 0
            if (try? CoziePayload(bytes, options: options)) != nil { accepted += 1 }
        }
        #expect(accepted > 0, "seed \(seed)")
    }
}
