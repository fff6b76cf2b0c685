// Segments whose checksums are right, and that no writer makes: a reader that meets the forged
// block says what is wrong with it, and a repair leaves the rest.

internal import Testing

@testable internal import CozDB

/// One way to forge the segment of the sample.
struct Forgery: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// What is said of it.
    var words: String
    /// Meets the forged block.
    var statement: String
    var change: @Sendable (inout ForgedSegment) throws -> Void

    init(
        _ description: String, _ words: String, statement: String = "SELECT * FROM dev",
        _ change: @escaping @Sendable (inout ForgedSegment) throws -> Void
    ) {
        testDescription = description
        self.words = words
        self.statement = statement
        self.change = change
    }
}

struct ForgedSegmentTests {
    // MARK: What is forged

    private static let footers: [Forgery] = [
        Forgery("a footer of another experiment", "the footer belongs to another segment") {
            $0.footer.experiment += 1
        },
        Forgery("rows of no series", "rows, but no series") { $0.footer.seriesCount = 0 },
        Forgery("a presence vector in the header", "a block outside the file") {
            $0.footer.groups[0] = BlockHandle(offset: 8, sizeBytes: 24)
        },
        Forgery("a directory that reaches into the footer", "a block outside the file") {
            $0.footer.timeDirectory.sizeBytes = $0.footer.timeDirectory.offset
            $0.footer.timeDirectory.offset = $0.sizeBytes - 1
        },
        Forgery("a field of a group that is not there", "expected at most") {
            $0.footer.fields[0].group = $0.footer.groups.count
        },
        Forgery(
            "a column of a number beyond all", "an entry of the field table that is not a field"
        ) {
            $0.footer.fields[0].column.id = SegmentFormat.columnCountMax
        },
        Forgery("a column that the manifest does not have", "the manifest has no such column") {
            $0.footer.fields[$0.footer.fields.count - 1].column.id = 900
        },
        Forgery("a column of another type", "is a string in this segment, expected a float") {
            $0.footer.fields[$0.field("v")].column.type = .string
        },
        Forgery("bytes behind the footer", "bytes after the footer") { $0.footerTail = [0] },
    ]

    private static let handles: [Forgery] = [
        Forgery("a field's block behind the end", "a block outside the file") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.offset][0] = 1 << 20 }
        },
        Forgery("a field's block before the beginning", "a block outside the file") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.offset][0] = .max }
        },
        Forgery("a field's block of less than no bytes", "larger than its file") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.sizeBytes][0] = .max }
        },
        Forgery("a field's block of more bytes than the file", "larger than its file") {
            try $0.changeDirectory(of: "v") {
                $0.columns[BlockTable.Column.sizeBytes][0] = UInt64(Int.max)
            }
        },
        Forgery("times of more bytes than the file", "larger than its file") {
            try $0.changeTimes { $0.columns[BlockTable.Column.sizeBytes][0] = UInt64(Int.max) }
        },
        Forgery("times behind the end", "a block outside the file") {
            try $0.changeTimes { $0.columns[BlockTable.Column.offset][0] = 1 << 20 }
        },
    ]

    private static let directories: [Forgery] = [
        Forgery("a block of no values", "a block whose rows or number of values") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.count][0] = 0 }
        },
        Forgery("a block of more values than rows", "a block whose rows or number of values") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.lastRow][0] -= 1 }
        },
        Forgery("a block of rows behind the last", "a block whose rows or number of values") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.lastRow][0] += 1 }
        },
        Forgery("a block of rows before the first", "a block whose rows or number of values") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.firstRow][0] = .max }
        },
        Forgery("a block that is there twice", "a block whose rows or number of values") {
            try $0.changeDirectory(of: "v") { $0.append($0.entry(0)) }
        },
        Forgery("blocks with fewer values than the footer says", "values in blocks, expected") {
            try $0.changeDirectory(of: "v") { $0.columns[BlockTable.Column.count][0] -= 1 }
        },
        Forgery("times of fewer rows than there are", "values in blocks, expected") {
            try $0.changeTimes { $0.columns[BlockTable.Column.count][0] -= 1 }
        },
        Forgery("bytes behind the directory of times", "bytes after the directory") {
            $0.footer.timeDirectory = $0.append($0.block($0.footer.timeDirectory) + [0])
        },
        Forgery("more blocks in small directories than there are", "entries, expected") {
            $0.footer.fields[$0.field("v")].smallBlockCount += 1
        },
        Forgery("bytes behind the small directories", "bytes after the directories") {
            $0.footer.smallDirectories = $0.append($0.block($0.footer.smallDirectories) + [0])
        },
    ]

    private static let series: [Forgery] = [
        Forgery("series in another order", "series out of order") {
            try $0.changeSeries { _, keys in keys.swapAt(0, 1) }
        },
        Forgery("a series twice", "series out of order") {
            try $0.changeSeries { _, keys in keys[1] = keys[0] }
        },
        Forgery("a series of more rows than there are", "a series with more rows than the segment")
        {
            try $0.changeSeries { table, _ in table.columns[0][0] = 1 << 40 }
        },
        Forgery("a series of less than no rows", "a series with more rows than the segment") {
            try $0.changeSeries { table, _ in table.columns[0][0] = .max }
        },
        Forgery("series of fewer rows than there are", "series end at row") {
            try $0.changeSeries { table, _ in table.columns[0][0] -= 1 }
        },
        Forgery("more series than keys", "series, expected") {
            try $0.changeSeries { table, _ in table.append(table.entry(0)) }
        },
        Forgery("series that begin behind the first row", "series out of order") {
            try $0.changeSeriesDirectory { table, _ in
                table.columns[SeriesColumn.firstRow][0] = 1
            }
        },
        Forgery("no blocks of series", "0 series in blocks, expected") {
            try $0.changeSeriesDirectory { table, keys in
                table = IntegerTable(columnCount: 5)
                keys = []
            }
        },
        Forgery("more series than blocks have", "series in blocks, expected") {
            $0.footer.seriesCount += 1
        },
        Forgery("series up to a row behind the last", "series end at row") {
            try $0.changeSeriesDirectory { table, keys in
                table.append(table.entry(0))
                table.columns[SeriesColumn.count][1] = 0
                table.columns[SeriesColumn.firstRow][1] = 1 << 40
                keys.append("zzz")
            }
        },
        Forgery("blocks of series in another order", "series out of order") {
            try $0.changeSeriesDirectory { table, keys in
                table.append(table.entry(0))
                keys.append("")
            }
        },
    ]

    private static let presence: [Forgery] = [
        Forgery("a chunk of rows twice", "presence chunks out of order") {
            let form = Presence.Form.all.rawValue
            $0.setPresence(of: "v", [(0, $0.footer.rowCount, [form]), (0, 0, [form])])
        },
        Forgery("a chunk behind the last row", "expected at most 0") {
            $0.setPresence(of: "v", [(1, 1, [Presence.Form.all.rawValue])])
        },
        Forgery("another number of rows than is said", "rows, expected 7") {
            $0.setPresence(of: "v", [(0, 7, [Presence.Form.all.rawValue])])
        },
        Forgery("a part of a vector that is not there", "a presence vector stored as a subset of") {
            $0.setPresence(of: "v", [(0, 1, [PresenceVector.partForm, 100])])
        },
        Forgery("a part of itself", "a presence vector stored as a subset of") {
            let own = UInt8($0.footer.groups.count)
            $0.setPresence(of: "v", [(0, 1, [PresenceVector.partForm, own])])
        },
        Forgery("a part of a part", "a presence vector stored as a subset of") {
            let part = UInt8($0.footer.groups.count)
            let all = Presence.Form.all.rawValue
            let count = $0.footer.rowCount
            $0.setPresence(of: "i", [(0, count, [PresenceVector.partForm, part + 1, all])])
            $0.setPresence(of: "v", [(0, count, [PresenceVector.partForm, part, all])])
        },
        Forgery("a part of rows that are nowhere", "a subset of a vector without rows there") {
            $0.footer.groups.append($0.append([]))
            let none = UInt8($0.footer.groups.count - 1)
            $0.setPresence(of: "v", [(0, 1, [PresenceVector.partForm, none])])
        },
        Forgery("a part of more rows than the whole", "rows, expected") {
            let whole = UInt8($0.footer.fields[$0.field("v")].group)
            let all = Presence.Form.all.rawValue
            $0.setPresence(of: "v", [(0, 1, [PresenceVector.partForm, whole, all])])
        },
        Forgery("fewer rows than values", "rows in the presence vector for a block of") {
            $0.setRows(of: "v", Array(try $0.rows(of: "v").dropLast()))
        },
        Forgery("no rows at all", "0 rows in the presence vector for a block of") {
            $0.setRows(of: "v", [])
        },
        Forgery(
            "other rows than the directory's", "a block whose rows differ from its directory entry"
        ) {
            try $0.changeDirectory(of: "sparse 1") {
                $0.columns[BlockTable.Column.lastRow][0] += 1
            }
        },
    ]

    private static let blocks: [Forgery] = [
        Forgery("codes beyond the dictionary", "a string code beyond the dictionary") {
            try $0.setCodes(of: "s", 1 << 20)
        },
        Forgery(
            "codes beyond the dictionary under a condition", "a string code beyond the dictionary",
            // Before the times of the log: no other source has rows between those.
            statement: "SELECT v FROM dev WHERE s = 'x1' AND time < '2023-11-03T09:00:00Z'"
        ) {
            try $0.setCodes(of: "s", 1 << 20)
            // Only where a block has values of one series are they looked at in its bytes.
            $0.footer.seriesCount = 1
            let rowCount = UInt64($0.footer.rowCount)
            try $0.changeSeries { table, keys in
                table.columns = table.columns.map { [$0[0]] }
                table.columns[0] = [rowCount]
                table.columns[2] = [UInt64(Int64.max)]
                keys = [keys[0]]
            }
        },
        Forgery("codes beyond the strings of the block", "a string code beyond the dictionary") {
            var block = ByteWriter()
            let words = [UInt64](repeating: 2, count: $0.footer.fields[$0.field("s")].valueCount)
            let codes = ForgedSegment.bytes(words)
            block.append(codes[0])
            block.appendBlob(Array(codes.dropFirst()))
            block.appendVarint(2)
            block.append(ForgedSegment.bytes(["one", "two"]))
            try $0.setBlock(of: "s", encoding: SegmentFormat.mixedStrings, block.bytes)
        },
        Forgery("values that end inside of one", "9 bytes for 48 words") {
            try $0.setBlock(
                of: "v", encoding: BlockEncoding.words.rawValue, Array(repeating: 1, count: 9))
        },
        Forgery("bytes behind a value", "20 bytes for a constant") {
            try $0.setBlock(
                of: "v", encoding: BlockEncoding.constant.rawValue,
                Array(repeating: 1, count: 20))
        },
        Forgery("more strings in a block than values", "expected at most 48") {
            var block = ByteWriter()
            let codes = ForgedSegment.bytes([UInt64](repeating: 0, count: 48))
            block.append(codes[0])
            block.appendBlob(Array(codes.dropFirst()))
            block.appendVarint(1000)
            try $0.setBlock(of: "s", encoding: SegmentFormat.mixedStrings, block.bytes)
        },
        Forgery("strings that end inside of one", "LZ4 data is corrupt") {
            let count = $0.footer.fields[$0.field("s")].valueCount
            let bytes = ForgedSegment.bytes([String](repeating: "text", count: count))
            try $0.setBlock(
                of: "s", encoding: SegmentFormat.plainStrings, Array(bytes.dropLast(2)))
        },
        Forgery("a field that repeats itself", "which is no earlier field") {
            try $0.setRepetition(of: "v", column: $0.footer.fields[$0.field("v")].column.id)
        },
        Forgery("a field that repeats one that is not there", "which is no earlier field") {
            try $0.setRepetition(of: "v", column: 999_999)
        },
        Forgery("a field that repeats a later one", "which is no earlier field") {
            let fields = $0.footer.fields
            try $0.setRepetition(of: fields[0].column.name, column: fields[1].column.id)
        },
        Forgery("a field that repeats one at rows that it lacks", "values that do not exist") {
            // Each has values of rows of its own.
            let sparse = $0.footer.fields.filter { $0.column.name.hasPrefix("sparse") }
            try $0.setRepetition(of: sparse[1].column.name, column: sparse[0].column.id)
        },
        Forgery("a field that repeats one of another type", "which is no earlier field") {
            let fields = $0.footer.fields
            let last = fields.count - 1
            let other = fields.first { $0.column.type != fields[last].column.type }
            try $0.setRepetition(of: fields[last].column.name, column: other?.column.id ?? 0)
        },
    ]

    // MARK: What is seen

    static let forgeries = footers + handles + directories + series + presence + blocks

    private func errors(_ files: MemoryFiles, _ statement: String) throws -> DatabaseError? {
        #expect(throws: DatabaseError.self) {
            let database = try Sample.open(files, .readOnly)
            _ = try database.query(statement, options: Sample.queryOptions)
        }
    }

    @Test(arguments: forgeries)
    func `what no writer makes is damage, and a repair takes it out`(forgery: Forgery) throws {
        var segment = try ForgedSegment()
        try forgery.change(&segment)
        let files = segment.files()
        let error = try errors(files, forgery.statement)
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains(forgery.words) == true, "\(String(describing: error))")
        #expect(error?.file == segment.path)

        var findings: [CheckFinding] = []
        _ = try Database.check("db", on: files, decodes: true) { findings.append($0) }
        #expect(findings.contains { $0.found.contains(forgery.words) }, "\(findings)")
        try Sample.mend(files)
        _ = try Sample.open(files, .readOnly).query(
            "SELECT * FROM dev", options: Sample.queryOptions)
    }

    // MARK: Apart

    @Test(arguments: [(1 << 18, "expected at most"), (1 << 24, "rows in a file of")])
    func `a small file does not become much memory`(rows: Int, words: String) throws {
        // So many times in constant pages of a few bytes.
        var segment = try ForgedSegment()
        var table = ByteWriter()
        table.appendVarint(rows)
        for _ in 0..<(BlockTable.timeColumnCount * rows / SegmentFormat.pageCount) {
            table.append(BlockEncoding.constant.rawValue)
            table.appendBlob([2])
        }
        segment.footer.timeDirectory = segment.append(table.bytes)
        segment.footer.rowCount = rows
        #expect(segment.sizeBytes < 32 << 10)
        let forged = segment
        let error = #expect(throws: DatabaseError.self) {
            _ = try forged.open().reader.timeBlocks()
        }
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }

    @Test func `many fields that are alike do not become much memory`() throws {
        var segment = try ForgedSegment()
        segment.compressesFooter = true
        var field = segment.footer.fields[segment.field("v")]
        field.smallBlockCount = SegmentFormat.smallBlockCountMax
        segment.footer.fields += [SegmentField](repeating: field, count: 20_000)
        let (file, _) = segment.written()
        #expect(file.count < 64 << 10)
        let forged = segment
        let error = #expect(throws: DatabaseError.self) {
            let (reader, _) = try forged.open()
            _ = try reader.directory(reader.footer.fields.count - 1)
        }
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains("fields out of order") == true)
    }

    @Test func `a file that was made shorter while it is read is damage`() throws {
        let (segment, file) = try ForgedSegment().open(access: .copied)
        _ = try segment.timeBlocks()
        try file.truncate(to: SegmentFormat.headerSizeBytes + 8)
        let error = #expect(throws: DatabaseError.self) { _ = try segment.times(block: 0) }
        #expect(error?.kind == .damaged)
        #expect(error?.message.contains("the file ends inside a block") == true)
    }
}
