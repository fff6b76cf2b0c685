// What an experiment is: how its rows are identified and the type each of its columns is locked to.

/// The number of a column inside its experiment: dense, from 0, never reused.
public typealias ColumnID = Int

/// Which tags make a series; decided when an experiment is created.
public enum Identity: Hashable, Sendable {
    /// One tag names the participant (`id_participant` unless told otherwise).
    case participant(tag: String)
    /// Every tag, as in InfluxDB: points that differ in any tag are different rows.
    case allTags
    /// These tags, all of which a point must have.
    case tags([String])

    /// The identity of an experiment for which nothing else was asked.
    public static let standard = Identity.participant(tag: "id_participant")

    /// Names are compared byte by byte; those of a list in any order.
    public static func == (left: Identity, right: Identity) -> Bool {
        switch (left, right) {
        case (.participant(let a), .participant(let b)): Name(a) == Name(b)
        case (.allTags, .allTags): true
        case (.tags(let a), .tags(let b)): Set(a.map { Name($0) }) == Set(b.map { Name($0) })
        default: false
        }
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .participant(let tag): hasher.combine(Name(tag))
        case .allTags: hasher.combine(true)
        case .tags(let tags): hasher.combine(Set(tags.map { Name($0) }))
        }
    }
}

/// What happens to a value whose type is not the one its field is locked to.
public enum TypeRule: UInt8, Sendable {
    /// Stored when it is the same number; otherwise that value alone is refused.
    case lossless = 1
    /// InfluxDB's rule: any difference refuses the whole point.
    case strict = 2
}

/// What an experiment is created with; nil means: as stored, or the default for a new one.
public struct ExperimentSettings: Hashable, Sendable {
    /// Which tags tell rows apart.
    public var identity: Identity?
    /// What happens to values of another type than their field's.
    public var typeRule: TypeRule?
    /// Name of a registered list of declarations (`DatabaseOptions.presets`), or `none`.
    public var preset: String?

    /// What is left out stays as stored, or is the default for a new experiment.
    public init(identity: Identity? = nil, typeRule: TypeRule? = nil, preset: String? = nil) {
        self.identity = identity
        self.typeRule = typeRule
        self.preset = preset
    }
}

/// One column of an experiment.
public struct Column: Hashable, Sendable {
    /// Fields hold measurements; attributes hold tags outside the identity, always strings.
    public enum Kind: UInt8, Sendable {
        case field = 1
        case attribute = 2
    }

    /// Its index in `ExperimentSchema.columns`.
    public var id: ColumnID
    /// As points name it. A field and an attribute may have one name.
    public var name: String
    /// Field or attribute.
    public var kind: Kind
    /// The type the column is locked to.
    public var type: FieldType
    /// As declared (`ExperimentSchema.declaration`); empty where nothing is.
    public var unit: String = ""
    /// What a reader should know of the values, as declared; else empty.
    public var note: String = ""

    /// Whether its values are masked, in the view of one query.
    var isRedacted = false

    /// Whether values are read as they are stored.
    func isStored(as stored: FieldType) -> Bool { stored == type && !isRedacted }

    /// Whether nothing is left of it but its number.
    var isRemoved: Bool { name.isEmpty }
}

/// The schema of one experiment.
public struct ExperimentSchema: Sendable {
    /// Number of the experiment in its database; never reused.
    public let id: Int
    /// As points name it; names are compared byte by byte.
    public let name: String
    /// Which tags tell its rows apart; never changes.
    public let identity: Identity
    /// What happens to values of another type than their field's.
    public let typeRule: TypeRule
    /// The preset it was made with; `none` where there was none.
    public let preset: String
    /// All columns; a column's id is its index. One without a name was removed.
    public private(set) var columns: [Column] = []

    /// What was declared of fields of this experiment alone, in the order of their declarations.
    private(set) var ownDeclarations: [SchemaPreset.Field] = []
    /// What the preset declares; nil for `none`.
    var presetDeclarations: FieldDeclarations?

    private var declarationIndex: [Name: Int] = [:]
    private var fieldIDs: [Name: ColumnID] = [:]
    private var attributeIDs: [Name: ColumnID] = [:]

    init(id: Int, name: String, identity: Identity, typeRule: TypeRule, preset: String) {
        self.id = id
        self.name = name
        self.identity = identity
        self.typeRule = typeRule
        self.preset = preset
    }

    /// The field with this name; names are compared byte by byte.
    public func field(_ name: String) -> Column? {
        fieldIDs[Name(name)].map { columns[$0] }
    }

    /// The attribute (tag outside the identity) with this name.
    public func attribute(_ name: String) -> Column? {
        attributeIDs[Name(name)].map { columns[$0] }
    }

    /// What is declared of a field, written or not: by `Database.declare`, else by the preset.
    public func declaration(of name: String) -> SchemaPreset.Field? {
        if let index = declarationIndex[Name(name)] { return ownDeclarations[index] }
        return presetDeclarations?.declaration(of: name)
    }

    /// The fields that `Database.declare` declared, written or not, in that order.
    public var declarations: [SchemaPreset.Field] { ownDeclarations }

    /// What `Database.declare` declared of a field.
    func ownDeclaration(of name: String) -> SchemaPreset.Field? {
        declarationIndex[Name(name)].map { ownDeclarations[$0] }
    }

    /// Fields in byte order of their names.
    public var fields: [Column] { sorted(.field) }

    /// Attributes in byte order of their names.
    public var attributes: [Column] { sorted(.attribute) }

    private func sorted(_ kind: Column.Kind) -> [Column] {
        columns.filter { $0.kind == kind && !$0.isRemoved }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Adds a column and locks its type. The caller has checked that the name is new.
    @discardableResult
    mutating func add(
        name: String, kind: Column.Kind, type: FieldType, unit: String = "", note: String = ""
    ) -> ColumnID {
        let id = columns.count
        columns.append(
            Column(id: id, name: name, kind: kind, type: type, unit: unit, note: note))
        if name.isEmpty { return id }
        switch kind {
        case .field: fieldIDs[Name(name)] = id
        case .attribute: attributeIDs[Name(name)] = id
        }
        return id
    }

    /// Keeps a declaration in place of an earlier one of the same field, and gives its unit and
    /// note to the field where it is there. The type of a field that is there stays.
    mutating func declare(_ field: SchemaPreset.Field) {
        if let index = declarationIndex[Name(field.name)] {
            ownDeclarations[index] = field
        } else {
            declarationIndex[Name(field.name)] = ownDeclarations.count
            ownDeclarations.append(field)
        }
        guard let id = fieldIDs[Name(field.name)] else { return }
        columns[id].unit = field.unit
        columns[id].note = field.note
    }

    /// Takes a column away of which no source has a value: its number stays, its name can be given
    /// again, to another number.
    mutating func remove(_ id: ColumnID) {
        switch columns[id].kind {
        case .field: fieldIDs[Name(columns[id].name)] = nil
        case .attribute: attributeIDs[Name(columns[id].name)] = nil
        }
        columns[id].name = ""
        columns[id].unit = ""
        columns[id].note = ""
    }

    /// Masks the values of a column, which become texts.
    mutating func redact(_ id: ColumnID) {
        columns[id].isRedacted = true
        columns[id].type = .string
    }

    /// Changes the type a field is locked to; stored values are cast when they are read.
    mutating func retype(_ id: ColumnID, to type: FieldType) {
        columns[id].type = type
    }
}

extension ExperimentSchema {
    /// Compares settings that a caller named with those stored.
    ///
    /// - Throws: `usage` with both values where they differ.
    public func check(_ settings: ExperimentSettings) throws(DatabaseError) {
        func differ(_ what: String, _ stored: String, _ asked: String) -> DatabaseError {
            DatabaseError(
                .usage,
                "experiment \"\(name)\" was created with \(what) \(stored), asked for was "
                    + "\(asked); leave the option out, or import into another database")
        }
        if let asked = settings.identity, asked != identity {
            throw differ("identity", identity.description, asked.description)
        }
        if let asked = settings.typeRule, asked != typeRule {
            throw differ("types", "\(typeRule)", "\(asked)")
        }
        if let asked = settings.preset, Name(asked) != Name(preset) {
            throw differ("preset", preset, asked)
        }
    }
}

extension Identity: CustomStringConvertible {
    /// As the command's options spell it.
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
    func contains(_ tag: String) -> Bool {
        switch self {
        case .participant(let name): Name(name) == Name(tag)
        case .allTags: true
        case .tags(let names): names.contains { Name($0) == Name(tag) }
        }
    }
    /// The tags that name participants in a database: the one that is taken where nothing else was
    /// asked, and those that experiments were created with.
    static func participantTags(_ identities: [Identity]) -> Set<Name> {
        var tags: Set<Name> = []
        for identity in [.standard] + identities {
            if case .participant(let tag) = identity { tags.insert(Name(tag)) }
        }
        return tags
    }
}
