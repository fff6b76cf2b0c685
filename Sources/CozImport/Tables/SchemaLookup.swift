// Looks up what the database knows of experiments in the input.

internal import CozDB

struct SchemaLookup {
    private var schemas: [[UInt8]: ExperimentSchema] = [:]
    /// Names that are a tag in some experiment.
    private let tagsOfAny: Set<[UInt8]>
    /// Declarations for experiments that the import creates.
    private let preset: FieldDeclarations?
    private let participantTags: ParticipantTags
    /// The columns that options name.
    let named: NamedColumns
    /// For the stored names of renamed columns.
    private let options: ImportOptions

    init(_ options: ImportOptions) {
        self.options = options
        named = NamedColumns(options.table)
        participantTags = options.participantTags
        for schema in options.schemas { schemas[Array(schema.name.utf8)] = schema }
        var tags: Set<[UInt8]> = []
        for schema in options.schemas {
            for attribute in schema.attributes { tags.insert(Array(attribute.name.utf8)) }
            for name in schema.identity.tagNames { tags.insert(Array(name.utf8)) }
        }
        for names in options.tagNames.values { tags.formUnion(names) }
        tagsOfAny = tags
        let name = options.settings.preset
        preset = options.presets.first { $0.name.utf8.elementsEqual((name ?? "").utf8) }
            .map { FieldDeclarations($0) }
    }

    /// Returns a key for a field of an experiment. Names may have any bytes.
    static func key(_ field: [UInt8], of experiment: [UInt8]) -> [UInt8] {
        Array("\(experiment.count) ".utf8) + experiment + field
    }

    /// Returns the type of a column's field, as stored or declared; nil if unknown.
    func type(of column: [UInt8], in experiment: [UInt8]) -> FieldType? {
        type(ofStored: stored(column), in: experiment)
    }

    /// Returns the type of a field by the name under which it is stored.
    func type(ofStored field: [UInt8], in experiment: [UInt8]) -> FieldType? {
        let name = String(decoding: field, as: UTF8.self)
        guard let schema = schemas[experiment] else { return preset?.declaration(of: name)?.type }
        return schema.field(name)?.type ?? schema.declaration(of: name)?.type
    }

    /// Whether a column is a field by the options, or in the database.
    ///
    /// - Parameter experiment: that of all rows; nil if it is unknown.
    func isField(_ column: [UInt8], in experiment: [UInt8]?) -> Bool {
        if column.isEmpty { return false }
        if named.types[column] != nil { return true }
        if let experiment { return type(of: column, in: experiment) != nil }
        return schemas.keys.contains { type(of: column, in: $0) != nil }
    }

    /// The experiment in the database; nil if it is new.
    func schema(of experiment: [UInt8]) -> ExperimentSchema? { schemas[experiment] }

    /// The tag that identifies participants.
    ///
    /// - Parameter experiment: the experiment; nil if it is unknown.
    func participantTag(of experiment: [UInt8]?) -> [UInt8] {
        Array(participantTags.tag(of: experiment).utf8)
    }

    var hasRenames: Bool { !options.renames.isEmpty }

    /// The name under which a column is stored.
    ///
    /// - Parameter keepsName: whether another column has its new name in the row.
    func stored(_ column: [UInt8], keepsName: Bool = false) -> [UInt8] {
        if options.renames.isEmpty || keepsName { return column }
        return Array(options.storedName(of: String(decoding: column, as: UTF8.self)).utf8)
    }

    /// Whether a tag is stored under a name.
    func isStored(_ tag: [UInt8], as name: [UInt8]) -> Bool {
        name.elementsEqual(options.storedName(of: String(decoding: tag, as: UTF8.self)).utf8)
    }

    /// Whether a column is a tag of the experiment's identity, so that every row needs a value.
    func needs(_ column: [UInt8], in experiment: [UInt8]) -> Bool {
        let name = options.storedName(of: String(decoding: column, as: UTF8.self))
        let identity =
            schemas[experiment]?.identity ?? options.settings.identity ?? .standard
        return identity.names(Array(name.utf8))
    }

    /// Whether the options make a column a tag in every experiment.
    ///
    /// - Parameter others: the columns beside it.
    func isTagOfAll(_ column: [UInt8], beside others: Set<[UInt8]>) -> Bool {
        names(of: column, others).contains { name in
            options.participantTag?.utf8.elementsEqual(name) == true
                || options.settings.identity?.names(name) == true
        }
    }

    /// Whether a column is a tag in some experiment, so that the experiment of a row decides.
    func mayBeTag(_ column: [UInt8], beside others: Set<[UInt8]>) -> Bool {
        names(of: column, others).contains {
            tagsOfAny.contains($0) || $0 == participantTag(of: nil)
        }
    }

    /// Whether a column is a tag of an experiment: the participant tag, or a tag that it has and
    /// that is no field.
    func isTag(
        _ column: [UInt8], in experiment: [UInt8], beside others: Set<[UInt8]>
    ) -> Bool {
        names(of: column, others).contains { isName($0, ofTagIn: experiment) }
    }

    private func isName(_ name: [UInt8], ofTagIn experiment: [UInt8]) -> Bool {
        if participantTag(of: experiment) == name { return true }
        let text = String(decoding: name, as: UTF8.self)
        guard let schema = schemas[experiment], schema.field(text) == nil else { return false }
        return schema.attribute(text) != nil || schema.identity.names(name)
            || options.tagNames[experiment]?.contains(name) == true
    }

    /// The name under which a column is stored, and its own: a renamed tag is still a tag. Beside
    /// a column with the new name it keeps its own.
    private func names(of column: [UInt8], _ others: Set<[UInt8]>) -> [[UInt8]] {
        let name = stored(column)
        return name == column || others.contains(name) ? [column] : [name, column]
    }
}

/// Columns that options name, by name: a table may have few of them.
struct NamedColumns {
    let skipped: Set<[UInt8]>
    let tags: Set<[UInt8]>
    private(set) var types: [[UInt8]: FieldType] = [:]

    init(_ options: TableOptions) {
        skipped = Set(options.ignoredColumns.map { Array($0.utf8) })
        tags = Set(options.tagColumns.map { Array($0.utf8) })
        for (name, type) in options.columnTypes { types[Array(name.utf8)] = type }
    }
}

extension Identity {
    /// Whether the identity lists a tag by name.
    func names(_ tag: [UInt8]) -> Bool {
        switch self {
        case .participant(let name): name.utf8.elementsEqual(tag)
        case .tags(let names): names.contains { $0.utf8.elementsEqual(tag) }
        case .allTags: false
        }
    }
}
