// Exports one experiment in a format that can be imported again, under the names that are stored.

internal import CozDB
internal import CozStudy

struct ExperimentExport {
    let snapshot: DatabaseSnapshot
    /// The selection of rows and columns. Its zone and its empty columns do not apply here.
    let request: ResearcherRequest
    let schema: ExperimentSchema

    /// Writes the rows and returns their number.
    func write(
        in format: any ExportFormat, to output: OutputWriter, noting notes: inout ExportNotes
    ) throws(DatabaseError) -> Int {
        let table = ExportTable(
            experiment: schema.name, tags: try tags(noting: &notes), fields: fields)
        if table.fields.isEmpty { return 0 }
        format.begin(table)
        var sink = ExportSink(format, output)
        try snapshot.query(statement(table), options: options, into: &sink)
        return sink.rows
    }

    /// The import options that recreate the experiment; nil if the defaults do.
    var importOptions: String? {
        var words: [String] = []
        switch schema.identity {
        case .standard: break
        case .participant(let tag): words.append("--participant-tag \(ShellText.quoted(tag))")
        case .allTags, .tags: words.append("--identity \(ShellText.quoted("\(schema.identity)"))")
        }
        if schema.typeRule == .strict { words.append("--types strict") }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    private var fields: [ExportTable.Field] {
        var fields = schema.fields.map { ExportTable.Field(name: $0.name, type: $0.type) }
        let wanted = Set(request.columns.map { Array($0.utf8) })
        if !wanted.isEmpty { fields.removeAll { !wanted.contains(Array($0.name.utf8)) } }
        fields.removeAll { $0.name == ExportTable.timeName }
        return fields
    }

    /// All tags of the rows, whether they belong to the identity or not.
    private func tags(noting notes: inout ExportNotes) throws(DatabaseError) -> [String] {
        let answer = try snapshot.query(
            "SHOW TAG KEYS FROM \(QueryText.name(schema.name))", options: options)
        let names = answer.series.flatMap { series in series.columns.flatMap(\.texts) }
            .compactMap(\.self)
        if names.contains(ExportTable.timeName) { notes.addTime("tag", of: schema) }
        return names.filter { $0 != ExportTable.timeName }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func statement(_ table: ExportTable) -> String {
        let items =
            table.tags.map { QueryText.name($0) + "::tag" }
            + table.fields.map { QueryText.name($0.name) + "::field" }
        return "SELECT \(items.joined(separator: ", ")) FROM \(QueryText.name(schema.name))"
            + request.condition(schema)
    }

    private var options: QueryOptions {
        var options = QueryOptions(now: request.now)
        // A condition on a tag that no point has matches no rows.
        options.influxCompatible = true
        options.redactsSecrets = request.redactsSecrets
        options.isCancelled = { Signals.isInterrupted }
        options.isGenerated = true
        return options
    }
}
