// CRC32C against published values and against the table.

import CozTestSupport
import Testing

@testable import CozDB

struct ChecksumTests {
    @Test
    func `published checksums are met`() {
        #expect(checksum(Array("123456789".utf8).span) == 0xE306_9283)
        // RFC 3720, appendix B.4.
        #expect(checksum([UInt8](repeating: 0, count: 32).span) == 0x8A91_36AA)
        #expect(checksum([UInt8](repeating: 0xFF, count: 32).span) == 0x62A8_AB43)
        #expect(checksum(Array(0..<32).span) == 0x46DD_794E)
        #expect(checksum([UInt8]().span) == 0)
        #expect(tableChecksum(Array("123456789".utf8).span) == 0xE306_9283)
    }

    @Test
    func `instruction and table agree at every size`() {
        var random = SeededRandom(seed: 1)
        let bytes = (0..<10_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for size in Array(0..<800) + [1023, 3071, 3072, 3073, 3455, 3456, 6144, 6528, 10_000] {
            let part = bytes.span.extracting((bytes.count - size)...)
            #expect(checksum(part, seed: 77) == tableChecksum(part, seed: 77), "size \(size)")
        }
    }

    @Test
    func `a seed continues what came before`() {
        let bytes = Array("the quick brown fox".utf8)
        let first = checksum(bytes.span.extracting(..<7))
        #expect(checksum(bytes.span.extracting(7...), seed: first) == checksum(bytes.span))
    }

    @Test
    func `the same block at another place has another checksum`() {
        let bytes = Array("block".utf8)
        var seen: Set<UInt32> = []
        for file in UInt64(0)..<30 {
            for block in UInt64(0)..<30 {
                let seed = positionSeed(file: file, offset: block * 4096)
                seen.insert(checksum(bytes.span, seed: seed))
            }
        }
        #expect(seen.count == 900)
    }
}
