// Strings that are ISO 8601 times but do not fit a packed time: with seven to nine fraction digits,
// or with years out of range. docs/format/encodings.md, "Strings".
//
//     encoding      u8       of the styles
//     styles        blob     block of integers: `ISOTime.Style` of each string, 4096 for others
//     encoding      u8       of the times
//     times         blob     block of integers: units since 1970 of the strings that are times
//     others        compressible bytes: the other strings, concatenated

private let otherStyle: UInt64 = 4096

/// Returns the encoded strings if at least half of them are times; otherwise nil.
func encodedTimes(_ heap: Span<UInt8>, ends: [Int], with encoder: BlockEncoder) -> [UInt8]? {
    var styles: [UInt64] = []
    var units: [UInt64] = []
    var others: [UInt8] = []
    var start = 0
    for end in ends {
        let text = heap.extracting(start..<end)
        start = end
        if let time = ISOTime(text), time.hasText {
            styles.append(UInt64(time.style.bits))
            units.append(UInt64(bitPattern: time.units))
            continue
        }
        styles.append(otherStyle)
        others.append(copying: text)
        // Usually the first strings decide this.
        if styles.count - units.count > ends.count / 2 { return nil }
    }
    guard !units.isEmpty else { return nil }
    var writer = ByteWriter()
    for words in [styles, units] {
        var block = ByteWriter()
        writer.append(encoder.encode(words.span, type: .integer, into: &block).rawValue)
        writer.appendBlob(block.bytes)
    }
    writer.append(compressing: others)
    return writer.bytes
}

/// Appends the strings.
///
/// - Parameter lengths: Length of each string. The caller has checked their sum.
/// - Throws: If the bytes are corrupt. Nothing is appended then.
func decodeTimes(
    _ bytes: Span<UInt8>, lengths: Span<UInt64>, with decoder: inout BlockDecoder,
    appendTo heap: inout [UInt8]
) throws(FormatError) {
    let start = heap.count
    do throws(FormatError) {
        try appendTimes(bytes, lengths, &decoder, &heap)
    } catch {
        heap.removeLast(heap.count - start)
        throw error
    }
}

private func appendTimes(
    _ bytes: Span<UInt8>, _ lengths: Span<UInt64>, _ decoder: inout BlockDecoder,
    _ heap: inout [UInt8]
) throws(FormatError) {
    var reader = ByteReader(bytes)
    var (styles, units): ([UInt64], [UInt64]) = ([], [])
    var encoding = try reader.readUInt8()
    try decoder.decode(
        reader.readBlob(limit: reader.remaining), encoding: encoding, count: lengths.count,
        type: .integer, appendTo: &styles)
    encoding = try reader.readUInt8()
    let unitBytes = try reader.readBlob(limit: reader.remaining)
    let timeCount = styles.reduce(0) { $0 + ($1 == otherStyle ? 0 : 1) }
    try decoder.decode(
        unitBytes, encoding: encoding, count: timeCount, type: .integer, appendTo: &units)
    var otherSizeBytes: UInt64 = 0
    for index in styles.indices where styles[index] == otherStyle {
        // Cannot overflow: the caller has checked the sum of all lengths.
        otherSizeBytes += lengths[index]
    }
    let others = try decompressedBytes(
        reader.readBytes(reader.remaining), limit: Int(otherSizeBytes))
    guard others.count == Int(otherSizeBytes) else {
        throw FormatError(
            .invalid, "\(others.count) bytes of strings, expected \(otherSizeBytes)", at: 0)
    }
    var (nextUnit, nextByte) = (0, 0)
    for index in styles.indices {
        let (style, before) = (styles[index], heap.count)
        if style == otherStyle {
            let end = nextByte + Int(lengths[index])
            heap.append(contentsOf: others[nextByte..<end])
            nextByte = end
            continue
        }
        let time = ISOTime(
            style: ISOTime.Style(bits: UInt16(truncatingIfNeeded: style)),
            units: Int64(bitPattern: units[nextUnit]))
        nextUnit += 1
        guard style < otherStyle, time.hasText else {
            throw FormatError(
                .invalid, "found a time of style \(style) that has no text form", at: 0)
        }
        time.append(to: &heap)
        guard heap.count - before == Int(lengths[index]) else {
            throw FormatError(
                .invalid,
                "found a time whose length differs from that of its string", at: 0)
        }
    }
}
