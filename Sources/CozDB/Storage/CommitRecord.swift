// One commit as bytes: what the write-ahead log holds, and the only way into the memtable, so that
// recovery and normal operation run the same code. Layout: docs/format/wal.md, "commit record".
//
//     version (1)
//     schema changes       count, changes
//     journal              count, entries of the rejects journal
//     strings              count, blobs: the string values of the commit, each once
//     tables               count, then for each experiment:
//         experiment       number
//         tag sets         count, each: series key (blob), attribute count, (column, value blob)...
//         columns          count, each: column number, type
//         rows             count, size of the rows in bytes, each:
//             tag set      varint
//             time         signed varint, difference to the row before
//             cells        each: 1 + index in the list of columns, value as its type says (float
//                          8 bytes, integer signed varint, boolean 1 byte, string number); then 0
//
// All numbers are varints.

/// Receives the parts of a commit record in order.
protocol CommitReceiver {
    mutating func receive(_ change: SchemaChange) throws(FormatError)
    mutating func receive(_ entry: JournalEntry)
    /// The next string; strings are numbered from 0 in the order they come.
    mutating func receiveString(_ bytes: Span<UInt8>)
    mutating func beginTable(experiment: Int) throws(FormatError)
    /// The next tag set of the table.
    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]) throws(FormatError)
    /// The next column of the table.
    mutating func receiveColumn(_ column: ColumnID, type: FieldType) throws(FormatError)
    /// A row; its cells follow, then `endRow`.
    mutating func beginRow(tagSet: Int, time: Int64)
    /// Column: an index into the columns received; strings: the number of the string.
    mutating func receiveCell(column: Int, bits: UInt64)
    mutating func endRow()
}

enum CommitRecord {
    static let version: UInt8 = 1

    /// Reads a record that came whole from the log or straight from the encoder.
    static func read(
        _ bytes: [UInt8], into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        var reader = ByteReader(bytes.span)
        guard try reader.readUInt8() == version else {
            throw FormatError(.unsupported, "commit record of a newer version", at: 0)
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            try receiver.receive(reader.readSchemaChange())
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            receiver.receive(try reader.readJournalEntry())
        }
        let stringCount = try reader.readCount(limit: reader.remaining)
        for _ in 0..<stringCount {
            receiver.receiveString(try reader.readBlob(limit: reader.remaining))
        }
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            try readTable(&reader, stringCount: stringCount, into: &receiver)
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the end of a commit", at: reader.offset)
        }
    }

    private static func readTable(
        _ reader: inout ByteReader, stringCount: Int, into receiver: inout some CommitReceiver
    ) throws(FormatError) {
        try receiver.beginTable(experiment: reader.readCount(limit: Int(UInt32.max)))
        let tagSetCount = try reader.readCount(limit: reader.remaining)
        for _ in 0..<tagSetCount {
            let key = try [UInt8](copying: reader.readBlob(limit: reader.remaining))
            var attributes: [(column: ColumnID, value: [UInt8])] = []
            for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
                let column = try reader.readCount(limit: Int(UInt32.max))
                let value = try [UInt8](copying: reader.readBlob(limit: reader.remaining))
                attributes.append((column, value))
            }
            try receiver.receiveTagSet(key: key.span, attributes: attributes)
        }
        var types: [FieldType] = []
        for _ in 0..<(try reader.readCount(limit: reader.remaining)) {
            let column = try reader.readCount(limit: Int(UInt32.max))
            guard let type = FieldType(rawValue: try reader.readUInt8()) else {
                throw FormatError(.unsupported, "unknown type", at: reader.offset)
            }
            types.append(type)
            try receiver.receiveColumn(column, type: type)
        }
        let rowCount = try reader.readCount(limit: reader.remaining)
        _ = try reader.readCount(limit: reader.remaining)
        var time: Int64 = 0
        for _ in 0..<rowCount {
            let tagSet = try reader.readCount(limit: tagSetCount - 1)
            time &+= try reader.readSigned()
            receiver.beginRow(tagSet: tagSet, time: time)
            while true {
                let number = try reader.readCount(limit: types.count)
                if number == 0 { break }
                let bits: UInt64
                switch types[number - 1] {
                case .float: bits = try reader.readUInt64()
                case .integer: bits = UInt64(bitPattern: try reader.readSigned())
                case .boolean: bits = UInt64(try reader.readUInt8() & 1)
                case .string: bits = UInt64(try reader.readCount(limit: stringCount - 1))
                }
                receiver.receiveCell(column: number - 1, bits: bits)
            }
            receiver.endRow()
        }
    }
}
