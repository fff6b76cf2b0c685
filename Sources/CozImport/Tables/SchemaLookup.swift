// What the database knows already of experiments that a table has values of.

internal import CozDB

/// The schemas at the beginning of an import.
struct SchemaLookup {
    private var schemas: [[UInt8]: ExperimentSchema] = [:]
    /// Declared of experiments that the import creates.
    private let preset: FieldDeclarations?
    /// What is stored under other names is known by these.
    private let options: ImportOptions

    init(_ options: ImportOptions) {
        self.options = options
        for schema in options.schemas { schemas[Array(schema.name.utf8)] = schema }
        let name = options.settings.preset
        preset = options.presets.first { $0.name.utf8.elementsEqual((name ?? "").utf8) }
            .map { FieldDeclarations($0) }
    }

    /// The type of a field: that of the values it has, or what was declared; nil: unknown.
    func type(of field: [UInt8], in experiment: [UInt8]) -> FieldType? {
        let name = options.storedName(of: String(decoding: field, as: UTF8.self))
        guard let schema = schemas[experiment] else { return preset?.declaration(of: name)?.type }
        return schema.field(name)?.type ?? schema.declaration(of: name)?.type
    }

    /// Whether every row of an experiment has to have a value in this column: whether it is a tag
    /// of the identity.
    func needs(_ column: [UInt8], in experiment: [UInt8]) -> Bool {
        let name = options.storedName(of: String(decoding: column, as: UTF8.self))
        let identity =
            schemas[experiment]?.identity ?? options.settings.identity ?? .standard
        return identity.names(Array(name.utf8))
    }

    /// Whether a column is known as a tag: of the identity or beside it, and not as a field.
    ///
    /// - Parameter experiment: nil: of any.
    func isTag(_ column: [UInt8], in experiment: [UInt8]?) -> Bool {
        let name = options.storedName(of: String(decoding: column, as: UTF8.self))
        let asked =
            experiment.map { name in schemas[name].map { [$0] } ?? [] } ?? Array(schemas.values)
        var isTag = false
        for schema in asked {
            if schema.field(name) != nil { return false }
            isTag =
                isTag || schema.attribute(name) != nil || schema.identity.names(Array(name.utf8))
        }
        return isTag
    }
}

extension Identity {
    /// Whether a tag belongs to the identity by name.
    func names(_ tag: [UInt8]) -> Bool {
        switch self {
        case .participant(let name): name.utf8.elementsEqual(tag)
        case .tags(let names): names.contains { $0.utf8.elementsEqual(tag) }
        case .allTags: false
        }
    }
}
