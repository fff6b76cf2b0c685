// Blocks of words and strings: docs/format/segment.md, "Blocks".
//
//     encoding      u8       of the words
//     words         blob     a block of integers: packed times, or codes of the strings
//     count         varint   of the strings
//     strings       see StringEncoding

enum MixedStringBlock {
    /// Appends words of times and codes, followed by the strings of the codes.
    static func append(
        words: [UInt64], heap: [UInt8], ends: [Int], with encoder: BlockEncoder,
        into block: inout ByteWriter
    ) {
        var encoded = ByteWriter()
        let encoding = encoder.encode(words.span, type: .integer, into: &encoded)
        block.append(encoding.rawValue)
        block.appendBlob(encoded.bytes)
        block.appendVarint(ends.count)
        encodeStrings(heap: heap.span, ends: ends, into: &block)
    }

    /// Decodes a block.
    ///
    /// - Parameters:
    ///   - count: the number of words.
    ///   - sizeBytesMax: the maximum total size of the strings.
    static func decode(
        _ bytes: Span<UInt8>, count: Int, sizeBytesMax: Int, words: inout [UInt64],
        heap: inout [UInt8], ends: inout [Int]
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        var decoder = BlockDecoder()
        let encoding = try reader.readUInt8()
        try decoder.decode(
            reader.readBlob(limit: reader.remaining), encoding: encoding, count: count,
            type: .integer, appendTo: &words)
        let stringCount = try reader.readCount(limit: count)
        try decodeStrings(
            reader.readBytes(reader.remaining), count: stringCount, sizeBytesMax: sizeBytesMax,
            heap: &heap, ends: &ends)
    }

    /// Returns the total size of the strings. Decodes their lengths only.
    static func decodeTotalSize(
        _ bytes: Span<UInt8>, count: Int, sizeBytesMax: Int
    ) throws(FormatError) -> Int {
        var reader = ByteReader(bytes)
        _ = try reader.readUInt8()
        _ = try reader.readBlob(limit: reader.remaining)
        let stringCount = try reader.readCount(limit: count)
        return try CozDB.decodeTotalSize(
            reader.readBytes(reader.remaining), count: stringCount, sizeBytesMax: sizeBytesMax)
    }
}
