// What an export tells people on standard error: why there are no rows, what a file does not hold,
// and how an import makes the same again.

internal import CozDB
internal import CozStudy

struct ExportNotes {
    private(set) var lines: [String] = []
    private(set) var hasLosses = false
    private var empty: [(request: ResearcherRequest, schema: ExperimentSchema)] = []
    private var hasRows = false

    /// An experiment was written.
    mutating func add(_ rows: Int, _ request: ResearcherRequest, _ schema: ExperimentSchema) {
        if rows > 0 { hasRows = true } else { empty.append((request, schema)) }
    }

    /// An experiment that an import with its own defaults would make otherwise.
    mutating func add(_ importOptions: String, of schema: ExperimentSchema) {
        lines.append(
            "experiment \"\(schema.name)\": import it again with \(importOptions)")
    }

    /// A field that no file can hold, because its name is that of the times there.
    mutating func addTime(of schema: ExperimentSchema, _ request: ResearcherRequest) {
        let columns = request.columns
        guard schema.field(ExportTable.timeName) != nil,
            columns.isEmpty || columns.contains(ExportTable.timeName)
        else { return }
        addTime("field", of: schema)
    }

    /// - Parameter kind: of the column that has the name of the times.
    mutating func addTime(_ kind: String, of schema: ExperimentSchema) {
        hasLosses = true
        lines.append(
            "experiment \"\(schema.name)\": the \(kind) \"time\" is left out; in files that is "
                + "the name of the times")
    }

    mutating func add(_ losses: FormatLosses, _ format: String) {
        let others = format == "lp" ? "csv and ndjson" : nil
        guard let note = losses.note(format, others: others) else { return }
        hasLosses = true
        lines.append(note)
    }

    /// Nobody can tell an empty answer from a mistyped name, so it is said.
    mutating func explain(_ snapshot: DatabaseSnapshot) throws(DatabaseError) {
        if hasRows { return }
        for (request, schema) in empty {
            let known = try participants(snapshot, request, schema)
            let unknown = request.participants.filter { participant in
                !known.contains { $0.utf8.elementsEqual(participant.utf8) }
            }
            var reason = "no row of the columns and times asked for"
            if let name = unknown.first {
                let some = known.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
                reason = "there is no participant \"\(name)\"; there are \(known.count)"
                if !known.isEmpty { reason += ": " + some + (known.count > 10 ? ", ..." : "") }
            } else if request.password != nil {
                reason += " has this id_password"
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
