// The answer to one question of a study in all output formats: records for programs, and a section
// of the report for people.

internal import CozDB
internal import CozStudy

struct ReportStyle {
    var glyphs: Glyphs
    /// Width of the terminal.
    var width: Int
    var zone: TimeZoneRules
}

struct StudySection {
    var question: StudyQuestion
    var statement: String?
    /// Why the answer is empty.
    var note: String?
    /// The names of the columns of the records. Scripts rely on them.
    var columns: [String]
    var records: [[JSONValue]]
    /// The answer for people: complete lines.
    var report: String

    static func answer(
        _ question: StudyQuestion, _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        switch question {
        case .overview: try overview(study, style)
        case .responses: try responses(study, style)
        case .votes: try votes(study, style)
        case .goal: try goal(study, style)
        case .silence: try silence(study, style)
        case .delay: try delay(study, style)
        case .interval: try interval(study, style)
        case .availability: try availability(study, style)
        }
    }

    init(
        _ question: StudyQuestion, _ statement: String?, _ note: String?, _ columns: [String],
        _ records: [[JSONValue]], report: () -> String
    ) {
        self.question = question
        self.statement = statement
        self.note = note
        self.columns = columns
        self.records = records
        let body = records.isEmpty ? "" : report()
        let remark = note.map { "(\(PlainText.escaped($0)))\n" } ?? ""
        self.report = body + remark
    }

    // MARK: For programs

    /// Appends the records as CSV, in the style of `cozdb query`.
    func appendCSV(_ style: CSVStyle, to output: OutputWriter) {
        let delimiter = String(UnicodeScalar(style.delimiter))
        output.append(columns.joined(separator: delimiter) + "\n")
        var bytes: [UInt8] = []
        for record in records {
            bytes.removeAll(keepingCapacity: true)
            for (index, cell) in record.enumerated() {
                if index > 0 { bytes.append(style.delimiter) }
                switch cell {
                case .null: break
                case .string(let text): CSVFormat.append(text, style, to: &bytes)
                case .number(let number) where number.isFinite: style.append(number, to: &bytes)
                default: bytes.append(contentsOf: cell.line.utf8)
                }
            }
            bytes.append(UInt8(ascii: "\n"))
            output.append(bytes)
        }
    }

    /// Appends the statement, the note and the records as JSON, one line per record.
    func appendJSON(to output: OutputWriter) {
        output.append("{\"statement\": " + (statement.map(JSONText.quoted) ?? "null"))
        if let note { output.append(", \"note\": " + JSONText.quoted(note)) }
        output.append(", \"rows\": [")
        for (index, record) in records.enumerated() {
            let members = zip(columns, record).map {
                JSONValue.JSONMember(key: $0, value: $1)
            }
            output.append((index > 0 ? ",\n    " : "\n    ") + JSONValue.object(members).line)
        }
        output.append("]}")
    }

    // MARK: Formatting

    static func day(_ day: LocalDate) -> JSONValue { .string(day.description) }

    static func time(_ time: Timestamp?, _ zone: TimeZoneRules) -> JSONValue {
        guard let time else { return .null }
        return .string(zone.text(time, fractionDigits: .nine))
    }

    /// Date, hour and minute in the zone.
    static func clock(_ time: Timestamp?, _ zone: TimeZoneRules) -> String {
        guard let time else { return "never" }
        let text = zone.text(time)
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5)
    }

    /// Seconds in a readable unit: `3.9 s`, `11.2 min`, `6.8 h`, `2.3 d`.
    static func duration(_ seconds: Double) -> String {
        let (unit, size): (String, Double) =
            switch seconds.magnitude {
            case ..<60: ("s", 1)
            case ..<3_600: ("min", 60)
            case ..<172_800: ("h", 3_600)
            default: ("d", 86_400)
            }
        return "\(PlainText.fixed(seconds / size, digits: 1)) \(unit)"
    }

    /// Rounds down, so that only a complete whole is 100%.
    static func percent(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "" }
        let share = (Double(part) * 100 / Double(whole)).rounded(.down)
        return PlainText.fixed(share, digits: 0) + "%"
    }
}
