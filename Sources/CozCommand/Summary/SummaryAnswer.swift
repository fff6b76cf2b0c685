// Summaries as JSON, as a table and as csv. The columns of tables and csv are the keys of the JSON.

internal import CozDB
internal import CozStudy
internal import Glibc

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
    /// Participants with their summaries as objects.
    private var parts: [(participant: String, summaries: [JSONValue])] = []

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
            // Summaries contain only text and numbers, so encoding cannot fail.
            let objects = one.summaries.map { (try? JSONValue(encoding: $0)) ?? .null }
            parts.append((one.participant, objects))
        }
    }

    func write(_ format: SummaryCommand.Format, _ shape: Shape) throws(DatabaseError) {
        let output = OutputWriter()
        switch format {
        case .json: printJSON(shape, to: output)
        case .table: printTable(rows(shape.showsSlots), to: output)
        case .csv: printCSV(rows(shape.showsSlots), shape.cells, to: output)
        }
        try output.flush()
    }

    // MARK: JSON

    private func printJSON(_ shape: Shape, to output: OutputWriter) {
        if !shape.isList {
            output.append((parts.first?.summaries.first ?? .null).text() + "\n")
            return
        }
        var separator = "[\n  "
        for (participant, summaries) in parts {
            for summary in summaries {
                let object = shape.namesParticipants ? named(participant, summary) : summary
                output.append(separator + object.text(indent: 2))
                separator = ",\n  "
            }
        }
        output.append(separator.hasPrefix("[") ? "[]\n" : "\n]\n")
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

    /// One row per summary without its slots, or one per slot with its participant.
    private func rows(_ showsSlots: Bool) -> [Row] {
        var rows: [Row] = []
        for (participant, summaries) in parts {
            for case .object(let members) in summaries {
                guard case .array(let slots)? = members.first(where: { $0.key == "slots" })?.value
                else { continue }
                if showsSlots {
                    for case .object(let slot) in slots {
                        rows.append(Row(participant: participant, members: slot))
                    }
                } else {
                    let shown = members.filter { $0.key != "slots" }
                        .map { slots.isEmpty ? SummaryAnswer.unmeasured($0) : $0 }
                    rows.append(Row(participant: participant, members: shown))
                }
            }
        }
        return rows
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

    private func printTable(_ all: [Row], to output: OutputWriter) {
        var rows = all
        for index in rows.indices {
            rows[index].members.removeAll { SummaryAnswer.uncomputed.contains($0.key) }
        }
        guard let first = rows.first else {
            output.append(kind == .sleep ? "(no sleep sessions)\n" : "(no data)\n")
            return
        }
        if rows.count == 1 {
            // One summary has more columns than fit a terminal: print one line per column.
            var table = TextTable([.init("name"), .init("value")])
            table.append([SummaryAnswer.who, first.participant])
            for member in first.members { table.append([member.key, text(member.value)]) }
            output.append(table.takeText())
            return
        }
        var table = TextTable(
            [.init(SummaryAnswer.who)]
                + first.members.map { member in
                    if case .string = member.value { return .init(member.key) }
                    return .init(member.key, right: true)
                })
        for row in rows {
            table.append([row.participant] + row.members.map { text($0.value) })
        }
        output.append(
            table.takeText(
                widthMax: Terminal.columns(STDOUT_FILENO), elsewhere: "--format csv"))
    }

    private func printCSV(_ rows: [Row], _ style: CSVStyle, to output: OutputWriter) {
        let name = { (text: String) in
            style == .marksFormulas ? SpreadsheetFormula.marked(text) : text
        }
        for (index, row) in rows.enumerated() {
            if index == 0 { appendLine([SummaryAnswer.who] + row.members.map(\.key), to: output) }
            let cells = row.members.map { member in
                if case .string(let text) = member.value { return name(text) }
                return text(member.value)
            }
            appendLine([name(row.participant)] + cells, to: output)
        }
    }

    /// An empty cell is null.
    private func appendLine(_ cells: [String], to output: OutputWriter) {
        var bytes: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            if !cell.isEmpty { CSVFormat.append(cell, to: &bytes) }
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
