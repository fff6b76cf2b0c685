// Bit packing at every width, and LZ4.

import CozTestSupport
import Testing

@testable import CozDB

struct BitPackingTests {
    @Test(arguments: 0...64)
    func `numbers of every width come back from every layout`(width: Int) {
        var random = SeededRandom(seed: UInt64(width))
        let mask: UInt64 = width == 0 ? 0 : .max >> UInt64(64 - width)
        for count in Array(0...70) + [1023, 1024, 1025, 1100, 2048, 3071] {
            let numbers = (0..<count).map { _ in random.next() }
            var writer = ByteWriter()
            packBits(numbers.span, width: width, into: &writer)
            #expect(writer.count == packedSizeBytes(count: count, width: width))
            var found: [UInt64] = []
            unpackBits(
                writer.bytes.span, count: count, width: width, adding: 5, appendTo: &found)
            #expect(found == numbers.map { ($0 & mask) &+ 5 }, "\(count) of \(width) bits")
        }
    }

    @Test
    func `LZ4 gives back what it took`() throws {
        let source = [UInt8](repeating: 9, count: 5000) + Array(0...255)
        var writer = ByteWriter()
        writer.append(UInt8(1))
        #expect(LZ4.compress(source.span, sizeMax: 1000, into: &writer))
        var found: [UInt8] = [2]
        try LZ4.decompress(
            writer.bytes.span.extracting(1...), size: source.count, limit: 6000, appendTo: &found)
        #expect(found == [2] + source)
    }

    @Test
    func `what LZ4 cannot shrink leaves no bytes`() {
        var random = SeededRandom(seed: 3)
        let source = (0..<1000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        var writer = ByteWriter()
        #expect(!LZ4.compress(source.span, sizeMax: 875, into: &writer))
        #expect(writer.count == 0)
    }

    @Test
    func `LZ4 data of another size is refused`() {
        let source = [UInt8](repeating: 9, count: 5000)
        var writer = ByteWriter()
        #expect(LZ4.compress(source.span, sizeMax: 1000, into: &writer))
        for (size, limit) in [(4999, 9999), (5001, 9999), (5000, 4999), (-1, 9999), (0, 9999)] {
            var found: [UInt8] = [2]
            #expect(throws: FormatError.self) {
                try LZ4.decompress(
                    writer.bytes.span, size: size, limit: limit, appendTo: &found)
            }
            #expect(found == [2])
        }
    }
}
