// Bytes that must never change: docs/format/encodings.md by example. Never made anew; where the
// format changes, old bytes stay here and new ones come beside them.

import Testing

@testable import CozDB

struct GoldenBlock: CustomTestStringConvertible {
    var name: String
    var type: FieldType
    var words: [UInt64]
    var encoding: BlockEncoding
    var bytes: String

    init(
        _ name: String, _ type: FieldType, _ words: [UInt64], _ encoding: BlockEncoding,
        _ bytes: String
    ) {
        self.name = name
        self.type = type
        self.words = words
        self.encoding = encoding
        self.bytes = bytes
    }

    var testDescription: String { name }
}

struct GoldenEncodingTests {
    static let blocks: [GoldenBlock] = [
        GoldenBlock("nothing", .float, [], .constant, ""),
        GoldenBlock("a constant float", .float, bits([74, 74, 74]), .constant, "405280"),
        GoldenBlock("a constant integer", .integer, [.max - 1, .max - 1], .constant, "03"),
        GoldenBlock("a constant boolean", .boolean, [1, 1], .constant, "01"),
        GoldenBlock(
            "small integers", .integer, [100, 101, 107, 103, 100], .bitPacked, "03c801c807"),
        GoldenBlock(
            "integers with a common divisor", .integer,
            [3000, 1000, 9000, 4000, 2000, 1000, 5000, 1000], .bitPacked,
            "84e80700d00f02380104"),
        GoldenBlock(
            "integers with an exception", .integer,
            [
                1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 << 40, 1, 2, 3, 1, 2, 3, 0, 1, 2, 3, 1,
            ], .bitPacked, "8201012700799ee7e439790c0000000040"),
        GoldenBlock(
            "times", .integer,
            [
                1_700_000_000_000_000_000, 1_700_000_001_500_000_000,
                1_700_000_001_500_000_000, 1_700_000_060_250_000_000,
                1_700_000_061_000_000_000,
            ], .delta, "8080d0e2c6bfce972f8880e59a7700000600eb03"),
        GoldenBlock(
            "runs", .string, [5, 5, 5, 5, 5, 9, 9, 9, 9, 5, 5, 5, 5, 5, 5, 5], .runLength,
            "0302063102030a2000"),
        GoldenBlock(
            "decimals", .float, bits([36.6, 36.7, -0.5, 40]), .decimal, "0102090973e902a80c"),
        GoldenBlock(
            "decimals with exceptions", .float, bits([36.6, .nan, 36.7, -0.0, 40]), .decimal,
            "810219000000000000f87f00000000000000800206dc0500100422"),
        GoldenBlock(
            "runs with values apart", .integer,
            [7, 7, 7, 1000, 7, 7, 7, 9, 9, 9, 9, 2000, 9, 9, 9, 9], .patched,
            "030308080305d00f00d00f02020e0080aaaa"),
        GoldenBlock(
            "few values", .integer,
            [0, 99999, 5, 99999, 0, 0, 5, 99999, 5, 5, 0, 99999, 99999, 0, 5, 0], .distinct,
            "03030800110a00002a0d0302020098908512"),
        GoldenBlock(
            "readings and averages", .float, bits(mixedFloats), .mixed,
            "0305021800000402ad0136e2cdc4fbb2fee1bd80018447a2b36b3d07000000000000d0e0d7a4"
                + "5942e4101e89ceaef52e47b62334039e85539d528005a04478243abbd6031dd98ed00c78284e"
                + "754a0116c05482367d432edf74643b4233e0e938d5290558005c09daf40db9bcd55a648d3341"
                + "abe454a7146001942568d337e4f25f6b9135ce04ed94539d528005e096a04ddf90cba3ad45d6"
                + "3813b45c4e754a0116c05d82367d432e1fb71659e34cd09639d5290558008005021701000205"
                + "1007038eefebdc0381974e00ef61b5b535050203ce3e002a"),
        GoldenBlock(
            "words", .float, bits([1.5, -0.0]), .words, "000000000000f83f0000000000000080"),
    ]

    /// Of each three one with 17 digits, one with two decimals, one with seven.
    private static let mixedFloats: [Double] = (0..<70).map { index in
        switch index % 3 {
        case 0:
            [42.01090375839514, 26.76552723175286, 50.06345200821214][index / 3 % 3]
                + Double(index)
        case 1: Double(4000 + index * 7) / 100
        default: 50 + Double(index * 7919 % 10007) / 10_000_000
        }
    }

    /// Whole groups, too long to print: their checksums.
    static let groups: [(words: [UInt64], encoding: BlockEncoding, checksum: UInt32)] = [
        ((0..<1030).map { UInt64($0) &* 2_654_435_761 % 2048 }, .bitPacked, 0xD9B9_788B),
        (
            (0..<1024).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 >> 3 }, .bitPacked,
            0x0710_83B5
        ),
        ((0..<1024).map { UInt64($0 * $0) }, .delta, 0x5E2F_DD5B),
    ]

    @Test(arguments: blocks)
    func `blocks have the bytes they always had`(block: GoldenBlock) throws {
        let encoder = BlockEncoder()
        var writer = ByteWriter()
        let size = encoder.encode(
            block.words.span, type: block.type, as: block.encoding, into: &writer)
        #expect(size == writer.count)
        #expect(hexadecimal(writer.bytes) == block.bytes)
        var decoder = BlockDecoder()
        let golden = bytes(block.bytes)
        var words: [UInt64] = []
        try decoder.decode(
            golden.span, encoding: block.encoding.rawValue, count: block.words.count,
            type: block.type, appendTo: &words)
        #expect(words == block.words)
    }

    @Test
    func `whole groups have the bytes they always had`() throws {
        let encoder = BlockEncoder()
        for group in GoldenEncodingTests.groups {
            var writer = ByteWriter()
            _ = encoder.encode(
                group.words.span, type: .integer, as: group.encoding, into: &writer)
            #expect(checksum(writer.bytes.span) == group.checksum)
        }
    }

    @Test
    func `a group is sixteen lanes`() throws {
        // Number i stands in lane i % 16; the definition once more, a bit at a time.
        let width = 11
        let numbers = (0..<1024).map { UInt64($0) &* 2_654_435_761 % 2048 }
        var writer = ByteWriter()
        packBits(numbers.span, width: width, into: &writer)
        for (index, number) in numbers.enumerated() {
            var found: UInt64 = 0
            for bit in 0..<width {
                let laneBit = index / 16 * width + bit
                let byte = laneBit / 64 * 128 + index % 16 * 8 + laneBit % 64 / 8
                found |= UInt64(writer.bytes[byte] >> UInt8(laneBit % 8) & 1) << UInt64(bit)
            }
            #expect(found == number)
        }
    }

    @Test
    func `a compressed block is read as ever`() throws {
        // Only read: another version of liblz4 may compress otherwise.
        let block = bytes(
            "06e003f401182d4454fb2109406957148b0abf0540100084cd3b7f669ea0f63f08000418000c28000c10"
                + "000430000408000f3800ff6950669ea0f63f")
        let values = [Double.pi, 2.718281828459045, 1.4142135623730951, 1.7320508075688772]
        let words = (0..<60).map { values[$0 * $0 % 7 % 4].bitPattern }
        var decoder = BlockDecoder()
        var found: [UInt64] = []
        try decoder.decode(block.span, encoding: 7, count: 60, type: .float, appendTo: &found)
        #expect(found == words)
    }

    @Test
    func `strings have the bytes they always had`() throws {
        let heap = Array("warmkühlwarm".utf8)
        var writer = ByteWriter()
        encodeStrings(heap: heap.span, ends: [4, 4, 9, 13], into: &writer)
        #expect(hexadecimal(writer.bytes) == "020403004409007761726d6bc3bc686c7761726d")
    }

    @Test
    func `strings that are times have the bytes they always had`() throws {
        let texts = [
            "2023-03-01T07:42:24.471123456Z", "2023-03-01T07:42:25.471123456Z", "",
            "1969-12-31T23:59:59+08:00",
        ]
        var (heap, ends): ([UInt8], [Int]) = ([], [])
        for text in texts {
            heap += Array(text.utf8)
            ends.append(heap.count)
        }
        var writer = ByteWriter()
        encodeStrings(heap: heap.span, ends: ends, into: &writer)
        let golden =
            "02050500de830c0202090cf21f00000007785f061800864f14bd3b48170050ea4fbd3b48177f8fffffff"
            + "ffffff00"
        #expect(hexadecimal(writer.bytes) == golden)
        var (found, foundEnds): ([UInt8], [Int]) = ([], [])
        try decodeStrings(
            bytes(golden).span, count: 4, sizeBytesMax: 100, heap: &found, ends: &foundEnds)
        #expect(found == heap && foundEnds == ends)
    }

    @Test(arguments: [
        (Array(0..<1000), "00"),
        (Array(100..<200) + Array(300..<400) + Array(500..<600), "01036400c80100c601"),
        (Array(stride(from: 1, to: 1000, by: 3)), "02cd02010004"),
        ([], "0100"),
    ])
    func `presence has the bytes it always had`(rows: [Int], expected: String) throws {
        var writer = ByteWriter()
        let positions = rows.map { UInt16($0) }
        Presence.encode(positions.span, rowCount: 1000, into: &writer)
        #expect(hexadecimal(writer.bytes) == expected)
    }

    @Test
    func `a bitmap has the bytes it always had`() throws {
        var writer = ByteWriter()
        let rows: [UInt16] = [0, 1, 3, 8, 9, 12, 14, 15, 17, 19]
        Presence.encode(rows.span, rowCount: 20, into: &writer)
        #expect(hexadecimal(writer.bytes) == "030bd30a")
    }

    private static func bits(_ values: [Double]) -> [UInt64] {
        values.map { $0.bitPattern }
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

private func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16)! }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}
