// What a test says of the strings of a column, so that no string is looked at twice.

/// The verdicts on the strings of one table, each found out when its code is first seen.
struct TextVerdicts: WordTest {
    let test: any TextTest
    private(set) var table: StringTable
    /// 0 and 1 for no and yes.
    private var verdicts: [UInt8]
    private static let unknown: UInt8 = 2
    private var foundCount = 0
    /// Whether a code was seen that the table does not have: its block is damaged.
    private(set) var isBeyondTable = false

    init(_ test: any TextTest, _ table: StringTable) {
        self.test = test
        self.table = table
        verdicts = Array(repeating: TextVerdicts.unknown, count: table.count)
    }

    /// - Parameter words: codes of the table, or words of times.
    mutating func select(_ words: Span<UInt64>, into bits: inout BitVector) {
        setBits(of: words, in: &bits) { accepts($0) }
    }

    private mutating func accepts(_ word: UInt64) -> Bool {
        guard !ISOTime.isWord(word) else { return test.accepts(table.text(word)) }
        guard word < UInt64(verdicts.count) else {
            isBeyondTable = true
            return false
        }
        if verdicts[Int(word)] == TextVerdicts.unknown {
            // What is broken off is never shown: the query throws at its next check.
            foundCount &+= 1
            if foundCount & 0x1F == 0, StopSign.isRaised { return false }
            verdicts[Int(word)] = test.accepts(table.text(word)) ? 1 : 0
        }
        return verdicts[Int(word)] == 1
    }
}
