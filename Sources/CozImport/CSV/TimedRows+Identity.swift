// What makes two rows of one millisecond the same row.

internal import CozDB

extension TimedRows {
    /// A number that rows have in common where they say the same, and practically never otherwise:
    /// sixty-four bits, and only rows of one millisecond are compared.
    ///
    /// Columns count by their names, in any order; empty cells, the time, and words that agree
    /// with it do not count. So a row is the same in an old and a new export, and with or without
    /// what the server adds.
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

/// A named value as a number, for sums over the cells of a row in any order. FNV-1a of 64 bits
/// (Fowler, Noll, Vo), mixed at the end so that sums stay apart.
package struct IdentityHash {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Parameter name: of the value; the value's bytes follow by `combine`.
    package init(_ name: String) {
        for byte in name.utf8 { combine(byte) }
        // No text has this byte: a name and a value cannot run into each other.
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
