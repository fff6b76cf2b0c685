// The records in hex on the pages of docs/format are what the code writes, and the bytes of the
// golden database and the golden blocks.

import Foundation
import Testing

@testable import CozDB

struct FormatPageTests {
    /// Bytes that a page shows, and where they begin.
    struct Excerpt: Equatable {
        var offset: Int
        var bytes: [UInt8]

        /// Whether a file has these bytes there.
        func isPart(of file: [UInt8]) -> Bool {
            let end = offset + bytes.count
            return end <= file.count && Array(file[offset..<end]) == bytes
        }
    }

    /// The hex dumps of a page: lines of four spaces, an offset of seven decimal digits, up to
    /// sixteen bytes, and their text behind `>`. Lines that continue each other are one dump.
    static func dumps(onPage page: String) throws -> [Excerpt] {
        let file = try #require(Project.file("docs/format/" + page))
        var dumps: [Excerpt] = []
        for line in file.lines where line.hasPrefix("    ") {
            let words = line.prefix { $0 != ">" }.split(separator: " ")
            guard let first = words.first, first.count == 7, let offset = Int(first) else {
                continue
            }
            let bytes = try parse(words.dropFirst().map { String($0) })
            if let last = dumps.last, last.offset + last.bytes.count == offset {
                dumps[dumps.count - 1].bytes += bytes
            } else {
                dumps.append(Excerpt(offset: offset, bytes: bytes))
            }
        }
        return dumps
    }

    /// The rows of tables that explain bytes: a decimal offset, then bytes in backquotes.
    static func rows(onPage page: String) throws -> [Excerpt] {
        let file = try #require(Project.file("docs/format/" + page))
        var rows: [Excerpt] = []
        for line in file.lines where line.hasPrefix("| ") {
            let cells = line.split(separator: "|")
            guard cells.count == 3, cells[1].hasPrefix(" `"),
                let first = cells[0].split(separator: " ").first, let offset = Int(first)
            else { continue }
            let words = cells[1].split { $0 == " " || $0 == "`" }.map { String($0) }
            // Other tables have a magic there.
            guard words.allSatisfy({ $0.count == 2 }) else { continue }
            rows.append(Excerpt(offset: offset, bytes: try parse(words)))
        }
        return rows
    }

    private static func parse(_ words: [String]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            let byte = UInt8(word, radix: 16)
            bytes.append(try #require(byte))
        }
        return bytes
    }

    /// A file of the golden database.
    static func golden(_ name: String) throws -> [UInt8] {
        let url = GoldenDatabaseTests.folder("v1").appendingPathComponent(name)
        let data = try Data(contentsOf: url)
        return Array(data)
    }

    @Test func `the record of LOCK is the one that is written`() throws {
        let state = AcknowledgedState(
            serial: 2, databaseID: 0x1122_3344_5566_7788, generation: 1,
            manifestChecksum: 0xBAAD_F00D, holder: "process 1234, since 2026-11-21T10:00:00Z")
        let shown = try Self.dumps(onPage: "lock.md")
        #expect(shown == [Excerpt(offset: 0, bytes: Array(state.record(at: 0).prefix(96)))])
    }

    /// A page with bytes of a golden file.
    struct Page: CustomTestStringConvertible {
        var name: String
        var file: String
        /// How many bytes its dumps have, and how many rows explain them.
        var byteCount: Int
        var rowCount: Int

        var testDescription: String { name }
    }

    static let pages = [
        Page(name: "README.md", file: "00000002.seg", byteCount: 5, rowCount: 0),
        Page(name: "manifest.md", file: "MANIFEST", byteCount: 206, rowCount: 24),
        Page(name: "wal.md", file: "00000005.wal", byteCount: 248, rowCount: 37),
        Page(name: "segment.md", file: "00000002.seg", byteCount: 259, rowCount: 35),
        Page(name: "rejects.md", file: "rejects/00000004.rej", byteCount: 121, rowCount: 15),
    ]

    @Test(arguments: pages)
    func `dumps and explained fields are bytes of the golden database`(page: Page) throws {
        let file = try Self.golden(page.file)
        var byteCount = 0
        for dump in try Self.dumps(onPage: page.name) {
            #expect(dump.isPart(of: file), "offset \(dump.offset)")
            byteCount += dump.bytes.count
        }
        #expect(byteCount == page.byteCount)
        // The rows of the manifest's page explain what its file has compressed.
        var explained = file
        if page.file == "MANIFEST" {
            explained = try decompressedBytes(file.span.extracting(24...), limit: 1000)
        }
        let rows = try Self.rows(onPage: page.name)
        for row in rows { #expect(row.isPart(of: explained), "offset \(row.offset)") }
        #expect(rows.count == page.rowCount)
    }

    @Test func `the explained block is a golden one`() throws {
        let found = GoldenEncodingTests.blocks.first { $0.name == "runs with values apart" }
        let block = try #require(found)
        let dumps = try Self.dumps(onPage: "encodings.md")
        #expect(dumps.count == 1)
        let dump = try #require(dumps.first)
        let digits = dump.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(digits.joined() == block.bytes)
        let rows = try Self.rows(onPage: "encodings.md")
        for row in rows { #expect(row.isPart(of: dump.bytes), "offset \(row.offset)") }
        #expect(rows.count == 11)
    }

    @Test func `the checksum of the example continues from its seed`() throws {
        let dumps = try Self.dumps(onPage: "README.md")
        let dump = try #require(dumps.first)
        let seed = positionSeed(
            file: 0x0887_12BE_8A58_2FCB ^ 2, offset: UInt64(dump.offset))
        #expect(seed == 0xAFB9_8CC5)
        #expect(checksum(dump.bytes.span, seed: seed) == 0xA816_31F5)
    }
}
