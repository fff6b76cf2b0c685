// The names of columns in formats that put experiment and tags into columns, too: csv and json.

internal import CozDB

/// The names of a series, kept for the following ones: usually all series of a statement have equal
/// columns.
struct FlatNames {
    /// See `ResultHeader.uniqueTitles`.
    private(set) var titles: [String] = []
    /// See `ResultHeader.leadingColumns`.
    private(set) var leading: [(name: String, tag: Int?)] = []
    private var columns: [ResultHeader.Column] = []
    private var tags: [Name] = []
    private var showsName = false

    /// Takes the names of a series. Returns false if they are those of the previous one.
    mutating func update(_ header: ResultHeader) -> Bool {
        if header.showsName == showsName, header.columns == columns,
            header.tags.elementsEqual(tags, by: { Name($0.name) == $1 })
        {
            return false
        }
        (columns, showsName) = (header.columns, header.showsName)
        tags = header.tags.map { Name($0.name) }
        titles = header.uniqueTitles
        leading = header.leadingColumns
        return true
    }
}

extension ResultHeader {
    /// The titles, where a later column of one title has a number: `x_1`, as in `SELECT x, x`.
    var uniqueTitles: [String] {
        var names = NumberedNames(reserved: Set(columns.map { Name($0.title) }))
        return columns.map { names.add($0.title) }
    }

    /// The experiment (nil), if it is shown, and the tags of GROUP BY that are not selected too,
    /// with names that no column has. If another column has the title `x`, the tag `x` becomes
    /// `x_1`, as in `SELECT *`.
    var leadingColumns: [(name: String, tag: Int?)] {
        if tags.isEmpty, !showsName { return [] }
        var shown: Set<Name> = []
        for column in columns where column.kind == .tag {
            let title = Name(column.title)
            if column.source.map({ Name($0) == title }) ?? true { shown.insert(title) }
        }
        let tags = tags.indices.filter { !shown.contains(Name(self.tags[$0].name)) }
        let leading = (showsName ? [("name", nil)] : []) + tags.map { (self.tags[$0].name, $0) }
        var names = NumberedNames(
            used: Set(uniqueTitles.map { Name($0) }), reserved: Set(leading.map { Name($0.0) }))
        return leading.map { (names.add($0.0), $0.1) }
    }

    /// The value of a leading column.
    func value(ofLeading tag: Int?) -> String { tag.map { tags[$0].value } ?? name }
}

/// Gives names numbers where they are taken.
private struct NumberedNames {
    var used: Set<Name> = []
    /// Names that no number may lead to.
    let reserved: Set<Name>
    /// The last number of each name.
    private var numbers: [Name: Int] = [:]

    init(used: Set<Name> = [], reserved: Set<Name>) {
        self.used = used
        self.reserved = reserved
    }

    /// Returns the name, or the first free one of `x_1`, `x_2` and so on.
    mutating func add(_ name: String) -> String {
        let original = Name(name)
        var found = original
        var number = numbers[original] ?? 0
        while used.contains(found) || number > 0 && reserved.contains(found) {
            number += 1
            found = Name("\(name)_\(number)")
        }
        numbers[original] = number
        used.insert(found)
        return found.text
    }
}
