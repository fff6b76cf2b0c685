// Writes points and names as line protocol, for the rejects journal, messages and exports.

/// Writes InfluxDB line protocol.
package enum LineText {
    /// Returns one point of a batch as a line that can be imported again.
    static func point(
        _ row: BatchRow, _ cells: Range<Int>, of batch: borrowing WriteBatch
    ) -> String {
        let tagSet = batch.receivedTagSet(Int(row.tagSet))
        var text = escaped(batch.experiments.text(tagSet.experiment), ", ")
        for tag in tagSet.tags {
            text += "," + escaped(tag.name, ",= ") + "=" + escaped(tag.value, ",= ")
        }
        for index in cells {
            let column = batch.receivedColumn(Int(batch.cells[index].column))
            let value = batch.value(batch.cells[index], column.type)
            text += field(column.name, value, isFirst: index == cells.lowerBound)
        }
        return text + " \(row.time)"
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
        var text = ""
        for scalar in name.unicodeScalars {
            if special.unicodeScalars.contains(scalar) { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text
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
