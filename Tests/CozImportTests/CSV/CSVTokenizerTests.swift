// Rows and cells of the CSV tokenizer: the rules, the faults, and that neither hostile strings nor
// the size of the pieces read change what comes out.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

/// A row as the tests compare it.
struct ReadRow: Equatable {
    var cells: [String] = []
    var quoted: [Bool] = []
    var line = 0
    var text = ""
    var fault: String?
}

/// All rows of a file, read in chunks of a size.
func readRows(
    _ path: String, dialect: CSVDialect = CSVDialect(), chunk: Int = 1 << 17,
    rowSizeBytesMax: Int = CSVTokenizer.rowSizeBytesMax
) throws -> [ReadRow] {
    let file = try InputFile(path: path)
    let tokenizer = CSVTokenizer(
        dialect: dialect, chunkSizeBytes: chunk, rowSizeBytesMax: rowSizeBytesMax)
    tokenizer.begin()
    var rows: [ReadRow] = []
    while let block = try tokenizer.nextBlock(of: file) {
        for row in block.rows {
            var read = ReadRow(line: row.line)
            read.text = String(decoding: block.bytes.copy(row.text), as: UTF8.self)
            for cell in block.cells[row.cells] {
                read.cells.append(String(decoding: block.bytes.copy(cell.range), as: UTF8.self))
                read.quoted.append(cell.isQuoted)
            }
            if let fault = block.fault(of: row) {
                read.fault = "\(row.line):\(fault.column) \(fault.reason)"
            }
            rows.append(read)
        }
    }
    return rows
}

@Suite struct CSVTokenizerTests {
    private let files = TemporaryFiles()

    private func rows(
        _ text: String, dialect: CSVDialect = CSVDialect(), chunk: Int = 1 << 17,
        rowSizeBytesMax: Int = CSVTokenizer.rowSizeBytesMax
    ) throws -> [ReadRow] {
        try readRows(
            files.write("table.csv", text), dialect: dialect, chunk: chunk,
            rowSizeBytesMax: rowSizeBytesMax)
    }

    @Test func `cells are what stands between delimiters`() throws {
        let read = try rows("a,b,c\n1,,3\r\n\n ,\tx, y \nlast,\"\",")
        #expect(
            read.map(\.cells) == [
                ["a", "b", "c"], ["1", "", "3"], [""], [" ", "\tx", " y "], ["last", "", ""],
            ])
        #expect(read.map(\.line) == [1, 2, 3, 4, 5])
        #expect(read[4].quoted == [false, true, false])
    }

    @Test func `quoted cells hold delimiters, quotes and newlines`() throws {
        let read = try rows("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\r\n\"\r\nnext,\"\"\"\"\n")
        #expect(read.map(\.cells) == [["a,b", "say \"hi\"", "two\nlines\r\n"], ["next", "\""]])
        #expect(read.map(\.line) == [1, 4])
        #expect(read[0].text == "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\r\n\"")
    }

    @Test func `quotes within a cell that does not begin with one are content`() throws {
        #expect(try rows("6\" pipe,a\"b\"\n")[0].cells == ["6\" pipe", "a\"b\""])
    }

    @Test func `without quoting a quote is a byte and every newline ends a row`() throws {
        let read = try rows("\"a,\"\n\"\",b\n", dialect: CSVDialect(hasQuotes: false))
        #expect(read.map(\.cells) == [["\"a", "\""], ["\"\"", "b"]])
        #expect(read.allSatisfy { !$0.quoted.contains(true) })
    }

    @Test func `other delimiters, a byte order mark, no last newline, nothing at all`() throws {
        let tabs = CSVDialect(delimiter: UInt8(ascii: "\t"))
        #expect(
            try rows("\u{FEFF}a\tb,c\r\n\"x\ty\"\tz", dialect: tabs).map(\.cells) == [
                ["a", "b,c"], ["x\ty", "z"],
            ])
        #expect(try rows("").isEmpty)
        #expect(try rows("\u{FEFF}").isEmpty)
        #expect(try rows("\n").map(\.cells) == [[""]])
        #expect(try rows("a\r").map(\.cells) == [["a"]])
    }

    @Test func `a quote that is never closed costs one line`() throws {
        let read = try rows("a,b\n1,\"x\n2,y\n3,z\n")
        #expect(read.map(\.cells) == [["a", "b"], [], ["2", "y"], ["3", "z"]])
        #expect(read.map(\.line) == [1, 2, 3, 4])
        #expect(read[1].text == "1,\"x")
        #expect(read[1].fault?.hasPrefix("2:3 the quoted cell that begins here is never") == true)
    }

    @Test func `text behind a closing quote costs one line, and is named`() throws {
        let read = try rows("1,\"x\n2,\"ö\",z\n3,\"ok\"\n")
        #expect(read.map(\.cells) == [[], ["2", "ö", "z"], ["3", "ok"]])
        #expect(
            read[0].fault
                == "1:3 the quoted cell that begins here has \"ö\" after its closing quote in line "
                + "2; expected the end of the cell (double a quote inside a cell)")
    }

    @Test func `rows above the limit are refused and reading goes on`() throws {
        let long = String(repeating: "x", count: 40)
        for chunk in [1, 7, 16, 1000] {
            let read = try rows(
                "a,b\n\(long),1\nc,d\n\"\(long)\n\(long)\",e\nf", chunk: chunk,
                rowSizeBytesMax: 32)
            #expect(read.map(\.cells) == [["a", "b"], [], ["c", "d"], [], [], ["f"]])
            #expect(read.map(\.line) == [1, 2, 3, 4, 5, 6])
            #expect(read[1].fault == "2:0 a row of more than 32 bytes")
        }
    }

    @Test(arguments: [UInt64](0..<40))
    func `hostile cells come back as they were written`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "\"", "\"\"", "\n", "\r\n", "\r", ",", ";", "\t", "a", "bc", "12.5", " ", "😀", "👩‍👩‍👧",
            "\u{202E}שלום", "\u{0}", "ö", "#", String(repeating: "long,\"", count: 30),
        ]
        var table: [[String]] = []
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            let cells = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                (0..<Int.random(in: 0...5, using: &random))
                    .map { _ in pieces.randomElement(using: &random)! }.joined()
            }
            table.append(cells)
        }
        if seed == 0 { table.append([String(repeating: "\"\n,x", count: 16 << 10)]) }
        var text = ""
        for row in table {
            let cells = row.map { cell in
                let needsQuotes = cell.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
                if !needsQuotes && Bool.random(using: &random) { return cell }
                return "\""
                    + cell.split(separator: "\"", omittingEmptySubsequences: false)
                    .joined(separator: "\"\"") + "\""
            }
            text += cells.joined(separator: ",") + (Bool.random(using: &random) ? "\n" : "\r\n")
        }
        let path = files.write("table.csv", text)
        let whole = try readRows(path)
        #expect(
            whole.map { $0.cells.map { Array($0.utf8) } } == table.map { $0.map { Array($0.utf8) } }
        )
        for chunk in [1, 2, 3, 5, 8, 13, 64, 1000] {
            #expect(try readRows(path, chunk: chunk) == whole, "chunk \(chunk), seed \(seed)")
        }
    }

    @Test(arguments: [UInt64](0..<60))
    func `any bytes give the rows of a naive reader, in pieces of any size`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 1000)
        let alphabet: [UInt8] = Array("\"\"\"\",,,\n\n\r ab\u{0}".utf8) + [0xC3, 0xB6, 0xFF]
        let bytes = (0..<Int.random(in: 0...400, using: &random)).map { _ in
            alphabet.randomElement(using: &random)!
        }
        let path = files.write("table.csv", bytes)
        let limit = Bool.random(using: &random) ? 20 : 1000
        let dialect = CSVDialect(hasQuotes: seed % 5 != 0)
        let expected = NaiveCSV(bytes, dialect: dialect, limit: limit).rows
        for chunk in [1, 2, 3, 4, 7, 16, 50, 1000] {
            let read = try readRows(path, dialect: dialect, chunk: chunk, rowSizeBytesMax: limit)
            let found = read.map { [$0.cells, [$0.text, "\($0.line)", "\($0.fault != nil)"]] }
            let difference = zip(found, expected).first { $0 != $1 }
            #expect(difference == nil, "chunk \(chunk), seed \(seed)")
            #expect(found.count == expected.count, "chunk \(chunk), seed \(seed)")
        }
    }
}

/// The same rules a byte at a time.
private struct NaiveCSV {
    /// Cells; then text, line and whether there is a fault.
    private(set) var rows: [[[String]]] = []

    init(_ bytes: [UInt8], dialect: CSVDialect, limit: Int) {
        var start = 0
        var line = 1
        while start < bytes.count {
            let found = NaiveCSV.row(bytes, start, dialect)
            if let (cells, end, next) = found, end - start <= limit {
                add(cells, bytes[start..<end], line, isFaulty: false)
                line += bytes[start..<next].count { $0 == 0x0A }
                start = next
                continue
            }
            let lineEnd = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
            var end = lineEnd
            if lineEnd - start > limit {
                end = start + limit + 1
            } else if end > start, bytes[end - 1] == 0x0D {
                end -= 1
            }
            add([], bytes[start..<end], line, isFaulty: true)
            line += 1
            start = lineEnd + 1
        }
    }

    private mutating func add(
        _ cells: [[UInt8]], _ text: ArraySlice<UInt8>, _ line: Int, isFaulty: Bool
    ) {
        rows.append([
            cells.map { String(decoding: $0, as: UTF8.self) },
            [String(decoding: text, as: UTF8.self), "\(line)", "\(isFaulty)"],
        ])
    }

    /// Cells, where the row ends, where the next begins; nil for a row that breaks the rules.
    private static func row(
        _ bytes: [UInt8], _ start: Int, _ dialect: CSVDialect
    ) -> ([[UInt8]], Int, Int)? {
        var cells: [[UInt8]] = []
        var index = start
        while true {
            var cell: [UInt8] = []
            if dialect.hasQuotes, index < bytes.count, bytes[index] == 0x22 {
                index += 1
                while true {
                    guard index < bytes.count else { return nil }
                    if bytes[index] == 0x22 {
                        guard index + 1 < bytes.count, bytes[index + 1] == 0x22 else { break }
                        index += 1
                    }
                    cell.append(bytes[index])
                    index += 1
                }
                index += 1
                let rest = bytes[index...]
                cells.append(cell)
                if rest.isEmpty { return (cells, index, index) }
                if rest.elementsEqual([0x0D]) { return (cells, index, index + 1) }
                if rest.starts(with: [0x0D, 0x0A]) { return (cells, index, index + 2) }
                if rest.first == 0x0A { return (cells, index, index + 1) }
                guard rest.first == dialect.delimiter else { return nil }
                index += 1
                continue
            }
            while index < bytes.count, bytes[index] != dialect.delimiter, bytes[index] != 0x0A {
                cell.append(bytes[index])
                index += 1
            }
            if index < bytes.count, bytes[index] == dialect.delimiter {
                cells.append(cell)
                index += 1
                continue
            }
            let next = min(index + 1, bytes.count)
            if cell.last == 0x0D {
                cell.removeLast()
                index -= 1
            }
            cells.append(cell)
            return (cells, index, next)
        }
    }
}
