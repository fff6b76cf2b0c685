// JSON as formats of an import, and how its files are known.

internal import CozDB

extension InputFormat {
    /// Rows as JSON objects, one a line or in arrays: flat, as `cozdb query` prints them
    /// (`ImportOptions.table` says what keys are), or with `tags`, `fields` and `fields_int`, as
    /// `cozdb export` does. Recognises both, where they begin with a row that has a time.
    public static let ndjson = InputFormat(
        name: "ndjson", recognizes: { head, _ in ObjectFormats.isRows(head) },
        makeReader: { options in ObjectReader(options) })

    /// Answers of InfluxDB 1.x: of its HTTP API, and of its shell with `-format json`.
    /// Recognises documents that begin with `{"results":`.
    public static let influxJSON = InputFormat(
        name: "influx-json", recognizes: { head, _ in ObjectFormats.isAnswer(head) },
        makeReader: { options throws(DatabaseError) in try ResultReader(options) })
}

/// How files of JSON are known.
package enum ObjectFormats {
    /// The answer of a query: `{"results":`, with blanks anywhere.
    static func isAnswer(_ head: [UInt8]) -> Bool {
        let text = withoutBlanks(head.prefix(400))
        return text.starts(with: "{\"results\":".utf8)
            || text.starts(with: "{\"error\":".utf8)
    }

    static func isRows(_ head: [UInt8]) -> Bool {
        if isExport(head) { return true }
        guard let line = firstObject(head) else { return false }
        func has(_ part: String) -> Bool { contains(line, part) }
        if has("\"measurement\"") || has("\"fields\"") || has("\"tags\"") { return false }
        return TableHeader.timeNames.contains { has("\"\($0)\"") }
    }

    /// Whether the first object is a row as `cozdb export` writes it, to the byte: an app's payload
    /// has blanks, another order or a time with an offset.
    package static func isExport(_ head: [UInt8]) -> Bool {
        guard let line = firstObject(head), line.hasPrefix("{\"measurement\":\"") else {
            return false
        }
        return contains(line, ",\"tags\":{") && contains(line, "},\"time\":\"")
            && contains(line, "Z\",\"fields\":{")
    }

    /// The first line with an object, from its brace on; nil where something else comes first.
    private static func firstObject(_ head: [UInt8]) -> String? {
        let start = head.starts(with: "\u{FEFF}".utf8) ? 3 : 0
        let text = head[start...].drop {
            $0 == newline || $0 == carriageReturn || $0 == space || $0 == UInt8(ascii: "[")
        }
        guard text.first == UInt8(ascii: "{") else { return nil }
        return String(decoding: text.prefix { $0 != newline }, as: UTF8.self)
    }

    private static func contains(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        guard text.count >= part.count else { return false }
        return (0...(text.count - part.count)).contains {
            text[$0] == part[0] && text[$0..<($0 + part.count)].elementsEqual(part)
        }
    }

    private static func withoutBlanks(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let bytes = bytes.starts(with: "\u{FEFF}".utf8) ? bytes.dropFirst(3) : bytes
        return bytes.filter { $0 > space }
    }
}
