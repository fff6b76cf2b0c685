// Tables as formats of an import, and how their files are known.

internal import CozDB

extension InputFormat {
    /// A table of comma-separated values with a header: `ImportOptions.table` says what its
    /// columns are, where their names, the database and annotations do not. Recognises files by
    /// the ending `.csv` or `.tsv`, and headers with a time that cannot be line protocol.
    public static let csv = InputFormat(
        name: "csv", recognizes: TableFormats.isTable,
        makeReader: { options throws(DatabaseError) in try TableReader(.plain, options) })

    /// CSV with annotations: answers of InfluxDB 2, and what `influx write` takes. Recognises
    /// files by an annotation in the first line.
    public static let annotatedCSV = InputFormat(
        name: "annotated-csv", recognizes: { head, _ in TableFormats.isAnnotated(head) },
        makeReader: { options throws(DatabaseError) in try TableReader(.annotated, options) })

    /// What the shell of InfluxDB 1.x prints with `-format csv`. Recognises files by a header that
    /// begins with `name,time` or `name,tags,time`.
    public static let influxCSV = InputFormat(
        name: "influx-csv", recognizes: { head, _ in TableFormats.isShell(head) },
        makeReader: { options throws(DatabaseError) in try TableReader(.influxShell, options) })
}

/// How files of tables are known.
enum TableFormats {
    @Sendable static func isTable(_ head: [UInt8], _ fileName: String) -> Bool {
        if hasSuffix(fileName, ".csv") || hasSuffix(fileName, ".tsv") { return true }
        // No line protocol is without an equals sign.
        let line = firstLine(head)
        guard let first = line.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "["),
            !line.contains(UInt8(ascii: "="))
        else { return false }
        let separators = [UInt8(ascii: ","), tab, UInt8(ascii: ";")]
        let cells = line.split { separators.contains($0) }.map {
            String(decoding: $0, as: UTF8.self).lowercased()
        }
        return cells.count > 1 && cells.contains { TableHeader.timeNames.contains($0) }
    }

    static func isAnnotated(_ head: [UInt8]) -> Bool {
        let line = firstLine(head)
        return TableAnnotations.Word.allCases.contains { word in
            let text = Array("#\(word.rawValue)".utf8)
            guard line.starts(with: text), let next = line.dropFirst(text.count).first else {
                return false
            }
            return next == UInt8(ascii: ",") || next == space
        }
    }

    static func isShell(_ head: [UInt8]) -> Bool {
        let line = firstLine(head)
        return ["name,time", "name,tags,time"].contains { text in
            guard line.starts(with: text.utf8) else { return false }
            let next = line.dropFirst(text.utf8.count).first
            return next == nil || next == UInt8(ascii: ",")
        }
    }

    /// In any case of letters, also with `.gz` behind it.
    static func hasSuffix(_ name: String, _ suffix: String) -> Bool {
        let lower = name.lowercased()
        return lower.hasSuffix(suffix) || lower.hasSuffix(suffix + ".gz")
    }

    /// Without byte order mark, empty lines before it, and a carriage return.
    private static func firstLine(_ head: [UInt8]) -> ArraySlice<UInt8> {
        let start = head.starts(with: "\u{FEFF}".utf8) ? 3 : 0
        let text = head[start...].drop { $0 == newline || $0 == carriageReturn }
        return text.prefix { $0 != newline && $0 != carriageReturn }
    }
}
