// Decodes blocks of values from untrusted bytes. The inverse of BlockEncoder.swift.

/// Decodes blocks of values. Reuses its memory between blocks. Not thread-safe.
///
/// Corrupt bytes give an error or wrong values. They never trap, never give more values than
/// requested, and never allocate more than a small multiple of `count` words.
struct BlockDecoder {
    private var decompressed: [UInt8] = []
    private var exceptions: [UInt64] = []
    private var decimalExceptions: [UInt64] = []
    private var lengths: [UInt64] = []
    private var runs: [UInt64] = []
    private var patches: [UInt64] = []
    private var patchPositions: [UInt32] = []
    private var distinctValues: [UInt64] = []

    /// Appends the values of a block.
    ///
    /// - Parameters:
    ///   - encoding: The raw value returned by `BlockEncoder.encode`.
    ///   - count: Number of values in the block.
    /// - Throws: `unsupported` for an encoding of a newer version, otherwise `invalid` or
    ///   `truncated`. Nothing is appended then.
    mutating func decode(
        _ bytes: Span<UInt8>, encoding: UInt8, count: Int, type: FieldType,
        appendTo words: inout [UInt64]
    ) throws(FormatError) {
        guard (0...blockValueCountMax).contains(count) else {
            throw FormatError(
                .invalid,
                "found a block of \(count) values, expected at most \(blockValueCountMax)", at: 0)
        }
        let start = words.count
        do throws(FormatError) {
            try decodeBlock(bytes, encoding, count, type, &words)
            assert(words.count == start + count, "a block gave another number of values")
            if type == .boolean { try checkBooleans(words.span.extracting(start...)) }
        } catch {
            words.removeLast(words.count - start)
            throw error
        }
    }

    private mutating func decodeBlock(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ words: inout [UInt64]
    ) throws(FormatError) {
        switch try known(encoding) {
        case .compressed: break
        case .patched: return try decodePatched(bytes, count, type, &words)
        case .distinct: return try decodeDistinct(bytes, count, type, &words)
        case .mixed: return try decodeMixed(bytes, count, type, &words)
        default: return try decodeUncompressed(bytes, encoding, count, type, &words)
        }
        var reader = ByteReader(bytes)
        let inner = try reader.readUInt8()
        // No encoder chooses an encoding larger than the raw words.
        let size = try reader.readCount(limit: 8 * count)
        // Moved out, because the decoder is mutated while reading it.
        var buffer: [UInt8] = []
        swap(&buffer, &decompressed)
        defer { swap(&buffer, &decompressed) }
        buffer.removeAll(keepingCapacity: true)
        try LZ4.decompress(
            reader.readBytes(reader.remaining), size: size, limit: 8 * count, appendTo: &buffer)
        try decodeUncompressed(buffer.span, inner, count, type, &words)
    }

    mutating func decodeUncompressed(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ words: inout [UInt64]
    ) throws(FormatError) {
        guard try known(encoding) == .runLength else {
            return try decodeValues(bytes, encoding, count, type, &words)
        }
        var reader = ByteReader(bytes)
        let runCount = try reader.readCount(limit: count)
        lengths.removeAll(keepingCapacity: true)
        try readPackedIntegers(
            &reader, count: runCount, scratch: &exceptions, appendTo: &lengths)
        let inner = try reader.readUInt8()
        var values: [UInt64] = []
        swap(&values, &runs)
        defer { swap(&values, &runs) }
        values.removeAll(keepingCapacity: true)
        try decodeValues(reader.readBytes(reader.remaining), inner, runCount, type, &values)
        try appendRuns(values.span, lengths: lengths.span, count: count, to: &words)
    }

    private mutating func decodePatched(
        _ bytes: Span<UInt8>, _ count: Int, _ type: FieldType, _ words: inout [UInt64]
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        patchPositions.removeAll(keepingCapacity: true)
        try Presence.decode(
            reader.readBlob(limit: reader.remaining), rowCount: count, appendTo: &patchPositions,
            base: 0)
        // Moved out, because the decoder is mutated while reading it.
        var apart: [UInt64] = []
        swap(&apart, &patches)
        defer { swap(&apart, &patches) }
        apart.removeAll(keepingCapacity: true)
        let apartEncoding = try reader.readUInt8()
        try decodeUncompressed(
            reader.readBlob(limit: reader.remaining), apartEncoding, patchPositions.count, type,
            &apart)
        let start = words.count
        let encoding = try reader.readUInt8()
        try decodeUncompressed(
            reader.readBytes(reader.remaining), encoding, count, type, &words)
        for (index, position) in patchPositions.enumerated() {
            words[start + Int(position)] = apart[index]
        }
    }

    private mutating func decodeDistinct(
        _ bytes: Span<UInt8>, _ count: Int, _ type: FieldType, _ words: inout [UInt64]
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        let valueCount = try reader.readCount(limit: count)
        var values: [UInt64] = []
        swap(&values, &distinctValues)
        defer { swap(&values, &distinctValues) }
        values.removeAll(keepingCapacity: true)
        let valueEncoding = try reader.readUInt8()
        try decodeUncompressed(
            reader.readBlob(limit: reader.remaining), valueEncoding, valueCount, type, &values)
        let start = words.count
        let encoding = try reader.readUInt8()
        try decodeUncompressed(
            reader.readBytes(reader.remaining), encoding, count, .integer, &words)
        try replaceNumbers(&words, from: start, by: values.span)
    }

    private mutating func decodeMixed(
        _ bytes: Span<UInt8>, _ count: Int, _ type: FieldType, _ words: inout [UInt64]
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        let kindCount = Int(try reader.readUInt8())
        guard (2...4).contains(kindCount), count <= presenceRowCountMax else {
            throw FormatError(.invalid, "\(count) values of \(kindCount) kinds", at: 0)
        }
        let start = words.count
        appendRepeated(0, count: count, to: &words)
        var left = Array(0..<UInt32(truncatingIfNeeded: count))
        // Moved out, because the decoder is mutated while reading it.
        var values: [UInt64] = []
        swap(&values, &patches)
        defer { swap(&values, &patches) }
        for _ in 1..<kindCount {
            patchPositions.removeAll(keepingCapacity: true)
            try Presence.decode(
                reader.readBlob(limit: reader.remaining), rowCount: left.count,
                appendTo: &patchPositions, base: 0)
            let encoding = try reader.readUInt8()
            values.removeAll(keepingCapacity: true)
            try decodeUncompressed(
                reader.readBlob(limit: reader.remaining), encoding, patchPositions.count, type,
                &values)
            var next = 0
            var rest: [UInt32] = []
            rest.reserveCapacity(left.count - patchPositions.count)
            for (index, place) in left.enumerated() {
                if next < patchPositions.count, Int(patchPositions[next]) == index {
                    words[start + Int(place)] = values[next]
                    next += 1
                } else {
                    rest.append(place)
                }
            }
            left = rest
        }
        let encoding = try reader.readUInt8()
        values.removeAll(keepingCapacity: true)
        try decodeUncompressed(
            reader.readBytes(reader.remaining), encoding, left.count, type, &values)
        for (index, place) in left.enumerated() { words[start + Int(place)] = values[index] }
    }

    mutating func decodeValues(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ words: inout [UInt64]
    ) throws(FormatError) {
        guard try known(encoding) == .decimal, type == .float else {
            return try decodeIntegers(bytes, encoding, count, type, &words)
        }
        let start = words.count
        var reader = ByteReader(bytes)
        let header = try readDecimalHeader(&reader, count: count, exceptions: &decimalExceptions)
        try decodeIntegers(
            reader.readBytes(reader.remaining), header.encoding, count, .integer, &words)
        try restoreDecimals(
            &words, from: start, header: header, exceptions: decimalExceptions.span)
    }

    mutating func decodeIntegers(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ words: inout [UInt64]
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        switch try known(encoding) {
        case .constant:
            return try readConstant(bytes, count: count, type: type, appendTo: &words)
        case .words:
            return try readWords(bytes, count: count, appendTo: &words)
        case .bitPacked:
            try readPackedIntegers(
                &reader, count: count, scratch: &exceptions, appendTo: &words)
        case .delta:
            try readDelta(&reader, count: count, scratch: &exceptions, appendTo: &words)
        case .runLength, .decimal, .compressed, .patched, .distinct, .same, .rowTime, .mixed:
            throw FormatError(
                .invalid, "found encoding \(encoding), which cannot be nested here", at: 0)
        }
        guard reader.isAtEnd else {
            throw FormatError(
                .invalid, "\(reader.remaining) bytes after the last value", at: reader.offset)
        }
    }
}

private func known(_ code: UInt8) throws(FormatError) -> BlockEncoding {
    guard let encoding = BlockEncoding(rawValue: code) else {
        throw FormatError(
            .unsupported,
            "found encoding \(code), expected 1 to 12; a newer version may be able to read it",
            at: 0)
    }
    return encoding
}

/// Replaces the indices from `start` on by the values they refer to.
private func replaceNumbers(
    _ words: inout [UInt64], from start: Int, by values: Span<UInt64>
) throws(FormatError) {
    var numbers = words.mutableSpan
    let count = UInt64(values.count)
    for index in start..<numbers.count {
        let number = numbers[index]
        guard number < count else {
            throw FormatError(
                .invalid,
                "found distinct value number \(number), expected less than \(count)", at: 0)
        }
        numbers[index] = values[Int(number)]
    }
}

private func checkBooleans(_ words: Span<UInt64>) throws(FormatError) {
    var bits: UInt64 = 0
    for index in words.indices { bits |= words[index] }
    guard bits <= 1 else {
        throw FormatError(.invalid, "a boolean that is neither 0 nor 1", at: 0)
    }
}
