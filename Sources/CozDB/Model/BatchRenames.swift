// Renames fields and tags as points are added to a write batch.

/// How often one field or tag was stored under a new name.
public struct AppliedRename: Sendable {
    /// Whether the name is that of a tag; otherwise, of a field.
    public var isTag: Bool
    /// The name in the input.
    public var from: String
    /// The name under which it is stored.
    public var to: String
    /// Values (for a tag: points) stored under the new name.
    public var renamed = 0
    /// Values (for a tag: points) that kept the old name, because their point also has the new one.
    public var kept = 0
}

/// The requested renames, and the columns and tag sets of the batch that they affect.
///
/// A point that has both the old and the new name keeps both, so that a rename loses no value.
struct BatchRenames: Sendable {
    /// A column of the batch that is renamed, or whose name is the target of a rename.
    private struct Role {
        /// Index of the target that the column came with; nil if its old name is not a target.
        var own: Int?
        /// Indices of the new name and in `applied`; nil if the column is not renamed.
        var rename: (target: Int, applied: Int)?
        var experiment: Int
        /// Types of the values and of the field, and whether the input has types, as stored in
        /// `WriteBatch.columns`.
        var kind: UInt8
    }

    private var newNames: [Name: Int] = [:]
    private var targets: [String] = []
    private var targetIndex: [Name: Int] = [:]
    /// By column number in the batch.
    private var roles: [Role?] = []
    /// By tag set number in the batch: indices in `applied`.
    private var tagSets: [UInt32: [(applied: Int, isKept: Bool)]] = [:]
    private var applied: [AppliedRename] = []
    /// Indices in `applied`, of fields and of tags.
    private var appliedFields: [Name: Int] = [:]
    private var appliedTags: [Name: Int] = [:]
    /// In the current row, the claims to each target name.
    private var takers: [Int: Taker] = [:]
    /// The targets that refused values of the current row came with.
    private var refusedOwn: Set<Int> = []

    /// The claims of a row's cells to one target name.
    private struct Taker {
        /// Whether a field came with the target name.
        var isOwn = false
        /// The first renamed field, as an index in `applied`.
        var first = -1
    }

    init() {}

    init(_ names: [String: String]) {
        for (from, to) in names where Name(from) != Name(to) {
            let target = targetIndex[Name(to)] ?? targets.count
            if target == targets.count { targets.append(to) }
            targetIndex[Name(to)] = target
            newNames[Name(from)] = target
        }
    }

    var isEmpty: Bool { newNames.isEmpty }

    /// Resets the state of the batch and keeps the names.
    mutating func removeAll() {
        roles.removeAll(keepingCapacity: true)
        tagSets.removeAll()
        refusedOwn.removeAll()
        applied.removeAll()
        appliedFields.removeAll()
        appliedTags.removeAll()
    }

    // MARK: Fields

    /// Returns the new name of a field; nil if it is not renamed.
    func newName(of name: Name) -> String? { newNames[name].map { targets[$0] } }

    /// Records the name of a column.
    mutating func note(column: UInt32, named name: Name, experiment: Int, kind: UInt8) {
        let (own, target) = (targetIndex[name], newNames[name])
        guard own != nil || target != nil else { return }
        let index = Int(column)
        while roles.count <= index { roles.append(nil) }
        guard roles[index] == nil else { return }
        roles[index] = Role(
            own: own, rename: target.map { ($0, indexOfApplied(name, $0, isTag: false)) },
            experiment: experiment, kind: kind)
    }

    private mutating func indexOfApplied(_ name: Name, _ target: Int, isTag: Bool) -> Int {
        if let index = isTag ? appliedTags[name] : appliedFields[name] { return index }
        if isTag { appliedTags[name] = applied.count } else { appliedFields[name] = applied.count }
        applied.append(AppliedRename(isTag: isTag, from: name.text, to: targets[target]))
        return applied.count - 1
    }

    /// Finds the cells of a row that must get their old name back, because the row also has the new
    /// one. Counts both outcomes.
    ///
    /// - Parameter cells: The cells of one row.
    /// - Returns: The index of each such cell, and the field under its old name.
    mutating func settle(
        _ cells: ArraySlice<BatchCell>
    ) -> [(cell: Int, experiment: Int, name: String, kind: UInt8)] {
        var result: [(cell: Int, experiment: Int, name: String, kind: UInt8)] = []
        findTakers(cells)
        refusedOwn.removeAll()
        for index in cells.indices {
            guard let role = role(cells[index]), let (target, rename) = role.rename,
                let taker = takers[target]
            else { continue }
            // A field that came with the target name has priority, then the first renamed one. If
            // one old name has two values, the later value wins, as for any field.
            if taker.isOwn || taker.first != rename {
                applied[rename].kept += 1
                result.append((index, role.experiment, applied[rename].from, role.kind))
            } else {
                applied[rename].renamed += 1
            }
        }
        return result
    }

    private mutating func findTakers(_ cells: ArraySlice<BatchCell>) {
        takers.removeAll(keepingCapacity: true)
        for target in refusedOwn { takers[target] = Taker(isOwn: true) }
        for index in cells.indices {
            guard let role = role(cells[index]) else { continue }
            // A renamed field that keeps its name may need it, so it has priority, too.
            if let own = role.own { takers[own, default: Taker()].isOwn = true }
            guard let (target, rename) = role.rename else { continue }
            var taker = takers[target] ?? Taker()
            if taker.first < 0 { taker.first = rename }
            takers[target] = taker
        }
    }

    /// Returns whether fields keep their old names in a row: whether it has a value under the new
    /// one, of another field.
    mutating func keepNames(
        _ names: [Name], beside cells: ArraySlice<BatchCell>
    ) -> [Bool] {
        findTakers(cells)
        return names.map { name in
            guard let target = newNames[name], let taker = takers[target] else { return false }
            return taker.isOwn || taker.first >= 0 && taker.first != appliedFields[name]
        }
    }

    /// Records that the open row came with a value of a field that was refused. The value has its
    /// name nevertheless, so that a replay of it does not overwrite another.
    mutating func noteRefused(_ name: Name) {
        if let target = targetIndex[name] { refusedOwn.insert(target) }
    }

    /// Forgets the row.
    mutating func abandonRow() { refusedOwn.removeAll() }

    private func role(_ cell: BatchCell) -> Role? {
        let index = Int(cell.column)
        return index < roles.count ? roles[index] : nil
    }

    // MARK: Tags

    /// Returns the tags under their new names; nil if none is renamed. Names must be unique.
    mutating func renamed(
        _ tags: [(name: String, value: String)]
    ) -> (tags: [(name: String, value: String)], notes: [(applied: Int, isKept: Bool)])? {
        guard tags.contains(where: { newNames[Name($0.name)] != nil }) else { return nil }
        var taken = Set(tags.map { Name($0.name) })
        var result = tags
        var notes: [(applied: Int, isKept: Bool)] = []
        for index in tags.indices {
            let name = Name(tags[index].name)
            guard let target = newNames[name] else { continue }
            let isFree = taken.insert(Name(targets[target])).inserted
            if isFree { result[index].name = targets[target] }
            notes.append((indexOfApplied(name, target, isTag: true), !isFree))
        }
        return (result.sorted { Name($0.name) < Name($1.name) }, notes)
    }

    /// Records which tags of a tag set were renamed.
    mutating func note(tagSet: UInt32, _ notes: [(applied: Int, isKept: Bool)]) {
        if tagSets[tagSet] == nil { tagSets[tagSet] = notes }
    }

    // MARK: The report

    /// Returns the renames that these rows used, fields first.
    func report(_ rows: [BatchRow]) -> [AppliedRename] {
        var result = applied
        if !tagSets.isEmpty {
            for row in rows {
                for note in tagSets[row.tagSet] ?? [] {
                    if note.isKept {
                        result[note.applied].kept += 1
                    } else {
                        result[note.applied].renamed += 1
                    }
                }
            }
        }
        return result.filter { $0.renamed + $0.kept > 0 }
    }
}
