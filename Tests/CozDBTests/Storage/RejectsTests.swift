// The rejects journal: entries of every kind read back, damage does not.

import CozTestSupport
import Testing

@testable import CozDB

struct RejectsTests {
    static let refusals: [Refusal] =
        [
            Refusal(subject: .line([]), reason: "", source: "", line: 0),
            Refusal(
                subject: .line([0xFF, 0, 0x0A]), reason: "not UTF-8", source: "a\nb", line: 7,
                column: 3),
        ]
        + [FieldValue.float(.nan), .integer(.min), .boolean(true), .string("é\u{0}")].map { value in
            Refusal(
                subject: .value(
                    experiment: "dev", key: SeriesKey(tags: [("a", "\u{0}")]), time: .min,
                    field: "x", value: value, locked: .boolean), reason: "r", source: "s", line: 1)
        }

    func write(_ system: FaultyFileSystem) throws -> Manifest.RejectsFile {
        let directory = try system.openDirectory("db", create: true, access: .ownerOnly)
        let folder = try directory.openDirectory("rejects", create: true)
        let entries =
            Self.refusals.map { JournalEntry.refusal($0) } + [
                .mark(id: 5, state: .done), .mark(id: .max, state: .superseded),
                .repeated(id: 6, count: 1 << 32, line: .max, column: 2), .dropped(count: 300),
            ]
        return try RejectsFile.write(entries, number: 3, in: folder, databaseID: 8)
    }

    @Test func `entries read back`() throws {
        let system = FaultyFileSystem()
        let info = try write(system)
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let entries = try RejectsFile.read(info, under: directory, databaseID: 8)
        var refusals: [Refusal] = []
        var marks: [UInt64] = []
        var counts: [Int] = []
        for entry in entries {
            switch entry {
            case .refusal(let refusal): refusals.append(refusal)
            case .mark(let id, _): marks.append(id)
            case .repeated(let id, let count, let line, let column):
                counts += [Int(id), count, line, column]
            case .dropped(let count): counts.append(count)
            }
        }
        #expect(counts == [6, 1 << 32, .max, 2, 300])
        #expect(refusals == Self.refusals)
        #expect(marks == [5, .max])
        #expect(Set(refusals.map(\.journalID)).count == refusals.count)
    }

    @Test func `every flipped byte, cut and other place is refused`() throws {
        let system = FaultyFileSystem()
        var info = try write(system)
        let directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        let path = "db/rejects/00000003.rej"
        let whole = system[path]
        func isRefused(_ databaseID: UInt64 = 8) -> Bool {
            do throws(DatabaseError) {
                _ = try RejectsFile.read(info, under: directory, databaseID: databaseID)
                return false
            } catch {
                return error.kind == .damaged && error.file == path
            }
        }
        for offset in whole.indices {
            system[path][offset] ^= 0x20
            #expect(isRefused(), "offset \(offset)")
            system[path] = Array(whole[..<offset])
            #expect(isRefused(), "cut at \(offset)")
            system[path] = whole
        }
        #expect(isRefused(9))
        info.checksum ^= 1
        #expect(isRefused())
    }

    @Test func `counts have the bytes of the page`() throws {
        var writer = ByteWriter()
        let id: UInt64 = 0x0807_0605_0403_0201
        writer.append(JournalEntry.repeated(id: id, count: 300, line: 9, column: 0))
        writer.append(JournalEntry.dropped(count: 1))
        #expect(writer.bytes == [4, 1, 2, 3, 4, 5, 6, 7, 8, 0xAC, 0x02, 9, 0, 5, 1])
        // A count that sums could overflow with.
        var large = ByteWriter()
        large.append(JournalEntry.dropped(count: 1 << 32 + 1))
        var reader = ByteReader(large.bytes.span)
        #expect(throws: FormatError.self) { try reader.readJournalEntry() }
    }

    @Test func `a mark of an unknown state is refused`() {
        var writer = ByteWriter()
        writer.append(JournalEntry.mark(id: 5, state: .superseded))
        writer.bytes[writer.count - 1] = 3
        #expect(throws: FormatError.self) {
            var reader = ByteReader(writer.bytes.span)
            _ = try reader.readJournalEntry()
        }
    }

    @Test(arguments: 0..<10) func `entries of any bytes do not trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var writer = ByteWriter()
        for refusal in Self.refusals { writer.append(JournalEntry.refusal(refusal)) }
        for _ in 0..<500 {
            var bytes = writer.bytes
            for _ in 0..<3 {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            var reader = ByteReader(bytes.span)
            while !reader.isAtEnd, (try? reader.readJournalEntry()) != nil {}
        }
    }
}
