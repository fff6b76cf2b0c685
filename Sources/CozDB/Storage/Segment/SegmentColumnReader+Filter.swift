// Selects values of a block by a predicate or by their rows, before the block is decoded.

extension SegmentColumnReader {
    /// Adds the rows whose value in a block passes a predicate. Other bits are unchanged.
    ///
    /// - Parameters:
    ///   - test: a predicate that statistics do not decide for the whole block.
    ///   - isOwn: whether all rows of the block are in the range. Only then the block can be tested
    ///     encoded.
    mutating func choose(
        block: Int, _ test: ValuePredicate, isOwn: Bool, verdicts: inout CachedStringPredicate?,
        from chosen: inout ChosenRows
    ) throws(DatabaseError) {
        var passing = BitVector()
        let type = storedType == .string ? FieldType.integer : storedType
        switch test {
        case .never: return
        case .isPresent:
            try loadRows(ofBlock: block)
            passing.removeAll(count: loadedRange.count)
            passing.formOnes(in: 0..<loadedRange.count)
        case .number(var test):
            try select(block, type, chosen.range, isOwn, &test, &passing)
        case .flag(let flag):
            var test = NumberPredicate.integers(flag ? 1...1 : 0...0, inside: true)
            try select(block, type, chosen.range, false, &test, &passing)
        case .text(let test):
            // Strings of a dictionary are tested once. Few blocks store their own strings.
            let hasStrings = SegmentFormat.holdsStrings(directory.encoding(block))
            if hasStrings { try load(block, rows: chosen.range, isShared: !isOwn) }
            let table = hasStrings ? loadedStrings : try loadDictionary()
            if verdicts?.table !== table || verdicts?.test !== test {
                verdicts = CachedStringPredicate(test, table)
            }
            guard var own = verdicts else { return }
            verdicts = nil
            try select(block, type, chosen.range, isOwn && !hasStrings, &own, &passing)
            guard !own.hasInvalidCode else {
                throw damaged(block, "a string code beyond the dictionary of \(table.count)")
            }
            verdicts = own
        }
        let taken = places(of: chosen.range)
        let rows = loadedRows
        let bits = passing.count == taken.count ? 0..<taken.count : bitRange(taken)
        chosen.bits.formOnes(
            passing, in: bits, at: rows.span.extracting(taken), from: chosen.firstRow)
    }

    /// Tests the values of a block, or those in the given rows, and finds its rows.
    private mutating func select<Test: WordPredicate>(
        _ block: Int, _ type: FieldType, _ rows: Range<Int>, _ isOwn: Bool,
        _ test: inout Test, _ passing: inout BitVector
    ) throws(DatabaseError) {
        let code = directory.encoding(block)
        let isReference = BlockEncoding(rawValue: code)?.isReference ?? true
        guard isOwn, !isReference, !isLoaded(block) else {
            try load(block, rows: rows, isShared: !isOwn)
            // The block may have values of very many series.
            let own = bitRange(places(of: rows))
            passing.removeAll(count: own.count)
            return test.select(loadedBits.span.extracting(own), into: &passing)
        }
        try loadRows(ofBlock: block)
        let count = loadedRange.count
        var own = test
        passing = try segment.read(directory.handle(block)) { bytes throws(FormatError) in
            var filter = BlockFilter()
            var found = BitVector()
            try filter.select(
                bytes, encoding: code, count: count, type: type, test: &own, into: &found)
            return found
        }
        test = own
    }

    /// Counts the given rows that have a value in a block.
    ///
    /// - Parameter rows: ascending.
    mutating func count(block: Int, at rows: Span<UInt32>) throws(DatabaseError) -> Int {
        try loadRows(ofBlock: block)
        var count = 0
        forEachCommonRow(rows) { _, _ in count += 1 }
        return count
    }

    /// Appends the values that the given rows have in a block. Decodes it only if there are any.
    ///
    /// - Parameters:
    ///   - rows: ascending. The rows of the result are indices in this list.
    ///   - isShared: whether other callers may read other rows of the block.
    mutating func append(
        block: Int, at rows: Span<UInt32>, isShared: Bool, to found: inout RowValues
    ) throws(DatabaseError) {
        try loadRows(ofBlock: block)
        let start = found.rows.count
        var sources: [Int] = []
        let first = loadedRange.lowerBound
        forEachCommonRow(rows) { place, source in
            found.rows.append(UInt32(truncatingIfNeeded: place))
            sources.append(source - first)
        }
        guard found.rows.count > start else { return }
        let chosen = Int(rows[0])..<(Int(rows[rows.count - 1]) + 1)
        try load(block, rows: chosen, isShared: isShared)
        let offset = found.adopt(loadedStrings)
        if offset == 0, sources.count == loadedBits.count {
            found.bits.append(contentsOf: loadedBits)
            return
        }
        for source in sources {
            let word = loadedBits[source]
            found.bits.append(offset == 0 ? word : ISOTime.moved(word, by: offset))
        }
    }

    /// Calls the body for each given row that the loaded block has, with its index in `rows` and
    /// its place in `loadedRows`.
    private func forEachCommonRow(_ rows: Span<UInt32>, _ body: (Int, Int) -> Void) {
        guard let last = loadedRange.last else { return }
        let own = loadedRows.span
        var place = firstIndex(in: rows, notBefore: own[loadedRange.lowerBound], from: 0)
        let end =
            own[last] == .max
            ? rows.count : firstIndex(in: rows, notBefore: own[last] + 1, from: place)
        var source = loadedRange.lowerBound
        // Searches for a few rows among many; otherwise walks both lists.
        let isSparse = (end - place) * 16 < loadedRange.count
        while place < end {
            let row = rows[place]
            if isSparse {
                source = firstIndex(in: own.extracting(...last), notBefore: row, from: source)
            } else {
                while own[source] < row { source += 1 }
            }
            if own[source] == row { body(place, source) }
            place += 1
        }
    }
}
