// The notes of an export on standard error: why it has no rows, what the file does not contain, and
// which options an import of it needs.

internal import CozDB
internal import CozStudy

struct ExportNotes {
    private(set) var lines: [String] = []
    private(set) var hasLosses = false
    private var empty: [(request: ResearcherRequest, schema: ExperimentSchema)] = []
    private var hasRows = false

    /// Records an experiment that was written.
    mutating func add(_ rows: Int, _ request: ResearcherRequest, _ schema: ExperimentSchema) {
        if rows > 0 { hasRows = true } else { empty.append((request, schema)) }
    }

    /// Records the options for an experiment that a default import would not recreate.
    mutating func add(_ importOptions: String, of schema: ExperimentSchema) {
        lines.append(
            "experiment \"\(schema.name)\": to import it again, use \(importOptions)")
    }

    /// Records a field named `time`: in files this is the name of the time column.
    mutating func addTime(of schema: ExperimentSchema, _ request: ResearcherRequest) {
        let columns = request.columns
        guard schema.field(ExportTable.timeName) != nil,
            columns.isEmpty || columns.contains(ExportTable.timeName)
        else { return }
        addTime("field", of: schema)
    }

    /// - Parameter kind: The kind of the column named `time`: field or tag.
    mutating func addTime(_ kind: String, of schema: ExperimentSchema) {
        hasLosses = true
        lines.append(
            "experiment \"\(schema.name)\": the \(kind) \"time\" is left out, because files use "
                + "this name for the time of rows")
    }

    mutating func add(_ losses: FormatLosses, _ format: String) {
        let others = format == "lp" ? "csv and ndjson" : nil
        guard let note = losses.note(format, others: others) else { return }
        hasLosses = true
        lines.append(note)
    }

    /// Explains why there are no rows: an empty answer looks like a mistyped name.
    mutating func explain(_ snapshot: DatabaseSnapshot) throws(DatabaseError) {
        if hasRows { return }
        for (request, schema) in empty {
            let known = try participants(snapshot, request, schema)
            let unknown = request.participants.filter { participant in
                !known.contains { $0.utf8.elementsEqual(participant.utf8) }
            }
            var reason = "no row has the requested columns and times"
            if let name = unknown.first {
                let some = known.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
                reason = "found no participant \"\(name)\""
                reason +=
                    known.isEmpty
                    ? "; the experiment has no participants"
                    : ", expected one of \(known.count): " + some
                        + (known.count > 10 ? ", ..." : "")
            } else if request.password != nil {
                reason += " and this id_password"
            }
            lines.append("experiment \"\(schema.name)\": no rows; \(reason)")
        }
    }

    private func participants(
        _ snapshot: DatabaseSnapshot, _ request: ResearcherRequest, _ schema: ExperimentSchema
    ) throws(DatabaseError) -> [String] {
        var tag = "id_participant"
        if case .participant(let name) = schema.identity { tag = name }
        var options = QueryOptions(now: request.now)
        options.influxCompatible = true
        let answer = try snapshot.query(
            "SHOW TAG VALUES FROM \(QueryText.name(schema.name)) "
                + "WITH KEY = \(QueryText.name(tag))", options: options)
        return answer.series.flatMap { $0.column("value")?.texts ?? [] }.compactMap(\.self)
    }
}
