// Table formats, and how their files are recognized.

internal import CozDB

extension InputFormat {
    /// Comma-separated values with a header. Column names, the database, annotations and
    /// `ImportOptions.table` define the columns. Recognized by the extension `.csv` or `.tsv`, or
    /// by a header with a time column that cannot be line protocol.
    public static let csv = InputFormat(
        name: "csv", recognizes: TableFormats.isTable,
        makeReader: { options throws(DatabaseError) in try TableReader(.plain, options) })

    /// Annotated CSV: query results of InfluxDB 2 and input of `influx write`. Recognized by an
    /// annotation in the first line.
    public static let annotatedCSV = InputFormat(
        name: "annotated-csv", recognizes: { head, _ in TableFormats.isAnnotated(head) },
        makeReader: { options throws(DatabaseError) in try TableReader(.annotated, options) })

    /// Output of the InfluxDB 1.x shell with `-format csv`. Recognized by a header that begins with
    /// `name,time` or `name,tags,time`.
    public static let influxCSV = InputFormat(
        name: "influx-csv", recognizes: { head, _ in TableFormats.isShell(head) },
        makeReader: { options throws(DatabaseError) in try TableReader(.influxShell, options) })
}

enum TableFormats {
    @Sendable static func isTable(_ head: [UInt8], _ fileName: String) -> Bool {
        if hasExtension(fileName, ".csv") || hasExtension(fileName, ".tsv") { return true }
        // Line protocol always contains an equals sign.
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

    /// Compares a file extension; ignores case and a final `.gz`.
    static func hasExtension(_ name: String, _ suffix: String) -> Bool {
        let lower = name.lowercased()
        return lower.hasByteSuffix(suffix) || lower.hasByteSuffix(suffix + ".gz")
    }

    /// Returns the first non-empty line, without byte order mark and carriage return.
    private static func firstLine(_ head: [UInt8]) -> ArraySlice<UInt8> {
        let start = head.starts(with: "\u{FEFF}".utf8) ? 3 : 0
        let text = head[start...].drop { $0 == newline || $0 == carriageReturn }
        return text.prefix { $0 != newline && $0 != carriageReturn }
    }
}
