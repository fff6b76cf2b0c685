// The schemas of all experiments in a database, and the changes to them that commit records and
// manifests store.

/// The schemas of a database, by name and by id.
struct SchemaSet: Sendable {
    private var byID = PartitionedDictionary<Int, ExperimentSchema>()
    private var idByName = PartitionedDictionary<Name, Int>()
    /// The presets that experiments were created with, oldest first, as they were at that time.
    private(set) var presets: [SchemaPreset] = []
    /// The position and declarations of each preset, shared by all experiments that have it.
    private var presetByName: [Name: (index: Int, declarations: FieldDeclarations)] = [:]
    /// Id of the next experiment. Ids are never reused.
    var nextID = 1

    var count: Int { byID.count }

    /// Upper estimate of the bytes that the schemas take in a manifest.
    private(set) var sizeBytes = 0

    /// All schemas, in byte order of their names.
    var all: [ExperimentSchema] {
        byID.values.sorted { Name($0.name) < Name($1.name) }
    }

    subscript(id: Int) -> ExperimentSchema? { byID[id] }

    func named(_ name: String) -> ExperimentSchema? {
        idByName[Name(name)].flatMap { byID[$0] }
    }

    func preset(_ name: String) -> SchemaPreset? {
        presetByName[Name(name)].map { presets[$0.index] }
    }

    /// Refuses schemas larger than any writer makes, which bounds the memory of a reader.
    func checkSize() throws(FormatError) {
        guard sizeBytes <= DatabaseOptions.schemasSizeBytesMax else {
            throw FormatError(
                .invalid,
                "schemas of more than \(DatabaseOptions.schemasSizeBytesMax) bytes", at: 0)
        }
    }

    /// Participant tags of deleted experiments. If the same lines create an experiment again, with
    /// the standard tag, forgotten participants must still be recognized.
    private(set) var formerParticipantTags: Set<Name> = []

    /// All tags that name participants, also those of deleted experiments.
    private(set) var participantTags = Identity.participantTags([])

    mutating func insert(_ schema: ExperimentSchema) {
        var schema = schema
        schema.presetDeclarations = presetByName[Name(schema.preset)]?.declarations
        sizeBytes += SchemaChange.experiment(schema).sizeBytes
        participantTags.formUnion(Identity.participantTags([schema.identity]))
        byID[schema.id] = schema
        idByName[Name(schema.name)] = schema.id
        nextID = max(nextID, schema.id + 1)
    }

    mutating func remove(_ id: Int) {
        guard let schema = byID[id] else { return }
        byID[id] = nil
        idByName[Name(schema.name)] = nil
        sizeBytes -= SchemaChange.experiment(schema).sizeBytes
        for column in schema.columns {
            sizeBytes -= SchemaChange.column(experiment: id, column).sizeBytes
        }
        for field in schema.declarations {
            sizeBytes -= SchemaChange.declaration(experiment: id, field).sizeBytes
        }
        sizeBytes = max(0, sizeBytes)
        addFormer(Identity.participantTags([schema.identity]))
    }

    /// Removes a column that has no values in any source.
    mutating func remove(_ column: ColumnID, of experiment: Int) {
        guard let schema = byID[experiment] else { return }
        let known = schema.column(column)
        sizeBytes -= known.name.utf8.count + known.textSizeBytes
        update(experiment) { $0.remove(column) }
    }

    mutating func removeDeclaration(of field: String, in experiment: Int) {
        guard let declaration = byID[experiment]?.ownDeclaration(of: field) else { return }
        let change = SchemaChange.declaration(experiment: experiment, declaration)
        sizeBytes = max(0, sizeBytes - change.sizeBytes)
        update(experiment) { $0.removeDeclaration(of: field) }
    }

    mutating func addFormer(_ tags: Set<Name>) {
        for tag in tags.subtracting(Identity.participantTags([])) {
            guard formerParticipantTags.insert(tag).inserted else { continue }
            participantTags.insert(tag)
            sizeBytes += 4 + tag.text.utf8.count
        }
    }

    /// Leaves each name to the newest experiment that has it, as after damage. It got the name when
    /// the older ones were gone, so these are removed, or renamed if they may have rows.
    ///
    /// - Returns: the names before and after.
    mutating func separateNames(hasRows: (Int) -> Bool) -> [(name: String, new: String)] {
        var newest: [Name: Int] = [:]
        for schema in byID.values.sorted(by: { $0.id < $1.id }) {
            newest[Name(schema.name)] = schema.id
        }
        var renamed: [(name: String, new: String)] = []
        for schema in byID.values.sorted(by: { $0.id < $1.id }) {
            let id = schema.id
            if newest[Name(schema.name)] == id { continue }
            guard hasRows(id) else {
                remove(id)
                idByName[Name(schema.name)] = newest[Name(schema.name)]
                continue
            }
            let isLong = schema.name.utf8.count > DatabaseOptions.nameSizeBytesMax / 2
            var number = 1
            var new: String { "\(isLong ? "experiment" : schema.name) (\(number))" }
            while named(new) != nil { number += 1 }
            sizeBytes += new.utf8.count - schema.name.utf8.count
            idByName[Name(new)] = id
            update(id) { $0.name = new }
            renamed.append((schema.name, new))
        }
        for (name, id) in newest { idByName[name] = id }
        return renamed
    }

    mutating func update(_ id: Int, _ change: (inout ExperimentSchema) -> Void) {
        byID.update(id, change)
    }

    /// Applies a change. A change that is already applied has no effect, so a log can be replayed
    /// over a newer manifest.
    mutating func apply(_ change: SchemaChange) {
        switch change {
        case .experiment(let schema):
            if byID[schema.id] == nil { insert(schema) }
        case .column(let experiment, let column):
            // Holding the schema here would make `update` copy it.
            guard column.id == byID[experiment]?.columnCount else { return }
            if let older = byID[experiment]?.column(named: column.name, column.kind) {
                // The name was free, which the schema of an older manifest does not know.
                remove(older.id, of: experiment)
            }
            sizeBytes += change.sizeBytes
            update(experiment) { schema in
                schema.add(
                    name: column.name, kind: column.kind, type: column.type, unit: column.unit,
                    note: column.note)
            }
        case .preset(let preset):
            guard self.preset(preset.name) == nil else { return }
            sizeBytes += change.sizeBytes
            presetByName[Name(preset.name)] = (presets.count, FieldDeclarations(preset))
            presets.append(preset)
        case .declaration(let experiment, let field):
            if let known = byID[experiment]?.ownDeclaration(of: field.name) {
                sizeBytes -= SchemaChange.declaration(experiment: experiment, known).sizeBytes
            }
            sizeBytes += change.sizeBytes
            // The column has its unit and note, too.
            let column = byID[experiment].flatMap { $0.field(field.name) }
            if let column {
                sizeBytes += field.unit.utf8.count + field.note.utf8.count - column.textSizeBytes
            }
            update(experiment) { $0.declare(field) }
        }
    }
}

/// One addition to the schemas.
enum SchemaChange: Sendable {
    /// An experiment without columns.
    case experiment(ExperimentSchema)
    case column(experiment: Int, Column)
    /// A preset; comes before the first experiment that is created with it.
    case preset(SchemaPreset)
    /// The declaration of a field of one experiment, whether the field exists or not.
    case declaration(experiment: Int, SchemaPreset.Field)
}

extension SchemaChange {
    /// Upper estimate of the encoded bytes.
    fileprivate var sizeBytes: Int {
        switch self {
        case .experiment(let schema):
            schema.identity.tagNames.reduce(32) { $0 + 4 + $1.utf8.count }
                + schema.name.utf8.count + schema.preset.utf8.count
        case .column(_, let column): 24 + column.name.utf8.count + column.textSizeBytes
        case .preset(let preset):
            preset.fields.reduce(8 + preset.name.utf8.count) { $0 + Self.sizeBytes(of: $1) }
        case .declaration(_, let field): 8 + Self.sizeBytes(of: field)
        }
    }

    private static func sizeBytes(of field: SchemaPreset.Field) -> Int {
        let texts = [field.name, field.unit, field.note, field.question] + field.options
        return texts.reduce(16) { $0 + 4 + $1.utf8.count }
    }
}

extension Column {
    /// Bytes of its unit and note.
    fileprivate var textSizeBytes: Int { unit.utf8.count + note.utf8.count }
}

// MARK: Bytes (layout: docs/format/wal.md, "schema changes")

extension ByteWriter {
    mutating func append(_ change: SchemaChange) {
        switch change {
        case .experiment(let schema):
            append(UInt8(1))
            appendVarint(schema.id)
            appendText(schema.name)
            append(schema.identity)
            append(schema.typeRule.rawValue)
            appendText(schema.preset)
        case .column(let experiment, let column):
            append(UInt8(2))
            appendVarint(experiment)
            appendVarint(column.id)
            append(column.kind.rawValue)
            append(column.type.rawValue)
            appendText(column.name)
            appendText(column.unit)
            appendText(column.note)
        case .preset(let preset):
            append(UInt8(3))
            appendText(preset.name)
            appendVarint(preset.fields.count)
            for field in preset.fields { append(field) }
        case .declaration(let experiment, let field):
            append(UInt8(4))
            appendVarint(experiment)
            append(field)
        }
    }

    private mutating func append(_ field: SchemaPreset.Field) {
        appendText(field.name)
        append(field.type.rawValue)
        appendText(field.unit)
        appendText(field.note)
        appendText(field.question)
        appendVarint(field.options.count)
        for option in field.options { appendText(option) }
    }

    private mutating func append(_ identity: Identity) {
        switch identity {
        case .participant(let tag):
            append(UInt8(1))
            appendText(tag)
        case .allTags:
            append(UInt8(2))
        case .tags(let names):
            append(UInt8(3))
            appendVarint(names.count)
            for name in names { appendText(name) }
        }
    }
}

extension ByteReader {
    @_lifetime(self: copy self)
    mutating func readSchemaChange() throws(FormatError) -> SchemaChange {
        let start = offset
        switch try readUInt8() {
        case 1:
            let id = try readCount(limit: Int(UInt32.max))
            let name = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            let identity = try readIdentity()
            let rule = TypeRule(rawValue: try readUInt8())
            let preset = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            guard let rule else { throw FormatError(.unsupported, "unknown type rule", at: start) }
            return .experiment(
                ExperimentSchema(
                    id: id, name: name, identity: identity, typeRule: rule, preset: preset))
        case 2:
            let experiment = try readCount(limit: Int(UInt32.max))
            let id = try readCount(limit: Int(UInt32.max))
            let kind = Column.Kind(rawValue: try readUInt8())
            let type = FieldType(rawValue: try readUInt8())
            guard let kind, let type else {
                throw FormatError(.unsupported, "unknown kind or type of a column", at: start)
            }
            let name = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            let unit = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            let note = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            return .column(
                experiment: experiment,
                Column(id: id, name: name, kind: kind, type: type, unit: unit, note: note))
        case 3:
            let name = try readText(limit: DatabaseOptions.nameSizeBytesMax)
            var fields: [SchemaPreset.Field] = []
            for _ in 0..<(try readCount(limit: remaining)) { fields.append(try readDeclaration()) }
            return .preset(SchemaPreset(name: name, fields: fields))
        case 4:
            let experiment = try readCount(limit: Int(UInt32.max))
            return .declaration(experiment: experiment, try readDeclaration())
        default:
            throw FormatError(.unsupported, "unknown kind of schema change", at: start)
        }
    }

    @_lifetime(self: copy self)
    private mutating func readDeclaration() throws(FormatError) -> SchemaPreset.Field {
        let limit = DatabaseOptions.nameSizeBytesMax
        let name = try readText(limit: limit)
        let start = offset
        guard let type = FieldType(rawValue: try readUInt8()) else {
            throw FormatError(.unsupported, "unknown type of a declared field", at: start)
        }
        var field = SchemaPreset.Field(
            name, type, unit: try readText(limit: limit), note: try readText(limit: limit),
            question: try readText(limit: limit))
        for _ in 0..<(try readCount(limit: remaining)) {
            field.options.append(try readText(limit: limit))
        }
        return field
    }

    @_lifetime(self: copy self)
    private mutating func readIdentity() throws(FormatError) -> Identity {
        let start = offset
        switch try readUInt8() {
        case 1: return .participant(tag: try readText(limit: DatabaseOptions.nameSizeBytesMax))
        case 2: return .allTags
        case 3:
            var names: [String] = []
            for _ in 0..<(try readCount(limit: remaining)) {
                names.append(try readText(limit: DatabaseOptions.nameSizeBytesMax))
            }
            return .tags(names)
        default: throw FormatError(.unsupported, "unknown kind of identity", at: start)
        }
    }
}
