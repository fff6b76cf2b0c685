// Rebuilds schemas from segments, which know the names, kinds and types of columns with values.

/// Adds experiments and columns found in segment footers to schemas.
struct RebuiltSchemas {
    private(set) var schemas: SchemaSet
    /// Text on what had to be assumed.
    private(set) var assumptions: [String] = []
    /// What the logs have.
    private let logs: CommitColumns

    init(_ schemas: SchemaSet, logs: CommitColumns) {
        self.schemas = schemas
        self.logs = logs
    }

    /// Adds what segments and the logs have.
    mutating func add(
        _ segments: [FoundFiles.Segment], in directory: any Directory, databaseID: UInt64
    ) {
        var columns: [Int: [ColumnID: Column]] = [:]
        var tagNames: [Int: Set<[Name]>] = [:]
        var names: [Int: String] = [:]
        for segment in segments {
            let id = segment.footer.experiment
            names[id] = segment.footer.experimentName
            for field in segment.footer.fields {
                let known = columns[id, default: [:]][field.column.id]?.type
                if known.map({ RebuiltSchemas.isWider(field.column.type, than: $0) }) ?? true {
                    columns[id, default: [:]][field.column.id] = field.column
                }
            }
            guard schemas[id] == nil else { continue }
            tagNames[id, default: []].formUnion(
                RebuiltSchemas.tagNames(segment, in: directory, databaseID: databaseID))
        }
        for id in logs.experiments where schemas[id] == nil && names[id] == nil {
            names[id] = "unknown experiment \(id)"
        }
        for (id, name) in names.sorted(by: { $0.key < $1.key }) where schemas[id] == nil {
            addExperiment(id, name, tagNames[id] ?? [])
        }
        for id in logs.experiments.union(columns.keys).sorted() { add(columns[id] ?? [:], to: id) }
    }

    /// Whether a field of the other type can have been changed to this one. Types are only widened.
    static func isWider(_ type: FieldType, than other: FieldType) -> Bool {
        let order: [FieldType] = [.boolean, .integer, .float, .string]
        return order.firstIndex(of: type) ?? 0 > order.firstIndex(of: other) ?? 0
    }

    /// The distinct lists of identity tags of the series. Unreadable series are skipped.
    private static func tagNames(
        _ segment: FoundFiles.Segment, in directory: any Directory, databaseID: UInt64
    ) -> Set<[Name]> {
        var names: Set<[Name]> = []
        let opened = try? SegmentReader(
            in: directory, segment.info, databaseID: databaseID, access: .copied)
        // A repair keeps the rows of a segment with a damaged header or trailer.
        let recovered =
            try? opened
            ?? RecoveredSegment.open(segment.info, in: directory, databaseID: databaseID)
        guard let reader = recovered, let table = try? reader.seriesDirectory() else {
            return names
        }
        for block in 0..<table.count {
            for entry in (try? reader.series(block: block)) ?? [] {
                names.insert(entry.key.tags.map { Name($0.name) })
            }
        }
        return names
    }

    /// Adds an experiment.
    ///
    /// - Parameter tagNames: the distinct lists of identity tags of its series in segments.
    private mutating func addExperiment(_ id: Int, _ name: String, _ tagNames: Set<[Name]>) {
        let nameSizes = 1...DatabaseOptions.nameSizeBytesMax
        let lists = tagNames.union(logs.tagNames[id] ?? []).filter { !$0.isEmpty }
            .map { $0.map(\.text) }
        let areNames = lists.allSatisfy { list in
            (1...Identity.tagCountMax).contains(list.count)
                && list.allSatisfy { nameSizes.contains($0.utf8.count) }
        }
        let identity: Identity
        let text: String
        switch (lists.count, lists.first) {
        case _ where !areNames: (identity, text) = (.allTags, "all tags")
        case (0, _): (identity, text) = (.standard, "participant")
        case (1, let names?) where names.count == 1:
            (identity, text) = (.participant(tag: names[0]), "participant (tag \(names[0]))")
        case (1, let names?):
            (identity, text) = (.tags(names), "tags \(names.joined(separator: ","))")
        default: (identity, text) = (.allTags, "all tags")
        }
        schemas.insert(
            ExperimentSchema(
                id: id, name: name, identity: identity, typeRule: .lossless,
                preset: SchemaPreset.none))
        assumptions.append(
            "experiment \"\(name)\": identity \(text), assumed from its series; type rule "
                + "lossless, no preset, no field declarations")
    }

    /// Adds the columns that an experiment does not have yet, up to the largest number, and widens
    /// its fields to the types that were found.
    private mutating func add(_ inSegments: [ColumnID: Column], to id: Int) {
        let found = inSegments.merging(logs.columns(of: id)) { column, _ in column }
        guard let last = found.keys.max(), let schema = schemas[id] else { return }
        let numbers = schema.columnCount..<max(schema.columnCount, last + 1)
        // Each takes at most so much in a manifest.
        guard schemas.sizeBytes + numbers.count * 48 <= DatabaseOptions.schemasSizeBytesMax
        else { return }
        var (unknown, unnamed) = (0, 0)
        let taken = Set((schema.columns + found.values).map { Name($0.name) })
            .union(logs.addedNames[id] ?? [])
        for next in numbers {
            // A number that is not found exists, since columns are numbered without gaps.
            var column = found[next] ?? Column(id: next, name: "", kind: .field, type: .float)
            // Without series, the identity may be assumed to be what was an attribute.
            if column.kind == .attribute, schema.identity.tagNames.contains(column.name) {
                column.name = ""
            }
            if column.name.isEmpty {
                if found[next] == nil { unknown += 1 } else { unnamed += 1 }
                column.name = RebuiltSchemas.unknownName(next, taken)
            }
            schemas.apply(.column(experiment: id, column))
        }
        schemas.update(id) { schema in
            schema.widen(found.mapValues(\.type))
            schema.widen(logs.types[id] ?? [:])
        }
        for (count, what) in [(unknown, "without values"), (unnamed, "with values in logs")]
        where count > 0 {
            assumptions.append(
                "experiment \"\(schema.name)\": the names of \(count) columns \(what) are lost; "
                    + "they are now called \"unknown column\" with their number")
        }
    }

    private static func unknownName(_ id: ColumnID, _ taken: Set<Name>) -> String {
        var name = "unknown column \(id)"
        while taken.contains(Name(name)) { name += "'" }
        return name
    }
}

extension ExperimentSchema {
    /// Widens fields to the types of their values.
    mutating func widen(_ types: [ColumnID: FieldType]) {
        for (id, type) in types where id < columnCount {
            let column = column(id)
            guard column.kind == .field, RebuiltSchemas.isWider(type, than: column.type)
            else { continue }
            retype(id, to: type)
        }
    }
}
