// Interns lists of columns. The rows of a batch share a few lists, so decisions about a list are
// made once and hold for all of its rows.

/// Distinct lists of columns, numbered in the order of their first use.
struct RowLayouts {
    private var numbers: [UInt32] = []
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    /// A hash table: list number + 1, or 0 for a free slot. The size is a power of two.
    private var slots: [UInt32] = [UInt32](repeating: 0, count: 64)
    /// Random, so that input cannot be crafted to collide.
    private let seed = hashSeed

    var count: Int { ends.count }

    func range(_ list: Int) -> Range<Int> { (list == 0 ? 0 : ends[list - 1])..<ends[list] }

    subscript(index: Int) -> UInt32 { numbers[index] }

    /// The number of the list of the cells' columns, and whether it is new.
    ///
    /// - Parameter group: equal lists of different groups get different numbers.
    mutating func intern(
        _ cells: Span<BatchCell>, group: Int
    ) -> (number: Int, isNew: Bool) {
        var hash = seed ^ UInt64(truncatingIfNeeded: group &+ 1)
        for index in cells.indices {
            hash = (hash ^ UInt64(cells[index].column)) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash >> 20) & mask
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if hashes[number] == hash, equals(number, cells, group) { return (number, false) }
            slot = (slot + 1) & mask
        }
        for index in cells.indices { numbers.append(cells[index].column) }
        numbers.append(UInt32(truncatingIfNeeded: group))
        ends.append(numbers.count)
        hashes.append(hash)
        slots[slot] = UInt32(truncatingIfNeeded: count)
        if slots.count < 2 * count { grow() }
        return (count - 1, true)
    }

    /// Compares the columns, then the group, which is stored after them.
    private func equals(_ number: Int, _ cells: Span<BatchCell>, _ group: Int) -> Bool {
        let range = range(number)
        guard range.count == cells.count + 1,
            numbers[range.upperBound - 1] == UInt32(truncatingIfNeeded: group)
        else { return false }
        for index in cells.indices
        where numbers[range.lowerBound + index] != cells[index].column {
            return false
        }
        return true
    }

    private mutating func grow() {
        let size = slots.count * 2
        slots = [UInt32](repeating: 0, count: size)
        for number in hashes.indices {
            var slot = Int(truncatingIfNeeded: hashes[number] >> 20) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = UInt32(truncatingIfNeeded: number + 1)
        }
    }
}
