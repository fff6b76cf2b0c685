// An array of columns of which a changed copy is cheap.

/// The columns of an experiment, in blocks of which changed copies share all but one. Each commit
/// that adds a field changes a copy of its experiment's schema.
struct ColumnBlocks: Sendable {
    private static var columnsPerBlock: Int { 256 }
    /// All are full, except the last one.
    private var blocks: [[Column]] = []
    private(set) var count = 0

    var joined: [Column] { blocks.count == 1 ? blocks[0] : Array(blocks.joined()) }

    subscript(id: ColumnID) -> Column {
        get { blocks[id / Self.columnsPerBlock][id % Self.columnsPerBlock] }
        set { blocks[id / Self.columnsPerBlock][id % Self.columnsPerBlock] = newValue }
    }

    mutating func append(_ column: Column) {
        if count % Self.columnsPerBlock == 0 { blocks.append([]) }
        blocks[blocks.count - 1].append(column)
        count += 1
    }
}
