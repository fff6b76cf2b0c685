// Names that somebody may have meant who wrote another one.

/// "did you mean" for names.
package enum NameSuggestion {
    /// Text for the end of a message; empty where no name is near.
    package static func text(_ name: String, among names: [String]) -> String {
        guard let best = nearest(name, among: names, count: 1).first else { return "" }
        return "; did you mean \"\(best)\"?"
    }

    /// The names that take the fewest edits to become this one, nearest first; none that differ
    /// in more than a third.
    package static func nearest(_ name: String, among names: [String], count: Int) -> [String] {
        let limit = max(2, name.utf8.count / 3)
        let near = names.map { (name: $0, edits: distance(Array(name.utf8), Array($0.utf8))) }
            .filter { $0.edits <= limit }.enumerated()
            .sorted { ($0.element.edits, $0.offset) < ($1.element.edits, $1.offset) }
        return near.prefix(count).map(\.element.name)
    }

    /// Edits that turn one name into the other; letters of another case cost little.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard left.count < 200, right.count < 200 else { return .max }
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let isSame = byte | 0x20 == right[column] | 0x20
                let cost = min(row[column], row[column + 1]) + 1
                let replaced = diagonal + (isSame ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(cost, replaced)
            }
        }
        return row[right.count]
    }
}
