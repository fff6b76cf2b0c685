// The records in hex on the pages of docs/format are what the code writes.

import Foundation
import Testing

@testable import CozDB

struct FormatPageTests {
    /// The bytes of the hex dumps on a page: lines of a decimal offset and up to sixteen bytes.
    static func bytes(onPage page: String) throws -> [UInt8] {
        let file = try #require(Project.file("docs/format/" + page))
        var bytes: [UInt8] = []
        for line in file.lines {
            let words = line.split(separator: " ")
            guard line.hasPrefix("    "), let first = words.first, first.count == 7,
                let offset = Int(first), offset == bytes.count
            else { continue }
            bytes += words.dropFirst().prefix { $0.count == 2 }.compactMap { UInt8($0, radix: 16) }
        }
        return bytes
    }

    @Test func `the record of LOCK is the one that is written`() throws {
        let state = AcknowledgedState(
            serial: 2, databaseID: 0x1122_3344_5566_7788, generation: 1,
            manifestChecksum: 0xBAAD_F00D, holder: "process 1234, since 2026-11-21T10:00:00Z")
        let shown = try Self.bytes(onPage: "lock.md")
        #expect(shown.count == 96)
        #expect(Array(state.record(at: 0).prefix(96)) == shown)
    }
}
