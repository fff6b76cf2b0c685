// Computes which values and rows of a segment damage makes unreadable: the damaged blocks, and the
// blocks that need them. `check` and queries report it; a repair drops these rows and values.

struct SegmentLoss: Sendable {
    /// The unreadable values of one field.
    struct Field: Sendable {
        var valueCount = 0
        /// From the first to the last row of each group of consecutive values; not ordered.
        var ranges: [Range<Int>] = []
        /// Blocks without a readable value.
        var blocks: Set<Int> = []
        /// Blocks that are readable in part, with the rows of their unreadable values.
        var missing: [Int: Set<UInt32>] = [:]
    }

    /// Rows that are lost whole, because their times or series are unreadable. Ascending ranges.
    private(set) var rows: [Range<Int>]
    /// The losses of fields that are damaged themselves.
    private(set) var damaged: [Int: Field] = [:]
    /// The losses of fields that refer to damaged ones.
    private(set) var dependent: [Int: Field] = [:]
    /// Rows that have no field left, as ascending ranges.
    private(set) var emptied: [Range<Int>] = []
    /// The number of values of non-field columns in the emptied rows.
    private(set) var emptiedValues: [Int: Int] = [:]
    /// Unreadable blocks whose own rows are all in `rows`.
    private var lostWithRows: Set<SegmentDamage.Block> = []
    private let segment: SegmentReader
    private let wholeFields: Set<Int>

    /// - Parameters:
    ///   - segment: a quiet reader (`SegmentReader.init(quiet:without:)`) that cannot read the
    ///     damaged blocks.
    ///   - searchesAll: whether to try every block that refers to others; otherwise only those that
    ///     refer to lost values.
    /// - Throws: `io` if the system fails to read intact data.
    init(
        of damage: SegmentDamage, in segment: SegmentReader, searchesAll: Bool = false
    ) throws(DatabaseError) {
        self.segment = segment
        rows = SegmentLoss.united(damage.rows)
        wholeFields = damage.fields
        addDamaged(damage)
        for field in segment.footer.fields.indices where !wholeFields.contains(field) {
            try findDependent(field, searchesAll: searchesAll)
        }
        try findEmptied()
    }

    /// Whether no value of a block can be read.
    func isLost(_ block: Int, of field: Int) -> Bool {
        wholeFields.contains(field) || damaged[field]?.blocks.contains(block) ?? false
            || dependent[field]?.blocks.contains(block) ?? false
            || lostWithRows.contains(SegmentDamage.Block(field: field, block: block))
    }

    /// All losses of a field.
    func all(ofField field: Int) -> Field? {
        guard var all = damaged[field] else { return dependent[field] }
        guard let other = dependent[field] else { return all }
        all.valueCount += other.valueCount
        all.ranges += other.ranges
        return all
    }

    /// The same rows as ascending ranges that do not touch.
    static func united(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
            if let last = united.last, last.upperBound >= range.lowerBound {
                united[united.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                united.append(range)
            }
        }
        return united
    }

    // MARK: Values

    private mutating func addDamaged(_ damage: SegmentDamage) {
        for field in damage.fields {
            damaged[field] = Field(
                valueCount: segment.footer.fields[field].valueCount,
                ranges: [0..<segment.footer.rowCount])
        }
        for name in damage.blocks where !wholeFields.contains(name.field) {
            guard let directory = try? segment.directory(name.field) else { continue }
            damaged[name.field, default: Field()].add(name.block, directory)
        }
        for field in damage.dictionaries where !wholeFields.contains(field) {
            guard segment.footer.fields[field].column.type == .string,
                let directory = try? segment.directory(field)
            else { continue }
            for block in 0..<directory.count {
                let encoding = directory.encoding(block)
                if SegmentFormat.holdsStrings(encoding) { continue }
                damaged[field, default: Field()].add(block, directory)
            }
        }
    }

    /// Finds the values of a field that refer to lost ones. Blocks refer only to fields with
    /// smaller numbers, whose losses are known.
    private mutating func findDependent(
        _ field: Int, searchesAll: Bool
    ) throws(DatabaseError) {
        guard var reader = try? SegmentColumnReader(segment, field: field) else { return }
        let directory = reader.directory
        var lost: [Range<Int>] = searchesAll ? [0..<segment.footer.rowCount] : []
        if !searchesAll {
            for other in 0..<field { lost += all(ofField: other)?.ranges ?? [] }
            lost = SegmentLoss.united(lost)
        }
        var next = 0
        for range in lost {
            let blocks = directory.blocks(rows: range)
            for block in max(next, blocks.lowerBound)..<max(next, blocks.upperBound) {
                next = block + 1
                if isLost(block, of: field) { continue }
                if !searchesAll, try !refersToLost(directory, block) { continue }
                try addUnreadable(block, of: field, &reader)
            }
        }
    }

    /// Whether a block refers to a field that has losses.
    private func refersToLost(
        _ table: BlockTable, _ block: Int
    ) throws(DatabaseError) -> Bool {
        do throws(DatabaseError) {
            guard let column = try segment.repeatedColumn(table, block: block),
                let referenced = segment.field(column)
            else { return false }
            return damaged[referenced] != nil || dependent[referenced] != nil
        } catch {
            if error.isSystemCallFailure { throw error }
            return false
        }
    }

    private mutating func addUnreadable(
        _ block: Int, of field: Int, _ reader: inout SegmentColumnReader
    ) throws(DatabaseError) {
        guard reader.directory.isReference(block) else { return }
        do throws(DatabaseError) {
            try reader.check(block: block)
        } catch {
            if error.isSystemCallFailure { throw error }
            if let own = try? reader.rows(block: block),
                own.allSatisfy({ SegmentLoss.contains(rows, Int($0)) })
            {
                lostWithRows.insert(SegmentDamage.Block(field: field, block: block))
            } else {
                dependent[field, default: Field()].add(block, reader.directory)
            }
            return
        }
        guard let missing = reader.missing else { return }
        // Values missing in rows that are lost anyway are not counted again.
        let isMissing = zip(reader.loadedRows[reader.loadedRange], missing.isMissing).map {
            ($0, $1 && !SegmentLoss.contains(rows, Int($0)))
        }
        guard isMissing.contains(where: \.1) else { return }
        dependent[field, default: Field()].add(block, isMissing)
    }

    private static func contains(_ ranges: [Range<Int>], _ row: Int) -> Bool {
        let index = ranges.partitioningIndex { $0.upperBound > row }
        return index < ranges.count && ranges[index].contains(row)
    }

    // MARK: Rows

    /// Finds rows that have no field left.
    private mutating func findEmptied() throws(DatabaseError) {
        let ranges = (damaged.values.map(\.ranges) + dependent.values.map(\.ranges)).flatMap { $0 }
        let affected = SegmentLoss.united(ranges)
        guard let first = affected.first?.lowerBound, let end = affected.last?.upperBound else {
            return
        }
        var hasField = [Bool](repeating: false, count: end - first)
        for field in segment.footer.fields.indices {
            guard segment.footer.fields[field].column.kind == .field else { continue }
            try forEachReadableRow(affected, of: field) { hasField[$0 - first] = true }
        }
        for range in affected {
            for row in range where !hasField[row - first] && !SegmentLoss.contains(rows, row) {
                if let last = emptied.last, last.upperBound == row {
                    emptied[emptied.count - 1] = last.lowerBound..<(row + 1)
                } else {
                    emptied.append(row..<(row + 1))
                }
            }
        }
        guard !emptied.isEmpty else { return }
        let emptied = emptied
        for field in segment.footer.fields.indices {
            guard segment.footer.fields[field].column.kind != .field else { continue }
            var count = 0
            try forEachReadableRow(emptied, of: field) { _ in count += 1 }
            if count > 0 { emptiedValues[field] = count }
        }
    }

    /// Calls the body with each row in some ranges that has a readable value of a field.
    private func forEachReadableRow(
        _ ranges: [Range<Int>], of field: Int, _ body: (Int) -> Void
    ) throws(DatabaseError) {
        guard !wholeFields.contains(field),
            var reader = try? SegmentColumnReader(segment, field: field)
        else { return }
        for range in ranges {
            for block in reader.directory.blocks(rows: range) where !isLost(block, of: field) {
                let missing = dependent[field]?.missing[block]
                do throws(DatabaseError) {
                    for row in try reader.rows(block: block) where range.contains(Int(row)) {
                        if !(missing?.contains(row) ?? false) { body(Int(row)) }
                    }
                } catch {
                    // A field without its rows has no readable values.
                    if error.isSystemCallFailure { throw error }
                }
            }
        }
    }
}

extension SegmentLoss.Field {
    fileprivate mutating func add(_ block: Int, _ directory: BlockTable) {
        guard blocks.insert(block).inserted else { return }
        valueCount += directory.valueCount(block)
        ranges.append(directory.rows(ofBlock: block))
    }

    /// - Parameter isMissing: the rows of the block, and whether their values are unreadable.
    fileprivate mutating func add(_ block: Int, _ isMissing: [(row: UInt32, isMissing: Bool)]) {
        var isOpen = false
        for (row, isMissing) in isMissing {
            if isMissing {
                missing[block, default: []].insert(row)
                valueCount += 1
                let first = isOpen ? ranges.removeLast().lowerBound : Int(row)
                ranges.append(first..<(Int(row) + 1))
            }
            isOpen = isMissing
        }
    }
}
