// An index from columns to the rows of a memtable that have them. Without it, reading all columns
// of a very wide table would visit each row for each column.

/// The rows of a view by layout, and layouts by column; or the same for attribute sets. Takes a few
/// words for each row and for each column of a list.
struct MemtableColumns: Sendable {
    /// Tables with fewer columns are scanned instead.
    static let columnCountMin: UInt32 = 300

    /// A layout or attribute set that has the column.
    private struct Entry {
        var list: UInt32
        /// The last position of the column in the layout.
        var place: Int
    }

    /// Per column: the lists that have it, ascending.
    private let entries: [UInt32: [Entry]]
    /// Row positions grouped by list, ascending within each list, and where each list ends.
    private let places: [UInt32]
    private let ends: [Int]

    /// - Parameters:
    ///   - columns: the columns of all lists, one after the other.
    ///   - listEnds: where each list ends.
    ///   - listOfPlace: the layout or attribute set of each row position.
    init(_ columns: [UInt32], listEnds: [Int], _ listOfPlace: [UInt32]) {
        var entries: [UInt32: [Entry]] = [:]
        var start = 0
        for (list, end) in listEnds.enumerated() {
            for index in start..<end {
                let entry = Entry(list: UInt32(list), place: index - start)
                entries[columns[index], default: []].append(entry)
            }
            start = end
        }
        self.entries = entries
        var next = [Int](repeating: 0, count: listEnds.count + 1)
        for list in listOfPlace { next[Int(list) + 1] += 1 }
        for list in listEnds.indices { next[list + 1] += next[list] }
        ends = Array(next.dropFirst())
        var places = [UInt32](repeating: 0, count: listOfPlace.count)
        for (place, list) in listOfPlace.enumerated() {
            places[next[Int(list)]] = UInt32(place)
            next[Int(list)] += 1
        }
        self.places = places
    }

    /// Calls the body for each position in the range that has the column, ascending.
    func forEachPlace(
        of column: ColumnID, in wanted: Range<Int>, _ body: (_ place: Int, _ found: Int) -> Void
    ) {
        guard let entries = entries[UInt32(truncatingIfNeeded: column)] else { return }
        var found: [(place: Int, entry: Int)] = []
        var last = -1
        for entry in entries {
            // If a list has a column twice, the later one wins.
            let isAgain = last == Int(entry.list)
            last = Int(entry.list)
            let list = Int(entry.list)
            let own = places[(list == 0 ? 0 : ends[list - 1])..<ends[list]]
            let inside = own[own.indices(in: wanted)]
            if isAgain { found.removeLast(inside.count) }
            for place in inside { found.append((Int(place), entry.place)) }
        }
        if entries.count > 1 { found.sort { $0.place < $1.place } }
        for (place, entry) in found { body(place, entry) }
    }
}
