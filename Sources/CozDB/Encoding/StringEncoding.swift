// Blocks of strings: lengths as integers, then all bytes. docs/format/encodings.md, "Strings".
//
//     encoding      u8       of the lengths, as a block of integers
//     lengths size  varint   bytes of that block
//     lengths       block
//     form          u8       0 plain, 1 LZ4, 2 times
//     bytes         the concatenated strings, or see TimeTextEncoding, to the end

private enum StringForm: UInt8 {
    case plain = 0
    case compressed = 1
    case times = 2
}

/// Appends a block of strings.
///
/// - Parameters:
///   - heap: The concatenated strings, valid UTF-8.
///   - ends: End offset of each string in `heap`. It starts where the previous one ends, the first
///     at 0. At most 1,048,576.
func encodeStrings(heap: Span<UInt8>, ends: [Int], into writer: inout ByteWriter) {
    precondition(heap.count == ends.last ?? 0, "the last string ends where the heap does")
    var lengths: [UInt64] = []
    lengths.reserveCapacity(ends.count)
    var start = 0
    for end in ends {
        precondition(end >= start, "strings end in ascending order")
        lengths.append(UInt64(end - start))
        start = end
    }
    let encoder = BlockEncoder()
    var block = ByteWriter()
    let encoding = encoder.encode(lengths.span, type: .integer, into: &block)
    writer.append(encoding.rawValue)
    writer.appendVarint(block.count)
    writer.append(block.bytes)
    let formStart = writer.count
    writer.append(StringForm.compressed.rawValue)
    let sizeMax = heap.count - (heap.count + 7) / 8
    if !LZ4.compress(heap, sizeMax: sizeMax, into: &writer) {
        writer.bytes[writer.count - 1] = StringForm.plain.rawValue
        writer.append(heap)
    }
    guard let times = encodedTimes(heap, ends: ends, with: encoder),
        times.count < writer.count - formStart - 1
    else { return }
    writer.bytes.removeLast(writer.count - formStart)
    writer.append(StringForm.times.rawValue)
    writer.append(times)
}

/// Appends the strings of a block to `heap`, and their end offsets to `ends`.
///
/// - Parameters:
///   - count: Number of strings in the block.
///   - sizeBytesMax: Maximum total size of the strings.
/// - Throws: If lengths and bytes do not match, or a string is not valid UTF-8. Nothing is appended
///   then.
func decodeStrings(
    _ bytes: Span<UInt8>, count: Int, sizeBytesMax: Int, heap: inout [UInt8], ends: inout [Int]
) throws(FormatError) {
    var reader = ByteReader(bytes)
    var decoder = BlockDecoder()
    let lengths = try readLengths(&reader, count: count, with: &decoder)
    let start = heap.count
    let total = try totalSize(lengths.span, sizeBytesMax: sizeBytesMax)
    let form = try reader.readUInt8()
    let rest = try reader.readBytes(reader.remaining)
    switch StringForm(rawValue: form) {
    case .plain:
        guard rest.count == total else {
            throw FormatError(
                .invalid, "found \(rest.count) bytes of strings, expected \(total)",
                at: reader.offset)
        }
        heap.append(copying: rest)
    case .compressed:
        try LZ4.decompress(rest, size: total, limit: sizeBytesMax, appendTo: &heap)
    case .times:
        try decodeTimes(rest, lengths: lengths.span, with: &decoder, appendTo: &heap)
    case nil:
        throw FormatError(
            .unsupported,
            "found string form \(form), expected 0 to 2; a newer "
                + "version may be able to read it", at: reader.offset)
    }
    let endStart = ends.count
    var end = start
    for length in lengths {
        end += Int(length)
        ends.append(end)
    }
    guard areTexts(heap.span.extracting(start...), start: start, ends[endStart...]) else {
        heap.removeLast(heap.count - start)
        ends.removeLast(ends.count - endStart)
        throw FormatError(.invalid, "found a string that is not valid UTF-8", at: reader.offset)
    }
}

/// Returns the total size of the strings of a block. Decodes their lengths only.
///
/// - Throws: If it is more than `sizeBytesMax`.
func decodeTotalSize(
    _ bytes: Span<UInt8>, count: Int, sizeBytesMax: Int
) throws(FormatError) -> Int {
    var reader = ByteReader(bytes)
    var decoder = BlockDecoder()
    let lengths = try readLengths(&reader, count: count, with: &decoder)
    return try totalSize(lengths.span, sizeBytesMax: sizeBytesMax)
}

private func readLengths(
    _ reader: inout ByteReader, count: Int, with decoder: inout BlockDecoder
) throws(FormatError) -> [UInt64] {
    let encoding = try reader.readUInt8()
    let block = try reader.readBlob(limit: reader.remaining)
    var lengths: [UInt64] = []
    try decoder.decode(block, encoding: encoding, count: count, type: .integer, appendTo: &lengths)
    return lengths
}

private func totalSize(
    _ lengths: Span<UInt64>, sizeBytesMax: Int
) throws(FormatError) -> Int {
    var total: UInt64 = 0
    for index in lengths.indices {
        let length = lengths[index]
        guard length <= UInt64(sizeBytesMax), total + length <= UInt64(sizeBytesMax) else {
            throw FormatError(.invalid, "strings of more than \(sizeBytesMax) bytes", at: 0)
        }
        total += length
    }
    return Int(total)
}

/// Whether each string is valid UTF-8: the whole heap is, and no string starts inside a character.
private func areTexts(_ heap: Span<UInt8>, start: Int, _ ends: ArraySlice<Int>) -> Bool {
    guard (try? UTF8Span(validating: heap)) != nil else { return false }
    for end in ends where end - start < heap.count {
        if heap[end - start] & 0xC0 == 0x80 { return false }
    }
    return true
}
