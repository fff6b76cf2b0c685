// Evaluates a predicate on encoded blocks, decoding as little as possible: once per run or distinct
// value, and on decimal digits instead of floats.

/// Evaluates predicates on blocks. Reuses its memory between blocks. Not thread-safe.
struct BlockFilter {
    private var decoder = BlockDecoder()
    private var words: [UInt64] = []
    private var lengths: [UInt64] = []
    private var scratch: [UInt64] = []
    private var places: [UInt32] = []
    private var valueBits = BitVector()

    /// Finds the values of a block that pass.
    ///
    /// - Parameters:
    ///   - encoding: The raw value returned by `BlockEncoder.encode`.
    ///   - count: Number of values in the block.
    ///   - bits: Reset to one bit per value.
    /// - Throws: What `BlockDecoder.decode` throws for the same bytes, or nothing.
    mutating func select<Test: WordPredicate>(
        _ bytes: Span<UInt8>, encoding: UInt8, count: Int, type: FieldType,
        test: inout Test, into bits: inout BitVector
    ) throws(FormatError) {
        guard (0...blockValueCountMax).contains(count) else {
            throw FormatError(
                .invalid,
                "found a block of \(count) values, expected at most \(blockValueCountMax)", at: 0)
        }
        bits.removeAll(count: count)
        switch type == .boolean ? nil : BlockEncoding(rawValue: encoding) {
        case .patched: try selectPatched(bytes, count, type, &test, &bits)
        case .distinct: try selectDistinct(bytes, count, type, &test, &bits)
        case .constant, .words, .bitPacked, .delta, .runLength, .decimal:
            try selectUncompressed(bytes, encoding, count, type, &test, &bits)
        case .compressed, .mixed, .same, .rowTime, nil:
            words.removeAll(keepingCapacity: true)
            try decoder.decode(
                bytes, encoding: encoding, count: count, type: type, appendTo: &words)
            test.select(words.span, into: &bits)
        }
    }

    /// Filters a block of an encoding that `patched` and `distinct` may contain. `bits` must be
    /// zero.
    private mutating func selectUncompressed<Test: WordPredicate>(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ test: inout Test, _ bits: inout BitVector
    ) throws(FormatError) {
        guard BlockEncoding(rawValue: encoding) == .runLength else {
            return try selectValues(bytes, encoding, count, type, &test, &bits)
        }
        var reader = ByteReader(bytes)
        let runCount = try reader.readCount(limit: count)
        lengths.removeAll(keepingCapacity: true)
        try readPackedIntegers(&reader, count: runCount, scratch: &scratch, appendTo: &lengths)
        let inner = try reader.readUInt8()
        var runBits = BitVector()
        swap(&runBits, &valueBits)
        defer { swap(&runBits, &valueBits) }
        runBits.removeAll(count: runCount)
        try selectValues(
            reader.readBytes(reader.remaining), inner, runCount, type, &test, &runBits)
        var end = 0
        for run in lengths.indices {
            let start = end
            guard lengths[run] < UInt64(count - start) else {
                throw FormatError(.invalid, "runs of more than \(count) values", at: 0)
            }
            end = start + Int(lengths[run]) + 1
            if runBits[run] { bits.formOnes(in: start..<end) }
        }
        guard end == count else {
            throw FormatError(.invalid, "runs of \(end) values, expected \(count)", at: 0)
        }
    }

    /// Filters single values. Decimals are compared by their digits.
    private mutating func selectValues<Test: WordPredicate>(
        _ bytes: Span<UInt8>, _ encoding: UInt8, _ count: Int, _ type: FieldType,
        _ test: inout Test, _ bits: inout BitVector
    ) throws(FormatError) {
        words.removeAll(keepingCapacity: true)
        guard type == .float, BlockEncoding(rawValue: encoding) == .decimal, count > 0 else {
            try decoder.decodeValues(bytes, encoding, count, type, &words)
            return test.select(words.span, into: &bits)
        }
        var reader = ByteReader(bytes)
        let header = try readDecimalHeader(&reader, count: count, exceptions: &scratch)
        guard let digits = test.onDigits(exponent: header.exponent) else {
            try decoder.decodeValues(bytes, encoding, count, type, &words)
            return test.select(words.span, into: &bits)
        }
        try decoder.decodeIntegers(
            reader.readBytes(reader.remaining), header.encoding, count, .integer, &words)
        guard areDigits(words.span) else {
            throw FormatError(.invalid, "digits of 2^51 or more", at: 0)
        }
        digits.select(words.span, into: &bits)
        guard header.exceptionCount > 0 else { return }
        var exceptionBits = BitVector(count: header.exceptionCount)
        test.select(
            scratch.span.extracting(header.exceptionCount...), into: &exceptionBits)
        for exception in 0..<header.exceptionCount {
            let position = scratch[exception]
            guard position < UInt64(count) else {
                throw FormatError(
                    .invalid, "an exception at \(position) of \(count) values", at: 0)
            }
            bits[Int(position)] = exceptionBits[exception]
        }
    }

    private mutating func selectPatched<Test: WordPredicate>(
        _ bytes: Span<UInt8>, _ count: Int, _ type: FieldType, _ test: inout Test,
        _ bits: inout BitVector
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        places.removeAll(keepingCapacity: true)
        try Presence.decode(
            reader.readBlob(limit: reader.remaining), rowCount: count, appendTo: &places, base: 0)
        var patchBits = BitVector(count: places.count)
        let apartEncoding = try reader.readUInt8()
        try selectUncompressed(
            reader.readBlob(limit: reader.remaining), apartEncoding, places.count, type, &test,
            &patchBits)
        let encoding = try reader.readUInt8()
        try selectUncompressed(
            reader.readBytes(reader.remaining), encoding, count, type, &test, &bits)
        for (index, place) in places.enumerated() { bits[Int(place)] = patchBits[index] }
    }

    private mutating func selectDistinct<Test: WordPredicate>(
        _ bytes: Span<UInt8>, _ count: Int, _ type: FieldType, _ test: inout Test,
        _ bits: inout BitVector
    ) throws(FormatError) {
        var reader = ByteReader(bytes)
        let valueCount = try reader.readCount(limit: count)
        var distinctBits = BitVector(count: valueCount)
        let valueEncoding = try reader.readUInt8()
        try selectUncompressed(
            reader.readBlob(limit: reader.remaining), valueEncoding, valueCount, type, &test,
            &distinctBits)
        let encoding = try reader.readUInt8()
        words.removeAll(keepingCapacity: true)
        try decoder.decodeUncompressed(
            reader.readBytes(reader.remaining), encoding, count, .integer, &words)
        for number in words where number >= UInt64(valueCount) {
            throw FormatError(
                .invalid,
                "found distinct value number \(number), expected less than \(valueCount)", at: 0)
        }
        setBits(of: words.span, in: &bits) { distinctBits[Int(truncatingIfNeeded: $0)] }
    }
}

extension NumberPredicate {
    /// Floats increase with their digits, so bounds on floats translate to bounds on digits.
    func onDigits(exponent: Int) -> NumberPredicate? {
        guard case .floats(let bounds, let inside) = self else { return nil }
        let first = leastDigits(exponent: exponent) { $0 >= bounds.lowerBound }
        let behind = leastDigits(exponent: exponent) { $0 > bounds.upperBound }
        guard first < behind else {
            // No digits give a float between the bounds.
            return .integers(.min ... .max, inside: !inside)
        }
        return .integers(first...(behind - 1), inside: inside)
    }
}
