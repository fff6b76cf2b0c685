// One commit as bytes, as the write-ahead log stores it. Records are the only way into the
// memtable, so recovery and normal operation run the same code.
//
// Layout (docs/format/wal.md, "commit record"):
//
//     version (1)
//     schema changes       count, changes
//     rejects              count, entries of the rejects journal
//     strings              count, blobs: the distinct string values of the commit, except times
//     tables               count, then for each experiment:
//         experiment       number
//         tag sets         count, each: series key (blob), attribute count, (column, value blob)...
//         columns          count, each: column number, type
//         layouts          count, each: count, positions in the list of columns
//         rows             count, size of the rows in bytes, each:
//             tag set      varint
//             layout       varint: 2 * layout number, + 1 if the next field is in milliseconds
//             time         signed varint, difference to the row before
//             values       one for each column of the layout, as its type says (float 8 bytes,
//                          integer signed varint, boolean 1 byte, string: CommitTimes)
//
// All numbers are varints.

/// Receives the parts of a commit record, in order.
protocol CommitReceiver {
    mutating func receive(_ change: SchemaChange) throws(FormatError)
    mutating func receive(_ entry: JournalEntry)
    /// Receives the next string and returns the word that stands for it in rows.
    mutating func receiveString(_ bytes: Span<UInt8>) -> UInt64
    mutating func beginTable(experiment: Int) throws(FormatError)
    /// The next tag set of the table.
    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]) throws(FormatError)
    /// The next column of the table.
    mutating func receiveColumn(_ column: ColumnID, type: FieldType) throws(FormatError)
    /// The next layout of the table: positions in the list of received columns.
    mutating func receiveLayout(_ columns: Span<UInt32>)
    /// A row. Its values are in the order of its layout.
    mutating func receiveRow(tagSet: Int, time: Int64, layout: Int, bits: Span<UInt64>)
    /// Whether rows are read rather than skipped.
    var readsRows: Bool { get }
}

extension CommitReceiver {
    var readsRows: Bool { true }
}

/// The encoding of strings in rows. A text is twice its number in the commit. A time is its word,
/// as the difference to the nearest of three bases or in full. Fields of one transmission have
/// equal times, which take a byte each.
struct CommitTimes {
    /// The base of a difference.
    private enum Base: UInt64 {
        /// The previous time in the table.
        case last = 0
        /// The previous time in the column.
        case lastOfColumn = 1
        /// The time of the row, spelled like the previous time in the column.
        case row = 2
    }

    /// The code of a time whose word follows in eight bytes.
    static let wordFollows: UInt64 = 7

    private var last = ISOTime.packedTimeTag
    private var byColumn: [UInt64] = []

    /// Adds the next column of the table.
    mutating func addColumn() { byColumn.append(ISOTime.packedTimeTag) }

    /// The code of a value of a string column.
    ///
    /// - Parameter time: the time of the row, in nanoseconds since 1970.
    @inline(__always)
    mutating func code(_ word: UInt64, column: Int, time: Int64) -> UInt64 {
        guard ISOTime.isWord(word) else { return word << 1 }
        let before = byColumn[column]
        if word == last, word == before { return 1 }
        var best = CommitTimes.distance(word, last) << 2
        best = min(best, CommitTimes.distance(word, before) << 2 | Base.lastOfColumn.rawValue)
        let own = CommitTimes.distance(word, ISOTime.word(before, movedTo: time))
        best = min(best, own << 2 | Base.row.rawValue)
        last = word
        byColumn[column] = word
        return best < 1 << 63 ? best << 1 | 1 : CommitTimes.wordFollows
    }

    /// Decodes an odd code other than `wordFollows`.
    @inline(__always)
    mutating func word(_ code: UInt64, column: Int, time: Int64) -> UInt64 {
        let zigzag = code >> 3
        let difference = (zigzag >> 1) ^ (0 &- (zigzag & 1))
        let base: UInt64
        switch Base(rawValue: code >> 1 & 3) {
        case .lastOfColumn: base = byColumn[column]
        case .row: base = ISOTime.word(byColumn[column], movedTo: time)
        case .last, nil: base = last
        }
        let word = (base &+ difference) | ISOTime.packedTimeTag
        note(word, column: column)
        return word
    }

    /// Remembers a word that was stored in full.
    mutating func note(_ word: UInt64, column: Int) {
        last = word
        byColumn[column] = word
    }

    /// The zigzag difference of two words, at most 2^61. Differences of 2^61 cannot be encoded.
    @inline(__always)
    private static func distance(_ word: UInt64, _ base: UInt64) -> UInt64 {
        let difference = Int64(bitPattern: word &- base)
        let zigzag = UInt64(bitPattern: (difference << 1) ^ (difference >> 63))
        return min(zigzag, 1 << 61)
    }
}

enum CommitRecord {
    static let version: UInt8 = 1

    /// Reads a complete record, from the log or from the encoder.
    static func read(
        _ bytes: [UInt8], into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        var reader = ByteReader(bytes.span)
        let version = try reader.readUInt8()
        guard version == self.version else {
            throw FormatError(
                .unsupported, "commit record version \(version), expected \(self.version)", at: 0)
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            try receiver.receive(reader.readSchemaChange())
        }
        let journalCount = try reader.readCount(
            limit: min(reader.remaining, LogFormat.journalCountMax))
        for _ in 0..<journalCount { receiver.receive(try reader.readJournalEntry()) }
        let stringCount = try reader.readCount(limit: reader.remaining)
        var strings: [UInt64] = []
        var hasEmpty = false
        for _ in 0..<stringCount {
            let string = try reader.readTextBytes(limit: reader.remaining)
            // The strings are distinct, so only one may be empty. This bounds their number.
            if string.isEmpty, hasEmpty {
                throw FormatError(.invalid, "found a second empty string", at: reader.offset)
            }
            hasEmpty = hasEmpty || string.isEmpty
            strings.append(receiver.receiveString(string))
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            var table = CommitTable()
            try table.readHead(&reader, into: &receiver)
            try table.readLayouts(&reader, into: &receiver)
            try table.readRows(&reader, strings: strings.span, into: &receiver)
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the end of a commit", at: reader.offset)
        }
    }
}

/// The decoder of one table of a record.
private struct CommitTable {
    private var tagSetCount = 0
    private var types: [FieldType] = []
    /// The columns of all layouts, one after the other, and where each layout ends.
    private var columns: [UInt32] = []
    private var ends: [Int] = []

    mutating func readHead(
        _ reader: inout ByteReader, into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        try receiver.beginTable(experiment: reader.readCount(limit: Int(UInt32.max)))
        tagSetCount = try reader.readCount(limit: reader.remaining)
        for _ in 0..<tagSetCount {
            let key = try [UInt8](copying: reader.readTextBytes(limit: reader.remaining))
            var attributes: [(column: ColumnID, value: [UInt8])] = []
            for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
                let column = try reader.readCount(limit: Int(UInt32.max))
                let value = try [UInt8](copying: reader.readTextBytes(limit: reader.remaining))
                attributes.append((column, value))
            }
            try receiver.receiveTagSet(key: key.span, attributes: attributes)
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            let column = try reader.readCount(limit: Int(UInt32.max))
            guard let type = FieldType(rawValue: try reader.readUInt8()) else {
                throw FormatError(.unsupported, "unknown type", at: reader.offset)
            }
            types.append(type)
            try receiver.receiveColumn(column, type: type)
        }
    }

    mutating func readLayouts(
        _ reader: inout ByteReader, into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            let start = columns.count
            let count = try reader.readCount(limit: reader.remaining)
            guard count > 0 else {
                throw FormatError(.invalid, "a row without values", at: reader.offset)
            }
            for _ in 0..<count {
                columns.append(
                    UInt32(truncatingIfNeeded: try reader.readCount(limit: types.count - 1)))
            }
            ends.append(columns.count)
            receiver.receiveLayout(columns.span.extracting(start..<columns.count))
        }
    }

    /// Reads the rows. The state is in locals so that the loop runs without exclusivity checks.
    func readRows(
        _ reader: inout ByteReader, strings: Span<UInt64>, into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        let rowCount = try reader.readCount(limit: reader.remaining)
        let sizeBytes = try reader.readCount(limit: reader.remaining)
        if !receiver.readsRows {
            _ = try reader.readBytes(sizeBytes)
            return
        }
        var time: Int64 = 0
        var times = CommitTimes()
        for _ in types { times.addColumn() }
        var bits: [UInt64] = []
        for _ in 0..<rowCount {
            let tagSet = try reader.readCount(limit: tagSetCount - 1)
            let code = try reader.readCount(limit: 2 * ends.count - 1)
            let layout = code >> 1
            time &+= try reader.readSigned() &* (code & 1 == 1 ? 1_000_000 : 1)
            bits.removeAll(keepingCapacity: true)
            for index in (layout == 0 ? 0 : ends[layout - 1])..<ends[layout] {
                let column = Int(columns[index])
                switch types[column] {
                case .float: bits.append(try reader.readUInt64())
                case .integer: bits.append(UInt64(bitPattern: try reader.readSigned()))
                case .boolean: bits.append(UInt64(try reader.readUInt8() & 1))
                case .string:
                    let code = try reader.readVarint()
                    if code == CommitTimes.wordFollows {
                        let word = try reader.readUInt64() | ISOTime.packedTimeTag
                        times.note(word, column: column)
                        bits.append(word)
                    } else if code & 1 == 1 {
                        bits.append(times.word(code, column: column, time: time))
                    } else {
                        bits.append(
                            try CommitTable.string(code >> 1, strings, at: reader.offset))
                    }
                }
            }
            receiver.receiveRow(tagSet: tagSet, time: time, layout: layout, bits: bits.span)
        }
    }

    private static func string(
        _ number: UInt64, _ strings: Span<UInt64>, at offset: Int
    ) throws(FormatError) -> UInt64 {
        guard number < UInt64(strings.count) else {
            throw FormatError(
                .invalid, "found string \(number), expected one of \(strings.count)", at: offset)
        }
        return strings[Int(number)]
    }
}
