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
            block.bytes.withSpan(cell) { hash.combine($0) }
            sum &+= hash.value
        }
        if let constant { sum &+= IdentityHash(constant.name, constant.value).value }
        return sum
    }
}

/// A hash of a named value. Sums of such hashes identify a row whatever the order of its cells.
/// SipHash with the seed of the process, so that nobody can make rows with equal sums.
package struct IdentityHash {
    private var hasher = Hasher()

    /// - Parameter name: the name of the value. Pass the bytes of the value to `combine`.
    package init(_ name: String) {
        Name(name).hash(into: &hasher)
        // This byte is not in valid UTF-8, so it separates the name from the value.
        hasher.combine(0xFF as UInt8)
    }

    package init(_ name: String, _ value: String) {
        self.init(name)
        Name(value).hash(into: &hasher)
    }

    package mutating func combine(_ bytes: Span<UInt8>) {
        // Sound: the bytes stay in place during the call.
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    package var value: UInt64 { UInt64(bitPattern: Int64(hasher.finalize())) }
}
