// Reads reference blocks, which refer to another field at the same rows; docs/format/segment.md.

extension SegmentColumnReader {
    /// Returns the words of a reference block whose rows are loaded. Values that need a damaged
    /// block of the referenced field are missing.
    mutating func repeatedWords(
        _ block: Int, _ type: FieldType
    ) throws(DatabaseError) -> [UInt64] {
        let rows = loadedRows[loadedRange]
        let same = try segment.read(directory.handle(block)) {
            bytes throws(FormatError) in
            var decoder = BlockDecoder()
            return try decoder.decodeSame(bytes, count: rows.count, type: type)
        }
        // A referenced field has a smaller number, so that no two fields refer to each other.
        guard depth > 0, let referenced = segment.field(same.column), referenced < field,
            segment.footer.fields[referenced].column.type == storedType
        else {
            throw damaged(
                block,
                "a block that refers to column \(same.column), which is no "
                    + "earlier field of the same type")
        }
        // Values that differ do not need the referenced field.
        var words = [UInt64](repeating: 0, count: rows.count)
        var isKnown = [Bool](repeating: false, count: rows.count)
        for position in same.positions { isKnown[Int(position)] = true }
        let failure = try readReferenced(referenced, rows, &words, &isKnown)
        if isKnown.contains(false) {
            guard let failure else {
                throw damaged(block, "a block that refers to values that do not exist")
            }
            guard isKnown.contains(true) else { throw failure }
            missing = MissingValues(isMissing: isKnown.map { !$0 }, error: failure)
        }
        for (index, position) in same.positions.enumerated() {
            words[Int(position)] = same.words[index]
        }
        return words
    }

    /// Puts the words of a referenced field in their places.
    ///
    /// - Returns: the error of a needed block that is damaged, if any.
    private mutating func readReferenced(
        _ referenced: Int, _ rows: ArraySlice<UInt32>, _ words: inout [UInt64],
        _ isKnown: inout [Bool]
    ) throws(DatabaseError) -> DatabaseError? {
        do throws(DatabaseError) {
            var reader: SegmentColumnReader
            if let known = referencedReaders.removeValue(forKey: referenced) {
                reader = known
            } else {
                reader = try SegmentColumnReader(segment, field: referenced, depth: depth - 1)
            }
            let failure = try reader.read(rows, &words, &isKnown)
            referencedReaders[referenced] = reader
            return failure
        } catch {
            if error.isSystemCallFailure { throw error }
            return error
        }
    }

    /// Puts the words at ascending rows in their places, except for codes, which mean nothing in
    /// another field. Skips blocks whose values are all known.
    ///
    /// - Returns: the error of the first block that is unreadable, in whole or in part.
    private mutating func read(
        _ rows: ArraySlice<UInt32>, _ words: inout [UInt64], _ isKnown: inout [Bool]
    ) throws(DatabaseError) -> DatabaseError? {
        guard let first = rows.first, let last = rows.last else { return nil }
        var failure: DatabaseError?
        var index = rows.startIndex
        for block in directory.blocks(rows: Int(first)..<(Int(last) + 1)) {
            let end = directory.lastRow(block)
            while index < rows.endIndex, isKnown[index - rows.startIndex], Int(rows[index]) <= end {
                index += 1
            }
            guard index < rows.endIndex else { break }
            if Int(rows[index]) > end { continue }
            do throws(DatabaseError) {
                try loadReadable(block)
            } catch {
                if error.isSystemCallFailure { throw error }
                failure = failure ?? error
                continue
            }
            failure = failure ?? missing?.error
            var place = loadedRange.lowerBound
            let lastRow = loadedRows[loadedRange.upperBound - 1]
            while index < rows.endIndex, rows[index] <= lastRow {
                while loadedRows[place] < rows[index] { place += 1 }
                if loadedRows[place] == rows[index] {
                    let word = loadedBits[place - loadedRange.lowerBound]
                    let isMissing = missing?.isMissing[place - loadedRange.lowerBound] ?? false
                    if !isMissing, ChunkColumn.isComparable(word, storedType) {
                        words[index - rows.startIndex] = word
                        isKnown[index - rows.startIndex] = true
                    }
                }
                index += 1
            }
        }
        return failure
    }
}
