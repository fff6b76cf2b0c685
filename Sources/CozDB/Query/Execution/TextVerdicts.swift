// Numbers of texts that pass a test, from the codes of blocks: no text is looked at twice, and no
// vector is made of what passes.

/// What a test says of the strings of one table, found out once for each that comes.
struct TextVerdicts {
    private let test: StringTest
    private var table: StringTable?
    /// 0 and 1 for no and yes, to be added up.
    private var verdicts: [UInt8] = []
    private static let unknown: UInt8 = 2

    init(_ test: StringTest) {
        self.test = test
    }

    /// How many values of a column of strings pass.
    mutating func count(_ slice: ColumnSlice) -> Int {
        if table !== slice.strings {
            table = slice.strings
            verdicts = Array(repeating: TextVerdicts.unknown, count: slice.strings.count)
        }
        var count = 0
        let bits = slice.bits
        let codes = bits.span
        for index in codes.indices {
            let code = codes[index]
            let isTime = ISOTime.isWord(code)
            var verdict = isTime ? TextVerdicts.unknown : verdicts[Int(code)]
            if verdict == TextVerdicts.unknown {
                verdict = test.accepts(slice.strings.text(code)) ? 1 : 0
                if !isTime { verdicts[Int(code)] = verdict }
            }
            count &+= Int(verdict)
        }
        return count
    }
}
