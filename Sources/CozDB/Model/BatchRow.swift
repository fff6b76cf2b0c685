// The rows (24 bytes) and cells (16 bytes) of a write batch.

/// One point: the end of its cells and its position in the input.
@usableFromInline struct BatchRow: Sendable {
    @usableFromInline var time: Int64
    /// Line in `source`, from 1; 0 if unknown.
    @usableFromInline var line: Int
    /// Number of its tag set in the batch.
    @usableFromInline var tagSet: UInt32
    /// Index after its last cell. Its cells start where those of the previous row end.
    @usableFromInline var cellEnd: UInt32

    @usableFromInline init(time: Int64, line: Int, tagSet: UInt32, cellEnd: UInt32) {
        self.time = time
        self.line = line
        self.tagSet = tagSet
        self.cellEnd = cellEnd
    }
}

/// One value: 64 bits, interpreted by the type of the column.
@usableFromInline struct BatchCell: Sendable {
    /// Float: bit pattern. Integer: two's complement. Boolean: 0 or 1. String: its number in the
    /// batch, or a packed time (`ISOTime.word`).
    @usableFromInline var bits: UInt64
    /// Number of the column in the batch.
    @usableFromInline var column: UInt32

    @inlinable init(bits: UInt64, column: UInt32) {
        self.bits = bits
        self.column = column
    }
}
