// Writes points and names as line protocol, for the rejects journal, messages and exports.

/// Writes InfluxDB line protocol.
package enum LineText {
    /// Returns one point of a batch as a line that can be imported again. If line protocol cannot
    /// represent its names, the line is an item of JSON (`ItemText`).
    static func point(
        _ row: BatchRow, _ cells: Range<Int>, of batch: borrowing WriteBatch
    ) -> String {
        let tagSet = batch.receivedTagSet(Int(row.tagSet))
        let experiment = batch.experiments.text(tagSet.experiment)
        let fields = cells.map { index in
            let column = batch.receivedColumn(Int(batch.cells[index].column))
            return (name: column.name, value: batch.value(batch.cells[index], column.type))
        }
        guard canRepresent(experiment: experiment, tagSet.tags),
            fields.allSatisfy({ canRepresent($0.name) })
        else {
            return ItemText.point(
                experiment: experiment, tags: tagSet.tags, fields: fields, time: row.time)
        }
        var text = escaped(experiment, ", ")
        for tag in tagSet.tags {
            text += "," + escaped(tag.name, ",= ") + "=" + escaped(tag.value, ",= ")
        }
        for (index, one) in fields.enumerated() {
            text += field(one.name, one.value, isFirst: index == 0)
        }
        return text + " \(row.time)"
    }

    /// Whether a refused line can have these names and values. A line that begins with a brace is
    /// read as an item of JSON (`LineSeries`).
    static func canRepresent(
        experiment: String, _ tags: [(name: String, value: String)]
    ) -> Bool {
        canRepresent(experiment: experiment) && experiment.utf8.first != UInt8(ascii: "{")
            && tags.allSatisfy { canRepresent($0.name) && canRepresent($0.value) }
    }

    /// Whether the name can begin a line: it must not start a comment, or start with a character
    /// that readers skip there (tab, NUL or a byte order mark).
    package static func canRepresent(experiment name: String) -> Bool {
        canRepresent(name) && name.utf8.first != UInt8(ascii: "#") && !isReadAsWhitespace(name)
            && !name.utf8.starts(with: "\u{FEFF}".utf8)
    }

    /// Whether line protocol can represent a name or tag value. A line break would end the line,
    /// and a trailing backslash would escape the byte after it.
    package static func canRepresent(_ name: String) -> Bool {
        name.utf8.last != UInt8(ascii: "\\") && !name.utf8.contains(UInt8(ascii: "\n"))
    }

    /// Returns a field with the separator before it.
    static func field(_ name: String, _ value: FieldValue, isFirst: Bool) -> String {
        let separator =
            isFirst ? (isReadAsWhitespace(name) ? " " + ignoredField : " ") : ","
        return separator + escaped(name, ",= ") + "=" + value.description
    }

    /// Prefix for a first field whose name a reader would misread. Every reader drops fields named
    /// `time`.
    package static let ignoredField = "time=0i,"

    /// Whether a reader would skip the start of a name as whitespace (`skipWhitespace` in
    /// InfluxDB). A space can be escaped; tab and NUL cannot.
    package static func isReadAsWhitespace(_ name: String) -> Bool {
        name.utf8.first == UInt8(ascii: "\t") || name.utf8.first == 0
    }

    /// Returns a name with a backslash before each special character.
    static func escaped(_ name: String, _ special: String) -> String {
        // Special characters are ASCII and so no part of another character.
        guard name.utf8.contains(where: special.utf8.contains) else { return name }
        var text: [UInt8] = []
        text.reserveCapacity(name.utf8.count + 8)
        for byte in name.utf8 {
            if special.utf8.contains(byte) { text.append(UInt8(ascii: "\\")) }
            text.append(byte)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Writes points as items of JSON, which can express all names.
package enum ItemText {
    /// Returns one point in the form of NDJSON exports.
    static func point(
        experiment: String, tags: [(name: String, value: String)],
        fields: [(name: String, value: FieldValue)], time: Int64
    ) -> String {
        var members: [(name: String, value: String)] = []
        var integers: [(name: String, value: String)] = []
        for field in fields {
            switch field.value {
            case .integer(let number): integers.append((field.name, String(number)))
            case .float(let number) where number.isFinite:
                members.append((field.name, "\(number)"))
            case .boolean(let flag): members.append((field.name, "\(flag)"))
            case .float, .string: members.append((field.name, quoted(field.value.plainText)))
            }
        }
        return object([
            ("measurement", quoted(experiment)),
            ("tags", object(tags.map { ($0.name, quoted($0.value)) })),
            ("time", quoted(Timestamp(nanoseconds: time).text())), ("fields", object(members)),
            ("fields_int", object(integers)),
        ])
    }

    private static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { quoted($0.name) + ":" + $0.value }.joined(separator: ",") + "}"
    }

    /// A string of JSON (RFC 8259, section 7).
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension SeriesKey {
    /// The tags in line protocol syntax.
    var tagText: String {
        tags.map { LineText.escaped($0.name, ",= ") + "=" + LineText.escaped($0.value, ",= ") }
            .joined(separator: ",")
    }

    /// An experiment and the tags in line protocol syntax.
    func text(ofExperiment name: String) -> String {
        LineText.escaped(name, ", ") + (tags.isEmpty ? "" : "," + tagText)
    }
}

extension WriteBatch {
    /// Returns a cell as a value.
    func value(_ cell: BatchCell, _ type: FieldType) -> FieldValue {
        switch type {
        case .float: .float(Double(bitPattern: cell.bits))
        case .integer: .integer(Int64(bitPattern: cell.bits))
        case .boolean: .boolean(cell.bits != 0)
        case .string: .string(text(cell.bits))
        }
    }
}
