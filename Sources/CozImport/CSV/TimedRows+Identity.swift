// Hashes rows, to find rows of one millisecond that are the same.

internal import CozDB

extension TimedRows {
    /// Returns a hash that is equal for rows with the same content. Only rows of one millisecond
    /// are compared, so 64 bits make a collision practically impossible.
    ///
    /// Columns are hashed by name and in any order. Empty cells, the time, and a text that repeats
    /// the time are ignored. So a row has the same hash in old and new exports, with or without the
    /// columns that the server adds.
    ///
    /// - Parameter milliseconds: the time of the row.
    package mutating func identity(
        of row: CSVRow, in block: CSVBlock, _ milliseconds: Int64
    ) -> UInt64 {
        var sum: UInt64 = 0
        for (index, column) in columns.enumerated() where index != timeColumn {
            let cell = block.cells[row.cells.lowerBound + index].range
            if cell.isEmpty { continue }
            if column.kind == .moment, second.agrees(block.bytes, cell, milliseconds) { continue }
            var hash = IdentityHash(column.name)
            for place in cell { hash.combine(block.bytes[place]) }
            sum &+= hash.value
        }
        if let constant { sum &+= IdentityHash(constant.name, constant.value).value }
        return sum
    }
}

/// A hash of a named value. Sums of such hashes identify a row whatever the order of its cells.
/// 64-bit FNV-1a (Fowler, Noll, Vo) with a final mix, so that sums rarely collide.
package struct IdentityHash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Parameter name: the name of the value. Pass the bytes of the value to `combine`.
    package init(_ name: String) {
        for byte in name.utf8 { combine(byte) }
        // This byte is not in valid UTF-8, so it separates the name from the value.
        combine(0xFF)
    }

    package init(_ name: String, _ value: String) {
        self.init(name)
        for byte in value.utf8 { combine(byte) }
    }

    @inline(__always) package mutating func combine(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    package var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return mixed ^ (mixed >> 33)
    }
}
