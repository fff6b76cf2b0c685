// Cached results of a string predicate per dictionary code, so that each string is tested once.

/// The results of a string predicate for one string table, computed on first use of each code.
struct CachedStringPredicate: WordPredicate {
    let test: any StringPredicate
    private(set) var table: StringTable
    /// 0 for false, 1 for true, or `unknown`.
    private var verdicts: [UInt8]
    private static let unknown: UInt8 = 2
    private var foundCount = 0
    /// Whether a code outside the table was seen: its block is corrupt.
    private(set) var hasInvalidCode = false

    init(_ test: any StringPredicate, _ table: StringTable) {
        self.test = test
        self.table = table
        verdicts = Array(repeating: CachedStringPredicate.unknown, count: table.count)
    }

    /// Tests codes of the table, or packed times.
    mutating func select(_ words: Span<UInt64>, into bits: inout BitVector) {
        setBits(of: words, in: &bits) { accepts($0) }
    }

    private mutating func accepts(_ word: UInt64) -> Bool {
        guard !ISOTime.isWord(word) else { return test.accepts(table.text(word)) }
        guard word < UInt64(verdicts.count) else {
            hasInvalidCode = true
            return false
        }
        if verdicts[Int(word)] == CachedStringPredicate.unknown {
            // A partial result is never returned: the query throws at its next cancellation check.
            foundCount &+= 1
            if foundCount & 0x1F == 0, CancellationCheck.isRaised { return false }
            verdicts[Int(word)] = test.accepts(table.text(word)) ? 1 : 0
        }
        return verdicts[Int(word)] == 1
    }
}
