// Decoders of blocks: each against another way to the same values.

@testable internal import CozDB

/// First byte: the type of the values (bits 0 and 1). Then a byte with the encoding, of which the
/// numbers from 13 on stand for other forms of bytes; two with the number of values.
enum BlockFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        guard bytes.count >= 3 else { return }
        let type = FieldType.allCases[Int(choice & 3)]
        let count = Int(bytes[1]) | Int(bytes[2]) << 8
        let block = Array(bytes.dropFirst(3))
        switch bytes[0] % 18 {
        case 10: try checkSame(block, count, type)
        case 11: try checkRowTimes(block, count)
        case 13: try checkStrings(block, count)
        case 14: try checkPresence(block, count)
        case 15: try checkCompressible(block)
        case 16: try checkTable(block, count)
        case let encoding: try checkWords(block, encoding, count, type)
        }
    }

    private static func decode(
        _ block: [UInt8], _ encoding: UInt8, _ count: Int, _ type: FieldType
    ) -> [UInt64]? {
        var decoder = BlockDecoder()
        var words: [UInt64] = [1, 2, 3]
        guard
            (try? decoder.decode(
                block.span, encoding: encoding, count: count, type: type, appendTo: &words)) != nil
        else { return nil }
        return Array(words.dropFirst(3))
    }

    /// Decoded, tested while encoded, encoded again.
    private static func checkWords(
        _ block: [UInt8], _ encoding: UInt8, _ count: Int, _ type: FieldType
    ) throws(FuzzFailure) {
        let words = decode(block, encoding, count, type)
        if let words { try checkEncoding(words, count, type) }
        for test in tests(of: words ?? [], type) {
            guard let bits = select(block, encoding, count, type, test) else {
                try require(words == nil, "a filter refuses what a decoder takes")
                continue
            }
            guard let words else { continue }
            let isSame = words.indices.allSatisfy { bits[$0] == passes(test, words[$0]) }
            try require(isSame && bits.count == count, "a filter finds other values: \(test)")
        }
    }

    private static func select(
        _ block: [UInt8], _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ test: NumberPredicate
    ) -> BitVector? {
        var filter = BlockFilter()
        var bits = BitVector()
        var test = test
        do throws(FormatError) {
            try filter.select(
                block.span, encoding: encoding, count: count, type: type, test: &test, into: &bits)
            return bits
        } catch {
            return nil
        }
    }

    private static func checkEncoding(
        _ words: [UInt64], _ count: Int, _ type: FieldType
    ) throws(FuzzFailure) {
        try require(words.count == count, "\(words.count) values in place of \(count)")
        var writer = ByteWriter()
        let encoding = BlockEncoder().encode(words.span, type: type, into: &writer)
        let again = decode(writer.bytes, encoding.rawValue, count, type)
        try require(again == words, "encoded as \(encoding) they are other values")
    }

    private static func tests(of words: [UInt64], _ type: FieldType) -> [NumberPredicate] {
        let (word, other) = (words.first ?? 5, words.last ?? 9)
        if type == .float {
            let (a, b) = (Double(bitPattern: word), Double(bitPattern: other))
            guard !a.isNaN, !b.isNaN else { return [.floats(-1...1, inside: true)] }
            return [
                .floats(min(a, b)...max(a, b), inside: true), .floats(a...a, inside: false),
                .floats((-a.magnitude).nextUp...a.magnitude.nextUp, inside: true),
            ]
        }
        let (a, b) = (Int64(bitPattern: word), Int64(bitPattern: other))
        return [
            .integers(min(a, b)...max(a, b), inside: true), .integers(a...a, inside: false),
            .integersAsFloats(Double(min(a, b))...Double(max(a, b)), inside: true),
        ]
    }

    private static func passes(_ test: NumberPredicate, _ word: UInt64) -> Bool {
        switch test {
        case .integers(let bounds, let inside):
            bounds.contains(Int64(bitPattern: word)) == inside
        case .floats(let bounds, let inside):
            bounds.contains(Double(bitPattern: word)) == inside
        case .integersAsFloats(let bounds, let inside):
            bounds.contains(Double(Int64(bitPattern: word))) == inside
        }
    }

    private static func checkSame(
        _ block: [UInt8], _ count: Int, _ type: FieldType
    ) throws(FuzzFailure) {
        var decoder = BlockDecoder()
        guard let same = try? decoder.decodeSame(block.span, count: count, type: type) else {
            return
        }
        try require(same.positions.count == same.words.count, "a position for each value")
        try checkAscending(same.positions, below: count)
    }

    private static func checkRowTimes(_ block: [UInt8], _ count: Int) throws(FuzzFailure) {
        var decoder = BlockDecoder()
        let times = (0..<count).map { Int64($0) &* 1_000_000_007 &- .max }
        guard let words = try? decoder.decodeRowTimes(block.span, rowTimes: times.span) else {
            return
        }
        try require(words.count == count, "\(words.count) values in place of \(count)")
    }

    private static func checkStrings(_ block: [UInt8], _ count: Int) throws(FuzzFailure) {
        var heap = Array("before".utf8)
        var ends = [6]
        guard
            (try? decodeStrings(
                block.span, count: count, sizeBytesMax: 1 << 20, heap: &heap, ends: &ends)) != nil
        else {
            try require(heap.count == 6 && ends == [6], "strings of a block that is refused")
            return
        }
        try require(ends.count == count + 1 && ends.last == heap.count, "ends of strings")
        let strings = Array(heap.dropFirst(6))
        let own = ends.dropFirst().map { $0 - 6 }
        var writer = ByteWriter()
        encodeStrings(heap: strings.span, ends: own, into: &writer)
        var again: [UInt8] = []
        var againEnds: [Int] = []
        let written = writer.bytes
        try? decodeStrings(
            written.span, count: count, sizeBytesMax: 1 << 20, heap: &again, ends: &againEnds)
        try require(again == strings && againEnds == own, "encoded they are other strings")
    }

    private static func checkPresence(_ block: [UInt8], _ count: Int) throws(FuzzFailure) {
        var positions: [UInt32] = []
        guard
            (try? Presence.decode(
                block.span, rowCount: count, appendTo: &positions, base: 7)) != nil
        else { return }
        let rows = positions.map { $0 &- 7 }
        try checkAscending(rows, below: count)
        var encoder = PresenceEncoder()
        var writer = ByteWriter()
        let places = rows.map { UInt16(truncatingIfNeeded: $0) }
        encoder.encode(places.span, rowCount: count, into: &writer)
        var again: [UInt32] = []
        let written = writer.bytes
        try? Presence.decode(written.span, rowCount: count, appendTo: &again, base: 0)
        try require(again == rows, "encoded they are other rows")
    }

    private static func checkAscending(
        _ rows: [UInt32], below count: Int
    ) throws(FuzzFailure) {
        let isAscending = zip(rows, rows.dropFirst()).allSatisfy { $0 < $1 }
        try require(isAscending && Int(rows.last ?? 0) <= max(0, count - 1), "rows \(rows)")
    }

    private static func checkCompressible(_ block: [UInt8]) throws(FuzzFailure) {
        guard let plain = try? decompressedBytes(block.span, limit: 1 << 20) else { return }
        var writer = ByteWriter()
        writer.append(compressing: plain)
        let written = writer.bytes
        let again = try? decompressedBytes(written.span, limit: 1 << 20)
        try require(again == plain, "compressed they are other bytes")
    }

    private static func checkTable(_ block: [UInt8], _ count: Int) throws(FuzzFailure) {
        guard
            let table = try? IntegerTable(
                decoding: block.span, columnCount: BlockTable.fieldColumnCount, countMax: count)
        else { return }
        try require(
            table.columns.allSatisfy { $0.count == table.count }, "columns of other lengths")
        var writer = ByteWriter()
        table.encode(with: BlockEncoder(), into: &writer)
        let written = writer.bytes
        let again = try? IntegerTable(
            decoding: written.span, columnCount: BlockTable.fieldColumnCount,
            countMax: count)
        try require(again?.columns == table.columns, "written they are other entries")
    }
}
