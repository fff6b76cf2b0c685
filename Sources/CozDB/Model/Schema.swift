// The schema of an experiment: its identity and the types of its columns.

/// The number of a column in its experiment. Numbers start at 0, have no gaps and are never reused.
public typealias ColumnID = Int

/// Which tags identify a series. Set when an experiment is created.
public enum Identity: Hashable, Sendable {
    /// One tag, which names the participant (`id_participant` by default).
    case participant(tag: String)
    /// All tags, as in InfluxDB: points that differ in any tag are different rows.
    case allTags
    /// These tags, at most `tagCountMax`. Every point must have all of them.
    case tags([String])

    /// Maximum number of tags in a list. Each point is searched for each of them.
    public static let tagCountMax = 100

    /// The default identity of a new experiment.
    public static let standard = Identity.participant(tag: "id_participant")

    /// Refuses an identity that no experiment can have.
    package func check() throws(DatabaseError) {
        if case .allTags = self { return }
        let names = tagNames
        guard !names.isEmpty else {
            throw DatabaseError(
                .usage, "found an identity without tags; name at least one, or use .allTags")
        }
        guard names.count <= Identity.tagCountMax else {
            throw DatabaseError(
                .usage,
                "found an identity of \(names.count) tags, expected at most "
                    + "\(Identity.tagCountMax); name fewer, or use .allTags")
        }
        let sizes = 1...DatabaseOptions.nameSizeBytesMax
        for name in names where !sizes.contains(name.utf8.count) {
            throw DatabaseError(
                .usage,
                "identity tag of \(name.utf8.count) bytes; expected \(sizes.lowerBound) to "
                    + "\(sizes.upperBound)")
        }
    }

    /// Names are compared byte by byte. The order of a list does not matter.
    public static func == (left: Identity, right: Identity) -> Bool {
        switch (left, right) {
        case (.participant(let a), .participant(let b)): Name(a) == Name(b)
        case (.allTags, .allTags): true
        case (.tags(let a), .tags(let b)): Set(a.map { Name($0) }) == Set(b.map { Name($0) })
        default: false
        }
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .participant(let tag): hasher.combine(Name(tag))
        case .allTags: hasher.combine(true)
        case .tags(let tags): hasher.combine(Set(tags.map { Name($0) }))
        }
    }
}

/// How a value is handled whose type differs from its field's type.
public enum TypeRule: UInt8, Sendable {
    /// The value is stored if it converts without loss; otherwise that value alone is refused.
    case lossless = 1
    /// InfluxDB's rule: the whole point is refused. A number without a type (of CSV and JSON) that
    /// an integer field cannot hold is refused alone.
    case strict = 2
}

/// Settings for creating an experiment. nil keeps the stored setting, or uses the default for a new
/// experiment.
public struct ExperimentSettings: Hashable, Sendable {
    /// Which tags identify its rows.
    public var identity: Identity?
    /// How values of another type than their field's are handled.
    public var typeRule: TypeRule?
    /// Name of a registered preset (`DatabaseOptions.presets`), or `none`.
    public var preset: String?

    /// Creates settings. nil keeps the stored setting, or uses the default for a new experiment.
    public init(identity: Identity? = nil, typeRule: TypeRule? = nil, preset: String? = nil) {
        self.identity = identity
        self.typeRule = typeRule
        self.preset = preset
    }
}

/// A column of an experiment.
public struct Column: Hashable, Sendable {
    /// The kind of a column. Fields hold measurements. Attributes hold tags outside the identity
    /// and are always strings.
    public enum Kind: UInt8, Sendable {
        /// A measurement, of any type.
        case field = 1
        /// A tag outside the identity.
        case attribute = 2
    }

    /// The column's index in `ExperimentSchema.columns`.
    public var id: ColumnID
    /// The column's name. A field and an attribute may have the same one.
    public var name: String
    /// Field or attribute.
    public var kind: Kind
    /// The type of all its values.
    public var type: FieldType
    /// The declared unit (see `ExperimentSchema.declaration`); empty if there is none.
    public var unit: String = ""
    /// The declared note on its values; empty if there is none.
    public var note: String = ""

    /// Whether a query's view of the schema masks its values.
    var isRedacted = false

    /// Whether stored values of this type can be returned without conversion or masking.
    func isStored(as stored: FieldType) -> Bool { stored == type && !isRedacted }

    /// Whether the column was removed; only its number remains.
    var isRemoved: Bool { name.isEmpty }
}

/// The schema of an experiment.
public struct ExperimentSchema: Sendable {
    /// Number of the experiment in its database; never reused.
    public let id: Int
    /// The experiment's name. Names are compared byte by byte.
    public internal(set) var name: String
    /// Which tags identify its rows; never changes.
    public let identity: Identity
    /// How values of another type than their field's are handled.
    public let typeRule: TypeRule
    /// The preset it was created with, or `none`.
    public let preset: String
    /// All columns, indexed by their ids. A removed column has an empty name. A long list is made
    /// anew each time.
    public var columns: [Column] { columnBlocks.joined }
    private var columnBlocks = ColumnBlocks()

    /// The declarations of the preset; nil for `none`.
    var presetDeclarations: FieldDeclarations?

    private struct Declaration {
        /// Position among the declarations; they may have gaps.
        var position: Int
        var field: SchemaPreset.Field
    }

    /// Declarations of this experiment only.
    private var ownDeclarations = PartitionedDictionary<Name, Declaration>()
    private var nextDeclaration = 0
    private var fieldIDs = PartitionedDictionary<Name, ColumnID>()
    private var attributeIDs = PartitionedDictionary<Name, ColumnID>()

    init(id: Int, name: String, identity: Identity, typeRule: TypeRule, preset: String) {
        self.id = id
        self.name = name
        self.identity = identity
        self.typeRule = typeRule
        self.preset = preset
    }

    /// Number of columns, including removed ones. It is the id of the next column.
    var columnCount: Int { columnBlocks.count }

    /// Returns the column with an id below `columnCount`.
    func column(_ id: ColumnID) -> Column { columnBlocks[id] }

    /// Returns the field with this name. Names are compared byte by byte.
    public func field(_ name: String) -> Column? {
        fieldIDs[Name(name)].map { columnBlocks[$0] }
    }

    /// Returns the attribute (tag outside the identity) with this name.
    public func attribute(_ name: String) -> Column? {
        attributeIDs[Name(name)].map { columnBlocks[$0] }
    }

    /// Returns the column of a kind with this name.
    func column(named name: String, _ kind: Column.Kind) -> Column? {
        kind == .field ? field(name) : attribute(name)
    }

    /// Returns the declaration of a field, whether or not it has values: that of
    /// `Database.declare`, otherwise that of the preset; nil if there is none.
    public func declaration(of name: String) -> SchemaPreset.Field? {
        ownDeclaration(of: name) ?? presetDeclarations?.declaration(of: name)
    }

    /// The fields declared by `Database.declare`, with or without values, in order of declaration.
    public var declarations: [SchemaPreset.Field] {
        ownDeclarations.values.sorted { $0.position < $1.position }.map(\.field)
    }

    /// Returns the declaration of a field by `Database.declare`; nil if there is none.
    func ownDeclaration(of name: String) -> SchemaPreset.Field? {
        ownDeclarations[Name(name)]?.field
    }

    /// All fields, in byte order of their names.
    public var fields: [Column] { sorted(.field) }

    /// All attributes, in byte order of their names.
    public var attributes: [Column] { sorted(.attribute) }

    private func sorted(_ kind: Column.Kind) -> [Column] {
        columns.filter { $0.kind == kind && !$0.isRemoved }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Adds a column with a fixed type. The caller must check that the name is new.
    @discardableResult
    mutating func add(
        name: String, kind: Column.Kind, type: FieldType, unit: String = "", note: String = ""
    ) -> ColumnID {
        let id = columnCount
        columnBlocks.append(
            Column(id: id, name: name, kind: kind, type: type, unit: unit, note: note))
        if name.isEmpty { return id }
        switch kind {
        case .field: fieldIDs[Name(name)] = id
        case .attribute: attributeIDs[Name(name)] = id
        }
        return id
    }

    /// Adds or replaces a declaration. An existing field takes its unit and note, but keeps its
    /// type.
    mutating func declare(_ field: SchemaPreset.Field) {
        let position = ownDeclarations[Name(field.name)]?.position ?? nextDeclaration
        if position == nextDeclaration { nextDeclaration += 1 }
        ownDeclarations[Name(field.name)] = Declaration(position: position, field: field)
        guard let id = fieldIDs[Name(field.name)] else { return }
        columnBlocks[id].unit = field.unit
        columnBlocks[id].note = field.note
    }

    mutating func removeDeclaration(of name: String) {
        ownDeclarations[Name(name)] = nil
    }

    /// Removes a column that has no values in any source. Its number stays in use. A later column
    /// may have its name, with a new number.
    mutating func remove(_ id: ColumnID) {
        switch columnBlocks[id].kind {
        case .field: fieldIDs[Name(columnBlocks[id].name)] = nil
        case .attribute: attributeIDs[Name(columnBlocks[id].name)] = nil
        }
        columnBlocks[id].name = ""
        columnBlocks[id].unit = ""
        columnBlocks[id].note = ""
    }

    /// Masks the values of a column, which becomes a string column.
    mutating func redact(_ id: ColumnID) {
        columnBlocks[id].isRedacted = true
        columnBlocks[id].type = .string
    }

    /// Changes the type of a field. Stored values are cast when they are read.
    mutating func retype(_ id: ColumnID, to type: FieldType) {
        columnBlocks[id].type = type
    }
}

extension ExperimentSchema {
    /// Checks requested settings against the stored ones.
    ///
    /// - Throws: `usage` with both values if they differ.
    public func check(_ settings: ExperimentSettings) throws(DatabaseError) {
        func differ(
            _ what: String, _ stored: String, _ asked: String, _ setting: Remedy.Setting
        ) -> DatabaseError {
            DatabaseError(
                .usage,
                "experiment \"\(name)\" was created with \(what) \(stored), but \(asked) was "
                    + "requested; leave the setting out, or use another database",
                remedy: .change([setting]))
        }
        if let asked = settings.identity, asked != identity {
            throw differ("identity", identity.description, asked.description, .identity)
        }
        if let asked = settings.typeRule, asked != typeRule {
            throw differ("types", "\(typeRule)", "\(asked)", .typeRule)
        }
        if let asked = settings.preset, Name(asked) != Name(preset) {
            throw differ("preset", preset, asked, .preset)
        }
    }
}

extension Identity: CustomStringConvertible {
    /// The identity in the words of the command's options.
    public var description: String {
        switch self {
        case .participant(let tag): "participant (tag \(tag))"
        case .allTags: "all"
        case .tags(let names): names.joined(separator: ",")
        }
    }
}

extension Identity {
    /// Whether a tag is part of the series key.
    package func contains(_ tag: String) -> Bool {
        switch self {
        case .participant(let name): Name(name) == Name(tag)
        case .allTags: true
        case .tags(let names): names.contains { Name($0) == Name(tag) }
        }
    }

    /// The tags that it lists; empty for all tags.
    package var tagNames: [String] {
        switch self {
        case .participant(let tag): [tag]
        case .tags(let names): names
        case .allTags: []
        }
    }

    /// Returns the tags that name participants: the default one and those of existing experiments.
    static func participantTags(_ identities: [Identity]) -> Set<Name> {
        var tags: Set<Name> = []
        for identity in [.standard] + identities {
            if case .participant(let tag) = identity { tags.insert(Name(tag)) }
        }
        return tags
    }
}
