// The JSON scanner: values, places of errors, chunks of any size, and agreement with Foundation on
// what is JSON.

internal import CozDB
internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozImport

@Suite struct JSONScannerTests {
    private func parse(_ text: String, lenient: Bool = false) throws -> JSONNode.Contents {
        try JSONNode.parse(text, acceptsTrailingCommas: lenient).value
    }

    private func message(_ text: String, lenient: Bool = false) -> String {
        do {
            _ = try JSONNode.parse(text, acceptsTrailingCommas: lenient)
            return "no error"
        } catch {
            return error.message
        }
    }

    @Test func `objects, lists and scalars become nodes`() throws {
        let node = try JSONNode.parse(
            """
            {"a": [1, -2.5, true, false, null, "x"], "b": {}, "c": [], "d": {"e": 1e3}}
            """)
        #expect(
            node["a"]?.items?.map(\.value) == [
                .integer(1), .float(-2.5), .boolean(true), .boolean(false), .null, .string("x"),
            ])
        #expect(node["b"]?.members == [])
        #expect(node["c"]?.items == [])
        #expect(node["d"]?["e"]?.number == 1000)
        #expect(node["e"] == nil)
    }

    @Test(arguments: [
        "0", "7", "-7", "9007199254740993", "9223372036854775807", "-9223372036854775808",
    ])
    func `whole numbers of 64 bits stay exact`(_ text: String) throws {
        #expect(try parse(text) == .integer(Int64(text)!))
    }

    @Test(arguments: [
        "-0", "0.0", "-0.0", "1.5", "1e2", "1E+2", "1e-2", "0.1", "9223372036854775808",
        "-9223372036854775809", "123456789012345678901234567890", "2.2250738585072014e-308",
        "5e-324", "1e-400", "1.7976931348623157e308", "0.30000000000000004", "74.0",
        "8.5e22", "0.000000000000000000000000000001", "1234567890.1234567890123",
    ])
    func `other numbers are the nearest double`(_ text: String) throws {
        guard case .float(let value) = try parse(text) else {
            Issue.record("\(text) is no float")
            return
        }
        #expect(value.bitPattern == Double(text)!.bitPattern, "\(text)")
    }

    @Test func `strings keep every character`() throws {
        let cases: [(String, String)] = [
            (#""""#, ""), (#""plain""#, "plain"), (#""a\"b\\c\/d""#, "a\"b\\c/d"),
            (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"), (#""\u0000\u00e9\u20AC""#, "\0é€"),
            (#""\uD83D\uDE00""#, "😀"), (#""😀 שלום""#, "😀 שלום"), (#""\ud83d\ude00x""#, "😀x"),
        ]
        for (text, expected) in cases {
            #expect(try parse(text) == .string(expected), "\(text)")
            for size in 0..<20 {
                let pad = String(repeating: "é", count: size)
                let padded = "\"" + pad + text.dropFirst()
                #expect(try parse(padded) == .string(pad + expected), "\(padded)")
            }
        }
    }

    @Test(arguments: [
        ("", 1, 1, "found nothing"),
        ("{\n  \"a\": 1,\n}", 3, 1, "a name after the comma"),
        ("[1,]", 1, 4, "a value after the comma"),
        ("[1,,2]", 1, 4, "a value"), ("[,1]", 1, 2, "a value"), ("{,}", 1, 2, "a name"),
        ("[1 2]", 1, 4, "a comma or ]"), ("{\"a\" 1}", 1, 6, "a colon"),
        ("{\"a\":1]", 1, 7, "a comma or }"), ("[1}", 1, 3, "a comma or ]"),
        ("{\"a\"}", 1, 5, "a colon"), ("{a:1}", 1, 2, "a name in quotes"),
        ("[01]", 1, 2, "leading zeros"), ("-", 1, 2, "a digit after the minus"),
        ("[1.]", 1, 4, "a digit after the decimal point"), ("[.5]", 1, 2, "a value"),
        ("[1e]", 1, 4, "a digit in the exponent"), ("[+1]", 1, 2, "a value"),
        ("[NaN]", 1, 2, "a value"), ("[nul]", 1, 2, "a value"), ("[1e400]", 1, 2, "too large"),
        ("\"a", 1, 3, "found the end, expected a closing quote"), ("[\n\"a\nb\"]", 2, 3, "quote"),
        ("\"\\x\"", 1, 2, "after the backslash"), ("\"\\u12g4\"", 1, 2, "hexadecimal"),
        ("\"\\ud83d\"", 1, 2, "both halves"), ("\"\\ude00\"", 1, 2, "both halves"),
        ("\"\\ud83d\\u0041\"", 1, 2, "both halves"), ("1 2", 1, 3, "the end of the document"),
        ("{} x", 1, 4, "the end of the document"), ("[1", 1, 3, "found the end"),
        ("// no\n1", 1, 1, "a value"), ("'a'", 1, 1, "a value"), ("\u{A0}1", 1, 1, "a value"),
    ])
    func `errors say where and what`(_ text: String, line: Int, column: Int, expected: String) {
        let message = message(text)
        #expect(message.contains("line \(line), column \(column): "), "\(message)")
        #expect(message.contains(expected), "\(message)")
    }

    @Test func `lenient reading takes one trailing comma and nothing else`() throws {
        #expect(try parse("{\"a\":[1,2,],\n}", lenient: true) == (try parse("{\"a\":[1,2]}")))
        for text in ["[,]", "{,}", "[1,,]", "{\"a\":1,,}", "[1,],", "[1,2", "{\"a\",}"] {
            #expect(message(text, lenient: true) != "no error", "\(text)")
        }
    }

    @Test func `nesting has a limit`() throws {
        let deep = JSONScanner.depthMax
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONNode.parse(nested(deep))
        #expect(message(nested(deep + 1)).contains("64 levels"))
        #expect(message(String(repeating: "{\"a\":", count: 100_000)).contains("64 levels"))
    }

    @Test func `bytes that are not UTF-8 are found`() {
        let cases: [[UInt8]] = [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xE2, 0x82, 0x22], [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], [0xFF],
            [0x7B, 0x22, 0x80, 0x22, 0x3A, 0x31, 0x7D],
        ]
        for bytes in cases {
            #expect(throws: DatabaseError.self) { try JSONNode.parse(bytes.span) }
        }
    }

    @Test func `of a name that stands twice the last value counts`() throws {
        let node = try JSONNode.parse(#"{"a": 1, "b": 2, "a": 3}"#)
        #expect(node["a"]?.integer == 3)
        #expect(node.members?.map(\.key) == ["a", "b", "a"])
        #expect(node.members?[2].place.column == 18)
        #expect(node.members?[2].value.place.column == 23)
    }

    // MARK: Chunks

    private func tokens(_ bytes: [UInt8], chunks: Int?) -> [String] {
        var buffer = PaddedBuffer()
        var taken = 0
        func more(_ buffer: inout PaddedBuffer) {
            let size = Swift.min(chunks ?? bytes.count, bytes.count - taken)
            buffer.append(bytes.span.extracting(taken..<(taken + size)))
            taken += size
        }
        more(&buffer)
        var scanner = JSONScanner(
            buffer.bytes, isLast: taken == bytes.count, acceptsSeveralDocuments: true)
        var found: [String] = []
        while true {
            let token = scanner.next()
            switch token {
            case .incomplete:
                buffer.removeFirst(scanner.index)
                scanner.index = 0
                if taken == bytes.count { scanner.isLast = true } else { more(&buffer) }
                scanner.text = buffer.bytes
            case .end: return found + ["end"]
            case .invalid: return found + ["invalid: \(scanner.problem.message(in: scanner.text))"]
            case .key, .string: found.append("\(token) \(scanner.string)")
            case .integer, .float: found.append("\(token) \(scanner.bits)")
            default: found.append("\(token)")
            }
        }
    }

    @Test func `tokens do not depend on how the bytes come`() {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<150 {
            var bytes = Array(RandomJSON.document(&random).utf8)
            if random.next() % 2 == 0 { RandomJSON.damage(&bytes, &random) }
            let whole = tokens(bytes, chunks: nil)
            for chunks in [1, 2, 3, 7, 8, 13] {
                let parts = tokens(bytes, chunks: chunks)
                #expect(
                    parts == whole,
                    "seed \(seed), chunks of \(chunks): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    // MARK: Agreement

    /// What Foundation takes and the scanner does not, or the other way round, on purpose.
    private func isDecidedOtherwise(_ bytes: [UInt8], _ message: String) -> Bool {
        message.contains("too large") || message.contains("levels")
            // Foundation takes [1, ] and {"a":1, } where a blank follows the comma.
            || message.contains("found \"]") && message.contains("expected a value after the comma")
            || message.contains("found \"}") && message.contains("expected a name after the comma")
            || bytes.contains(0)
            || bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.starts(with: [0xFE, 0xFF])
            || bytes.starts(with: [0xFF, 0xFE])
    }

    @Test func `random and damaged documents are taken or refused as Foundation does`() {
        let count = Int(ProcessInfo.processInfo.environment["COZDB_FUZZ"] ?? "") ?? 3000
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        var accepted = 0
        for _ in 0..<count {
            var bytes = Array(RandomJSON.document(&random).utf8)
            for _ in 0..<(random.next() % 3) { RandomJSON.damage(&bytes, &random) }
            var message = ""
            do { _ = try JSONNode.parse(bytes.span) } catch { message = error.message }
            let reference = try? JSONSerialization.jsonObject(
                with: Data(bytes), options: [.fragmentsAllowed])
            if isDecidedOtherwise(bytes, message) { continue }
            if message.isEmpty { accepted += 1 }
            #expect(
                message.isEmpty == (reference != nil),
                "seed \(seed): \(message): \(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(accepted > count / 5)
    }
}

/// Documents of all that JSON has, and damage to them.
enum RandomJSON {
    static func document(_ random: inout SeededRandom) -> String {
        value(&random, depth: 0)
    }

    private static func blanks(_ random: inout SeededRandom) -> String {
        ["", "", "", " ", "\n", "\t ", "\r\n"].randomElement(using: &random)!
    }

    private static func value(_ random: inout SeededRandom, depth: Int) -> String {
        let kind = depth < 4 ? random.next() % 8 : 2 + random.next() % 6
        let count = Int(random.next() % 5)
        switch kind {
        case 0:
            let items = (0..<count).map { _ in value(&random, depth: depth + 1) }
            return blanks(&random) + "[" + items.joined(separator: ",") + blanks(&random) + "]"
        case 1:
            let members = (0..<count).map { _ in
                string(&random) + blanks(&random) + ":" + value(&random, depth: depth + 1)
            }
            return blanks(&random) + "{" + members.joined(separator: blanks(&random) + ",") + "}"
        case 2, 3: return blanks(&random) + string(&random) + blanks(&random)
        case 4, 5: return number(&random) + blanks(&random)
        default: return ["true", "false", "null", " null"].randomElement(using: &random)!
        }
    }

    private static func number(_ random: inout SeededRandom) -> String {
        switch random.next() % 5 {
        case 0: return "\(Int64(bitPattern: random.next()) >> Int64(random.next() % 64))"
        case 1: return "\(Double.random(in: -1e6...1e6, using: &random))"
        case 2:
            let value = Double(bitPattern: random.next())
            return value.isFinite ? "\(value)" : "0"
        default:
            let numbers = [
                "0", "-0", "0.0", "1e5", "1E-5", "-1.25e+3", "74.0", "12345678901234567890",
            ]
            return numbers.randomElement(using: &random)!
        }
    }

    static func string(_ random: inout SeededRandom) -> String {
        let pieces = [
            "a", "bc", "time", "0123456789", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u0000",
            "\\ud83d\\ude00", "é", "😀", "שלום", "{", "]", ",", ":", " ", "\u{7F}", "\u{2028}",
        ]
        let count = Int(random.next() % 6)
        return "\"" + (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined() + "\""
    }

    static func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        if bytes.isEmpty { return }
        let place = Int(random.next() % UInt64(bytes.count))
        let pieces = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", " ", "\n", "\u{1}", "t",
            "\\u", "\\ud800", "nul", "//", "é",
        ]
        switch random.next() % 5 {
        case 0: bytes.remove(at: place)
        case 1: bytes[place] = UInt8(truncatingIfNeeded: 1 + random.next() % 255)
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.insert(bytes[Int(random.next() % UInt64(bytes.count))], at: place)
        default: bytes.insert(contentsOf: pieces.randomElement(using: &random)!.utf8, at: place)
        }
    }
}
