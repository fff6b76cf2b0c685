// Suggestions for misspelled names.

/// "did you mean" suggestions.
package enum NameSuggestion {
    /// Returns a suffix for an error message; empty if no name is similar.
    package static func text(_ name: String, among names: [String]) -> String {
        guard let best = nearest(name, among: names, count: 1).first else { return "" }
        return "; did you mean \"\(best)\"?"
    }

    /// Returns the names with the smallest edit distance, nearest first. Names that differ in more
    /// than a third of their bytes (at least 2, for names of up to 2 bytes 1) are left out.
    package static func nearest(_ name: String, among names: [String], count: Int) -> [String] {
        let limit = name.utf8.count <= 2 ? 1 : max(2, name.utf8.count / 3)
        let near = names.lazy.filter { abs($0.utf8.count - name.utf8.count) <= limit }
            .map { (name: $0, edits: distance(Array(name.utf8), Array($0.utf8))) }
            .filter { $0.edits <= limit }.enumerated()
            .sorted { ($0.element.edits, $0.offset) < ($1.element.edits, $1.offset) }
        return near.prefix(count).map(\.element.name)
    }

    /// Returns the edit distance; case differences are free.
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
