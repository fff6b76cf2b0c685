// The meaning of the keys of JSON objects, and of the columns of JSON tables.

internal import CozDB

/// The part of an object that contains a key.
enum ObjectSection: UInt8 {
    /// The object itself.
    case flat
    case fields
    /// Fields whose numbers are integers.
    case integerFields
    case tags
}

/// A key of objects, or a column of a table.
struct ObjectColumn {
    enum Role {
        case ignored, experiment, time, tag, field
    }

    /// The name of the tag or field.
    var name: [UInt8]
    var place: ObjectSection
    var role: Role
    /// Of several keys that may be the time or the experiment, the lowest rank is used.
    var rank = 0
    /// The role if another key is the time or the experiment.
    var otherRole = Role.field
    /// Whether an option makes the column the participant, whose tag the experiment decides.
    var isParticipant = false
    /// Whether the column is a tag in the experiments that have it as one, although it is a field.
    var mayBeTag = false
    /// The type that the options request.
    var type: FieldType?
    /// The name under which it is stored, if that is another.
    var newName: [UInt8]?
    /// Whether it is what a renamed column is in rows that have its new name, too.
    var keepsName = false

    /// The type that the options or the place request.
    var askedType: FieldType? { type ?? (place == .integerFields ? .integer : nil) }
}

struct ObjectColumns {
    private let options: ImportOptions
    private let lookup: SchemaLookup
    private let ignored: Set<[UInt8]>
    private let tags: Set<[UInt8]>
    private var types: [[UInt8]: FieldType] = [:]
    private(set) var all: [ObjectColumn] = []
    private var byKey: [[UInt8]: Int] = [:]
    private var key: [UInt8] = []
    /// The experiment that `byKey` is for, and the keys of the others.
    private var experiment: [UInt8]?
    private var otherKeys: [[UInt8]?: [[UInt8]: Int]] = [:]
    /// What renamed columns are in rows that have their new name, too.
    private var keepingName: [Int: Int] = [:]

    init(_ options: ImportOptions, _ lookup: SchemaLookup) {
        self.options = options
        self.lookup = lookup
        ignored = Set(options.table.ignoredColumns.map { Array($0.utf8) })
        tags = Set(options.table.tagColumns.map { Array($0.utf8) })
        for (name, type) in options.table.columnTypes { types[Array(name.utf8)] = type }
    }

    /// Returns the column of the key that the scanner read last.
    ///
    /// - Parameters:
    ///   - guess: the likely column: the one after the previous column.
    ///   - experiment: the experiment of the row, whose tags apply; nil: the experiment of the
    ///     options, or else a key of the row names it and the tags of all experiments apply.
    mutating func column(
        _ scanner: JSONScanner, in place: ObjectSection, guess: Int, experiment: [UInt8]?
    ) -> Int {
        if guess < all.count, all[guess].place == place, !all[guess].keepsName,
            !scanner.hasEscapes,
            options.table.participantColumn == nil,
            CellValue.equals(scanner.text, scanner.contents, all[guess].name)
        {
            return guess
        }
        select(experiment)
        key.removeAll(keepingCapacity: true)
        key.append(place.rawValue)
        scanner.appendContents(to: &key)
        return column(place, experiment)
    }

    /// Returns the column of a table by its name.
    mutating func column(_ name: [UInt8], experiment: [UInt8]) -> Int {
        select(experiment)
        key = [ObjectSection.flat.rawValue] + name
        return column(.flat, experiment)
    }

    /// Makes `byKey` that of an experiment.
    private mutating func select(_ experiment: [UInt8]?) {
        if experiment != self.experiment {
            otherKeys[self.experiment] = byKey
            byKey = otherKeys.removeValue(forKey: experiment) ?? [:]
            self.experiment = experiment
        }
    }

    /// Returns the column of `key`.
    private mutating func column(_ place: ObjectSection, _ experiment: [UInt8]?) -> Int {
        if let known = byKey[key] { return known }
        byKey[key] = all.count
        all.append(make(Array(key.dropFirst()), place, experiment))
        return all.count - 1
    }

    /// Returns the column that a renamed one is in rows that have its new name, too.
    mutating func column(_ column: Int, keepingNameBeside newName: [UInt8]) -> Int {
        if let known = keepingName[column] { return known }
        keepingName[column] = all.count
        var kept = make(all[column].name, all[column].place, experiment, beside: [newName])
        kept.keepsName = true
        all.append(kept)
        return all.count - 1
    }

    /// - Parameter others: columns beside it.
    private func make(
        _ name: [UInt8], _ place: ObjectSection, _ experiment: [UInt8]?,
        beside others: Set<[UInt8]> = []
    ) -> ObjectColumn {
        let table = options.table
        var column = ObjectColumn(name: name, place: place, role: .field)
        column.type = types[name]
        func isNamed(_ option: String?) -> Bool { option?.utf8.elementsEqual(name) == true }
        if place == .tags || tags.contains(name) { column.role = .tag }
        if ignored.contains(name) { column.role = .ignored }
        guard column.role != .ignored else { return column }
        // An option may make a key the experiment of some rows.
        let own =
            table.experimentColumn == nil
            ? experiment ?? options.experiment.map { Array($0.utf8) } : nil
        if isNamed(table.participantColumn) {
            column.role = .tag
            column.name = lookup.participantTag(of: own)
            column.isParticipant = true
            return column
        }
        let stored = lookup.stored(name)
        if stored != name, !others.contains(stored) { column.newName = stored }
        guard place == .flat else { return column }
        let isTag =
            column.role == .tag || lookup.isTagOfAll(name, beside: others)
            || own.map { lookup.isTag(name, in: $0, beside: others) } == true
        column.role = isTag ? .tag : .field
        column.otherRole = column.role
        column.mayBeTag = !isTag && own == nil && lookup.mayBeTag(name, beside: others)
        let text = String(decoding: name, as: UTF8.self)
        let isNamedByRow = experiment == nil && options.experiment == nil
        if isNamed(table.experimentColumn) {
            column.role = .experiment
        } else if let rank = rank(of: text, table.timeColumn, TableHeader.timeNames) {
            (column.role, column.rank) = (.time, rank)
        } else if let rank = rank(
            of: text, table.experimentColumn, isNamedByRow ? TableHeader.experimentNames : [])
        {
            (column.role, column.rank) = (.experiment, rank)
        }
        return column
    }

    /// Returns the rank of a name for a role; nil if it does not fit. A name given by an option is
    /// the only choice.
    private func rank(of name: String, _ asked: String?, _ usual: [String]) -> Int? {
        if let asked { return asked.utf8.elementsEqual(name.utf8) ? 0 : nil }
        return usual.firstIndex { $0.utf8.elementsEqual(name.utf8) }
    }
}
