// The directories of fields of few blocks, stored in one block; docs/format/segment.md,
// "Directories".
//
//     strings     blob     table of the first nine columns
//     numbers     blob     table of all columns, for integers and booleans
//     floats      blob     table of all columns; the last five are blocks of floats

/// The block entries of many fields, in the order of the fields. For one or two blocks, fourteen
/// separate columns would take more bytes for their encodings than for their contents.
struct SmallDirectories: Sendable {
    private var tables = Kind.allCases.map { IntegerTable(columnCount: $0.columnCount) }
    /// The first entry of each field in the table of its kind.
    private var starts: [Int] = []

    /// Field types with the same table layout.
    private enum Kind: Int, CaseIterable {
        case strings
        case numbers
        case floats

        init(_ type: FieldType) {
            switch type {
            case .string: self = .strings
            case .integer, .boolean: self = .numbers
            case .float: self = .floats
            }
        }

        /// The number of stored columns. The others are 0.
        var columnCount: Int {
            self == .strings ? BlockTable.timeColumnCount : BlockTable.fieldColumnCount
        }

        /// The first column of floats.
        var firstFloat: Int {
            self == .floats ? BlockTable.firstStatistic : BlockTable.fieldColumnCount
        }
    }

    init() {}

    /// Adds the directory of a field.
    mutating func append(_ table: BlockTable, type: FieldType) {
        let kind = Kind(type)
        for column in 0..<kind.columnCount {
            tables[kind.rawValue].columns[column] += table.integers.columns[column]
        }
    }

    func encode(with encoder: BlockEncoder, into writer: inout ByteWriter) {
        for kind in Kind.allCases {
            var block = ByteWriter()
            tables[kind.rawValue].encode(
                with: encoder, firstFloat: kind.firstFloat, into: &block)
            writer.appendBlob(block.bytes)
        }
    }

    /// - Parameters:
    ///   - fields: of the footer; `smallBlockCount` gives the number of entries of each field.
    ///   - countMax: the most entries. Checked before memory is allocated, because many equal
    ///     fields take few bytes of a footer.
    init(
        decoding bytes: Span<UInt8>, fields: [SegmentField], countMax: Int
    ) throws(FormatError) {
        var counts = Kind.allCases.map { _ in 0 }
        for field in fields {
            let kind = Kind(field.column.type).rawValue
            starts.append(counts[kind])
            counts[kind] += field.smallBlockCount
        }
        let total = counts.reduce(0, +)
        guard total <= countMax else {
            throw FormatError(.invalid, "\(total) blocks, expected at most \(countMax)", at: 0)
        }
        var reader = ByteReader(bytes)
        for kind in Kind.allCases {
            let count = counts[kind.rawValue]
            let table = try IntegerTable(
                decoding: reader.readBlob(limit: reader.remaining), columnCount: kind.columnCount,
                firstFloat: kind.firstFloat, countMax: count)
            guard table.count == count else {
                throw FormatError(
                    .invalid, "\(table.count) entries, expected \(count)", at: reader.offset)
            }
            tables[kind.rawValue] = table
        }
        guard reader.isAtEnd else {
            throw FormatError(.invalid, "bytes after the directories", at: reader.offset)
        }
    }

    /// Returns the directory of a field of few blocks.
    ///
    /// - Parameter fields: those passed to the initializer.
    func directory(of field: Int, in fields: [SegmentField]) -> BlockTable {
        let kind = Kind(fields[field].column.type)
        let range = starts[field]..<(starts[field] + fields[field].smallBlockCount)
        var table = IntegerTable(columnCount: BlockTable.fieldColumnCount)
        for column in table.columns.indices {
            table.columns[column] =
                column < kind.columnCount
                ? Array(tables[kind.rawValue].columns[column][range])
                : [UInt64](repeating: 0, count: range.count)
        }
        return BlockTable(table)
    }
}
