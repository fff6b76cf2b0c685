// Blocks that repeat another field of the segment at the same rows; docs/format/segment.md.

extension SegmentColumnReader {
    /// The words of a block that repeats a partner; its rows are loaded.
    mutating func repeatedWords(
        _ block: Int, _ type: FieldType
    ) throws(DatabaseError) -> [UInt64] {
        let rows = loadedRows[loadedRange]
        let same = try segment.read(SegmentReader.place(directory.table, block)) {
            bytes throws(FormatError) in
            var decoder = BlockDecoder()
            return try decoder.decodeSame(bytes, count: rows.count, type: type)
        }
        // Partners have smaller numbers, so that no two fields repeat each other.
        guard depth > 0, let partner = segment.field(same.column), partner < field,
            segment.footer.fields[partner].column.type == storedType
        else {
            throw damaged(block, "a block that repeats column \(same.column), which it cannot")
        }
        var reader: SegmentColumnReader
        if let known = partners.removeValue(forKey: partner) {
            reader = known
        } else {
            reader = SegmentColumnReader(
                segment, field: partner, directory: try segment.directory(partner),
                depth: depth - 1)
        }
        // What differs needs nothing of the partner.
        var words = [UInt64](repeating: 0, count: rows.count)
        var isKnown = [Bool](repeating: false, count: rows.count)
        for position in same.positions { isKnown[Int(position)] = true }
        try reader.read(rows, &words, &isKnown)
        partners[partner] = reader
        guard !isKnown.contains(false) else {
            throw damaged(block, "a block that repeats values that are not there")
        }
        for (index, position) in same.positions.enumerated() {
            words[Int(position)] = same.words[index]
        }
        return words
    }

    /// Puts the words at ascending rows in their places, where there are any that mean the same
    /// in every field.
    private mutating func read(
        _ rows: ArraySlice<UInt32>, _ words: inout [UInt64], _ isKnown: inout [Bool]
    ) throws(DatabaseError) {
        guard let first = rows.first, let last = rows.last else { return }
        var index = rows.startIndex
        for block in directory.blocks(rows: Int(first)..<(Int(last) + 1)) {
            try load(block)
            var place = loadedRange.lowerBound
            let lastRow = loadedRows[loadedRange.upperBound - 1]
            while index < rows.endIndex, rows[index] <= lastRow {
                while loadedRows[place] < rows[index] { place += 1 }
                if loadedRows[place] == rows[index] {
                    let word = loadedBits[place - loadedRange.lowerBound]
                    if SlabColumn.isComparable(word, storedType) {
                        words[index - rows.startIndex] = word
                        isKnown[index - rows.startIndex] = true
                    }
                }
                index += 1
            }
        }
    }
}
