// Summaries as JSON, as a table and as csv. The columns of tables and csv are the keys of the JSON.

internal import CozDB
internal import CozStudy
internal import CozPlatform

/// The summaries of one kind, for any number of participants.
struct SummaryAnswer {
    struct Shape {
        /// Whether JSON is an array, even of one summary.
        var isList = false
        /// Whether every object names its participant.
        var namesParticipants = false
        /// Whether tables and csv have one row per slot.
        var showsSlots = false
        var cells = CSVStyle.plain
    }

    /// Members of the app's summaries that cannot be computed; tables do not show them.
    private static let uncomputed: Set<String> = [
        "id", "consecutiveSleepSlotLightToRemove", "consecutiveSleepSlotDeepToRemove",
        "consecutiveSleepSlotRemToRemove", "totalSecsDept", "totalSecsIntensityAdjust",
        "totalSecsDeptAdjust", "isRejected", "isEdited",
    ]

    private let kind: SummaryKind
    /// The summaries of a participant. Objects take much more memory than what they are made from,
    /// so each is made when it is printed.
    private struct Part {
        var participant: String
        var count: Int
        var object: (Int) -> JSONValue
    }

    private var parts: [Part] = []

    init(_ kind: SummaryKind, _ summaries: BraceletSummaries) throws(DatabaseError) {
        self.kind = kind
        switch kind {
        case .bpm: add(try summaries.bpm())
        case .breath: add(try summaries.breath())
        case .steps: add(try summaries.steps())
        case .activity: add(try summaries.activity())
        case .skinTemperature: add(try summaries.skinTemperature())
        case .coreTemperature: add(try summaries.coreTemperature())
        case .spo2: add(try summaries.spo2())
        case .eda: add(try summaries.eda())
        case .sleep: add(try summaries.sleep())
        }
    }

    private mutating func add(_ all: [ParticipantSummaries<some Encodable & Sendable>]) {
        for one in all {
            parts.append(
                Part(participant: one.participant, count: one.summaries.count) { index in
                    // Summaries contain only text and numbers, so encoding cannot fail.
                    (try? JSONValue(encoding: one.summaries[index])) ?? .null
                })
        }
    }

    func write(_ format: SummaryCommand.Format, _ shape: Shape) throws(DatabaseError) {
        let output = OutputWriter()
        switch format {
        case .json: printJSON(shape, to: output)
        case .table: printTable(shape.showsSlots, to: output)
        case .csv: printCSV(shape.showsSlots, shape.cells, to: output)
        }
        try output.flush()
    }

    // MARK: JSON

    private func printJSON(_ shape: Shape, to output: OutputWriter) {
        if !shape.isList {
            let first = parts.first.flatMap { $0.count > 0 ? $0.object(0) : nil }
            output.append((first ?? .null).text() + "\n")
            return
        }
        var separator = "[\n  "
        for part in parts {
            for index in 0..<part.count {
                let summary = part.object(index)
                let object = shape.namesParticipants ? named(part.participant, summary) : summary
                output.append(separator + object.text(indent: 2))
                separator = ",\n  "
            }
        }
        output.append(separator.hasBytePrefix("[") ? "[]\n" : "\n]\n")
    }

    private func named(_ participant: String, _ summary: JSONValue) -> JSONValue {
        guard case .object(let members) = summary else { return summary }
        let name = JSONValue.JSONMember(key: SummaryAnswer.who, value: .string(participant))
        return .object([name] + members)
    }

    private static let who = "id_participant"

    // MARK: Rows

    private struct Row {
        var participant: String
        var members: [JSONValue.JSONMember]
    }

    /// Calls the body with one row per summary without its slots, or one per slot.
    private func forEachRow(_ showsSlots: Bool, _ body: (Row) -> Void) {
        for part in parts {
            for index in 0..<part.count {
                guard case .object(let members) = part.object(index),
                    case .array(let slots)? = members.first(where: { $0.key == "slots" })?.value
                else { continue }
                if showsSlots {
                    for case .object(let slot) in slots {
                        body(Row(participant: part.participant, members: slot))
                    }
                } else {
                    let shown = members.filter { $0.key != "slots" }
                        .map { slots.isEmpty ? SummaryAnswer.unmeasured($0) : $0 }
                    body(Row(participant: part.participant, members: shown))
                }
            }
        }
    }

    /// For a day without data the app reports zeros. In rows they become null, so that they do not
    /// distort statistics.
    private static func unmeasured(_ member: JSONValue.JSONMember) -> JSONValue.JSONMember {
        switch member.value {
        case .integer where member.key != "id", .number:
            JSONValue.JSONMember(key: member.key, value: .null)
        default: member
        }
    }

    private func printTable(_ showsSlots: Bool, to output: OutputWriter) {
        var first: Row?
        var table: TextTable?
        forEachRow(showsSlots) { row in
            var row = row
            row.members.removeAll { SummaryAnswer.uncomputed.contains($0.key) }
            guard let known = first else {
                first = row
                return
            }
            if table == nil {
                table = TextTable(
                    [.init(SummaryAnswer.who)]
                        + known.members.map { member in
                            if case .string = member.value { return .init(member.key) }
                            return .init(member.key, right: true)
                        })
                table?.append([known.participant] + known.members.map { text($0.value) })
            }
            table?.append([row.participant] + row.members.map { text($0.value) })
        }
        guard let first else {
            output.append(kind == .sleep ? "(no sleep sessions)\n" : "(no data)\n")
            return
        }
        if var table {
            output.append(
                table.takeText(
                    widthMax: Terminal.columns(STDOUT_FILENO), elsewhere: "--format csv"))
            return
        }
        // One summary has more columns than fit a terminal: print one line per column.
        var lines = TextTable([.init("name"), .init("value")])
        lines.append([SummaryAnswer.who, first.participant])
        for member in first.members { lines.append([member.key, text(member.value)]) }
        output.append(lines.takeText())
    }

    private func printCSV(_ showsSlots: Bool, _ style: CSVStyle, to output: OutputWriter) {
        var isFirst = true
        forEachRow(showsSlots) { row in
            if isFirst {
                let names = [SummaryAnswer.who] + row.members.map(\.key)
                appendLine(names.map { .string($0) }, style, to: output)
            }
            isFirst = false
            let cells = [.string(row.participant)] + row.members.map(\.value)
            appendLine(cells, style, to: output)
        }
    }

    /// An empty cell is null.
    private func appendLine(_ cells: [JSONValue], _ style: CSVStyle, to output: OutputWriter) {
        var bytes: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(style.delimiter) }
            switch cell {
            case .null, .string(""): break
            case .string(let text): CSVFormat.append(text, style, to: &bytes)
            case .number(let number) where number.isFinite: style.append(number, to: &bytes)
            default: CSVFormat.append(cell.line, style, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        output.append(bytes)
    }

    private func text(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .null: ""
        default: value.line
        }
    }
}
