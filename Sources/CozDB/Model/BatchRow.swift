// What a batch keeps of a point: a row of twenty-four bytes, and a cell of sixteen for each value.

/// One point: where its cells end, and where it came from.
@usableFromInline struct BatchRow: Sendable {
    @usableFromInline var time: Int64
    /// Line in `source`, from 1; 0 if unknown.
    @usableFromInline var line: Int
    /// Number of its tag set in the batch.
    @usableFromInline var tagSet: UInt32
    /// Index after the last of its cells; they begin where those of the row before end.
    @usableFromInline var cellEnd: UInt32

    @usableFromInline init(time: Int64, line: Int, tagSet: UInt32, cellEnd: UInt32) {
        self.time = time
        self.line = line
        self.tagSet = tagSet
        self.cellEnd = cellEnd
    }
}

/// One value: 64 bits whose meaning is the type of the column.
@usableFromInline struct BatchCell: Sendable {
    /// Float: bit pattern; integer: two's complement; boolean: 0 or 1; string: its number in
    /// the batch, or the word of a time.
    @usableFromInline var bits: UInt64
    /// Number of the column in the batch.
    @usableFromInline var column: UInt32

    @inlinable init(bits: UInt64, column: UInt32) {
        self.bits = bits
        self.column = column
    }
}
