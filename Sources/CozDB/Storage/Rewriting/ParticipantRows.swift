// Finds the rows of participants, by a tag of the identity or by an attribute, and lists all
// participants of the data.

/// Finds the rows of participants.
struct ParticipantRows {
    /// The tags that name participants (`SchemaSet.participantTags`).
    let tags: Set<Name>
    let participants: Set<Name>

    /// The part of an experiment to delete when these participants are forgotten.
    func deletion(of view: ExperimentView) -> ExperimentDeletion {
        var deletion = ExperimentDeletion(view: view)
        let attributes = attributes(of: view.schema)
        if attributes.isEmpty {
            deletion.accepts = isTheirs
            return deletion
        }
        deletion.select = { series throws(DatabaseError) in
            if isTheirs(series.key) { return .range(.all) }
            var times: Set<Int64> = []
            for attribute in attributes {
                try ParticipantRows.scan(attribute, of: series, in: view) { time, value in
                    if participants.contains(Name(value)) { times.insert(time) }
                }
            }
            return .times(times.sorted())
        }
        return deletion
    }

    /// The attributes of an experiment that name participants.
    func attributes(of schema: ExperimentSchema) -> [Column] {
        schema.attributes.filter { tags.contains(Name($0.name)) }
    }

    private func isTheirs(_ key: SeriesKey) -> Bool {
        key.tags.contains { tags.contains(Name($0.name)) && participants.contains(Name($0.value)) }
    }

    /// Whether a refused value belongs to one of their rows, which its key alone may not tell.
    ///
    /// - Parameter attributes: those of the experiment that name participants.
    func isTheirs(
        _ key: SeriesKey, _ time: Timestamp, in view: ExperimentView, _ attributes: [Column]
    ) throws(DatabaseError) -> Bool {
        if attributes.isEmpty { return false }
        let range = TimeRange(lower: time.nanoseconds, upper: time.nanoseconds + 1)
        guard let series = try view.series(of: key, in: range) else { return false }
        for attribute in attributes {
            let last = try view.end(attribute.id, of: series, in: range, last: true)
            if case .string(let text)? = last?.value,
                participants.contains(Name(text))
            {
                return true
            }
        }
        return false
    }

    /// All participants who have a row.
    static func all(in view: ExperimentView, tags: Set<Name>) throws(DatabaseError) -> Set<Name> {
        var found: Set<Name> = []
        let attributes = view.schema.attributes.filter { tags.contains(Name($0.name)) }
        try view.forEachSeries { series throws(DatabaseError) in
            for tag in series.key.tags where tags.contains(Name(tag.name)) {
                found.insert(Name(tag.value))
            }
            for attribute in attributes {
                try scan(attribute, of: series, in: view) { _, value in found.insert(Name(value)) }
            }
        }
        return found
    }

    private static func scan(
        _ column: Column, of series: Series, in view: ExperimentView,
        _ body: (Int64, String) -> Void
    ) throws(DatabaseError) {
        try view.scan(column.id, of: series, in: .all, summarize: { _, _ in false }) { piece in
            guard case .values(let slice) = piece else { return true }
            for index in 0..<slice.count {
                body(slice.times[index], slice.strings.text(slice.bits[index]))
            }
            return true
        }
    }
}
