// Fields and tags that a batch stores under other names than they come with.

/// A name that was given to fields or tags in place of their own, and how often.
public struct AppliedRename: Sendable {
    /// Whether it is the name of a tag.
    public var isTag: Bool
    /// The name it came with.
    public var from: String
    /// The name it is stored under.
    public var to: String
    /// Values (of a tag: points) that are stored under the new name.
    public var renamed = 0
    /// Values (of a tag: points) that kept the old name, because their points have the new one
    /// as well.
    public var kept = 0
}

/// The names to change, and where in the batch they were.
///
/// A point that has both names keeps both as they came: nothing is lost by a rename.
struct BatchRenames: Sendable {
    /// A column of the batch whose name is changed, or is what another is changed to.
    private struct Role {
        /// Index of the new name.
        var target: Int
        /// Index in `applied`; nil for a column that has the name of its own.
        var applied: Int?
        var experiment: Int
        /// Type of the values and whether the input said it, as `WriteBatch.columns` spells it.
        var kind: UInt8
    }

    private var newNames: [Name: Int] = [:]
    private var targets: [String] = []
    private var targetIndex: [Name: Int] = [:]
    /// By number of a column of the batch.
    private var roles: [Role?] = []
    /// By number of a tag set of the batch: indices in `applied`.
    private var tagSets: [UInt32: [(applied: Int, isKept: Bool)]] = [:]
    private var applied: [AppliedRename] = []
    /// Places in `applied`, of fields and of tags.
    private var appliedFields: [Name: Int] = [:]
    private var appliedTags: [Name: Int] = [:]
    /// Of the row being settled: what takes each target's name.
    private var takers: [Int: Taker] = [:]

    /// Which cells of a row want the name of one target.
    private struct Taker {
        /// Whether a field came under that name.
        var isOwn = false
        /// The first of the others, by index in `applied`.
        var first = -1
        /// The first cell that is neither.
        var nextCell = Int.max
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

    /// Whether there is nothing to change.
    var isEmpty: Bool { newNames.isEmpty }

    /// Forgets the batch, not the names.
    mutating func removeAll() {
        roles.removeAll(keepingCapacity: true)
        tagSets.removeAll()
        applied.removeAll()
        appliedFields.removeAll()
        appliedTags.removeAll()
    }

    // MARK: Fields

    /// The new name of a field; nil where it keeps its own.
    func newName(of name: Name) -> String? { newNames[name].map { targets[$0] } }

    /// Remembers what a column of the batch is called.
    mutating func note(column: UInt32, named name: Name, experiment: Int, kind: UInt8) {
        let isRenamed = newNames[name] != nil
        guard let target = newNames[name] ?? targetIndex[name] else { return }
        let index = Int(column)
        while roles.count <= index { roles.append(nil) }
        guard roles[index] == nil else { return }
        roles[index] = Role(
            target: target,
            applied: isRenamed ? indexOfApplied(name, target, isTag: false) : nil,
            experiment: experiment, kind: kind)
    }

    private mutating func indexOfApplied(_ name: Name, _ target: Int, isTag: Bool) -> Int {
        if let index = isTag ? appliedTags[name] : appliedFields[name] { return index }
        if isTag { appliedTags[name] = applied.count } else { appliedFields[name] = applied.count }
        applied.append(AppliedRename(isTag: isTag, from: name.text, to: targets[target]))
        return applied.count - 1
    }

    /// The cell of a row that has to take its old name again, because the row has the new name as
    /// well; counts those that need not.
    ///
    /// - Parameter cells: of one row.
    /// - Returns: for each such cell its index, and the field under its old name.
    mutating func settle(
        _ cells: ArraySlice<BatchCell>
    ) -> [(cell: Int, experiment: Int, name: String, kind: UInt8)] {
        var result: [(cell: Int, experiment: Int, name: String, kind: UInt8)] = []
        takers.removeAll(keepingCapacity: true)
        for index in cells.indices {
            guard let role = role(cells[index]) else { continue }
            var taker = takers[role.target] ?? Taker()
            if let rename = role.applied {
                if taker.first < 0 { taker.first = rename }
                if taker.first != rename { taker.nextCell = min(taker.nextCell, index) }
            } else {
                taker.isOwn = true
            }
            takers[role.target] = taker
        }
        for index in cells.indices {
            guard let role = role(cells[index]), let rename = role.applied,
                let taker = takers[role.target]
            else { continue }
            // A field of that name goes first, then whichever stands first. Of two values with
            // one old name the later one wins, as of all fields.
            if taker.isOwn || taker.first != rename || taker.nextCell < index {
                applied[rename].kept += 1
                result.append((index, role.experiment, applied[rename].from, role.kind))
            } else {
                applied[rename].renamed += 1
            }
        }
        return result
    }

    private func role(_ cell: BatchCell) -> Role? {
        let index = Int(cell.column)
        return index < roles.count ? roles[index] : nil
    }

    // MARK: Tags

    /// Tags under their new names; nil where all keep their own.
    ///
    /// - Parameter tags: each name once.
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

    /// Remembers what became of the tags of a set.
    mutating func note(tagSet: UInt32, _ notes: [(applied: Int, isKept: Bool)]) {
        if tagSets[tagSet] == nil { tagSets[tagSet] = notes }
    }

    // MARK: The report

    /// What was renamed in these rows, fields first.
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
