// JSON input formats, and how their files are recognized.

internal import CozDB

extension InputFormat {
    /// Rows as JSON objects, one per line or in arrays. Objects are flat, as `cozdb query` prints
    /// them (`ImportOptions.table` gives the meaning of keys), or have `tags`, `fields` and
    /// `fields_int`, as in `cozdb export`. Recognized by a first row that has a time.
    public static let ndjson = InputFormat(
        name: "ndjson", recognizes: { head, _ in ObjectFormats.isRows(head) },
        makeReader: { options in ObjectReader(options) })

    /// Query results of InfluxDB 1.x, from its HTTP API or from its shell with `-format json`.
    /// Recognized by documents that begin with `{"results":` or `{"error":`.
    public static let influxJSON = InputFormat(
        name: "influx-json", recognizes: { head, _ in ObjectFormats.isAnswer(head) },
        makeReader: { options throws(DatabaseError) in try InfluxJSONReader(options) })
}

package enum ObjectFormats {
    /// Whether a file is a query result, with blanks anywhere.
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

    /// Whether the first object has exactly the form that `cozdb export` writes. Payloads of apps
    /// have blanks, another order or a time with an offset.
    package static func isExport(_ head: [UInt8]) -> Bool {
        guard let line = firstObject(head), line.hasBytePrefix("{\"measurement\":\"") else {
            return false
        }
        return contains(line, ",\"tags\":{") && contains(line, "},\"time\":\"")
            && contains(line, "Z\",\"fields\":{")
    }

    /// Returns the rest of the line from the first object on; nil if something else comes first.
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
