// Blocks whose values are of several kinds, each kind in its own encoding.
// docs/format/encodings.md, "mixed".
//
//     kinds         u8       2 to 4
//     for each but the last:
//       positions   blob     which of the remaining values, as a presence vector
//       encoding    u8
//       values      blob     block
//     encoding      u8       of the remaining values
//     values        block

/// Plans and writes blocks of floats that mix short decimals, long decimals and other values, such
/// as an average next to single readings. No single form suits them all. Reuses its memory between
/// blocks.
struct MixedEncoder {
    /// Exact size of what `write` appends; nil if the encoding does not apply.
    private(set) var sizeBytes: Int?

    private struct Kind {
        var words: [UInt64] = []
        /// Positions among the values that the previous kinds left.
        var positions: [UInt16] = []
        private var vector = ByteWriter()
        private var encoder = SimpleEncoder()

        mutating func removeAll() {
            words.removeAll(keepingCapacity: true)
            positions.removeAll(keepingCapacity: true)
        }

        /// Plans a kind that is not the last. Returns its size in bytes.
        mutating func plan(
            of count: Int, _ search: EncodingSearch, with presence: inout PresenceEncoder
        ) -> Int {
            guard !words.isEmpty else { return 0 }
            vector.removeAll()
            let (positions, words) = (positions, words)
            presence.encode(positions.span, rowCount: count, into: &vector)
            let overhead = varintSizeBytes(UInt64(vector.count)) + vector.count
            encoder.plan(words.span, type: .float, search.beside(overhead))
            return overhead + encoder.partSizeBytes(isLast: false)
        }

        /// Plans the last kind. Returns its size in bytes.
        mutating func planLast(_ search: EncodingSearch) -> Int {
            let words = words
            encoder.plan(words.span, type: .float, search)
            return encoder.partSizeBytes(isLast: true)
        }

        mutating func write(isLast: Bool, into writer: inout ByteWriter) {
            guard !words.isEmpty else { return }
            if !isLast { writer.appendBlob(vector.bytes) }
            let words = words
            encoder.writePart(words.span, isLast: isLast, into: &writer)
        }
    }

    /// Values that are not decimals; decimals up to the longer exponent; decimals up to the shorter
    /// one. The last kind takes the remaining values.
    private var noise = Kind()
    private var long = Kind()
    private var short = Kind()
    private var presence = PresenceEncoder()
    private var sample = DecimalSample()

    private static let countMin = 64

    mutating func clear() {
        sizeBytes = nil
    }

    /// Plans a block. `sizeBytes` is the size of the smallest form so far. If a sample predicts no
    /// smaller size, nothing is planned.
    mutating func plan(
        _ words: Span<UInt64>, than sizeBytes: Int, _ search: EncodingSearch
    ) {
        self.sizeBytes = nil
        guard words.count >= Self.countMin, words.count <= presenceRowCountMax else { return }
        let found = sample.exponents(words, bitsMax: sizeBytes * 8 / words.count)
        guard let (shorter, longer) = found else { return }
        split(words, shorter: shorter, longer: longer)
        guard !short.words.isEmpty, short.words.count < words.count else { return }
        let left = words.count - noise.words.count
        var size = 1
        size += noise.plan(of: words.count, search.beside(size), with: &presence)
        guard size <= search.sizeBytesMax else { return }
        size += long.plan(of: left, search.beside(size), with: &presence)
        guard size <= search.sizeBytesMax else { return }
        self.sizeBytes = size + short.planLast(search.beside(size))
    }

    mutating func write(into writer: inout ByteWriter) {
        let kindCount = 1 + (noise.words.isEmpty ? 0 : 1) + (long.words.isEmpty ? 0 : 1)
        writer.append(UInt8(kindCount))
        noise.write(isLast: false, into: &writer)
        long.write(isLast: false, into: &writer)
        short.write(isLast: true, into: &writer)
    }

    private mutating func split(_ words: Span<UInt64>, shorter: Int, longer: Int) {
        noise.removeAll()
        long.removeAll()
        short.removeAll()
        for index in words.indices {
            let word = words[index]
            if isDecimal(word, exponent: shorter) {
                short.words.append(word)
            } else if longer > shorter, isDecimal(word, exponent: longer) {
                long.positions.append(UInt16(truncatingIfNeeded: index - noise.words.count))
                long.words.append(word)
            } else {
                noise.positions.append(UInt16(truncatingIfNeeded: index))
                noise.words.append(word)
            }
        }
    }
}

/// Statistics of the lengths of decimals in a sample.
private struct DecimalSample {
    /// For each exponent, the number of values that need it. The last entry counts values that are
    /// not decimals.
    private var needs: [Int] = []

    private static let countMax = 64
    /// Bits of a value that is not a decimal: its mantissa and a little of its exponent.
    private static let noiseBits = 54

    /// Returns the exponents that split the values best; nil if the estimate is not below `bitsMax`
    /// bits per value. Equal exponents mean only two kinds.
    mutating func exponents(
        _ words: Span<UInt64>, bitsMax: Int
    ) -> (shorter: Int, longer: Int)? {
        needs = [Int](repeating: 0, count: decimalExponentMax + 2)
        let count = min(words.count, Self.countMax)
        var least = Double.infinity
        var most = -Double.infinity
        for index in 0..<count {
            let word = words[index * words.count / count]
            let need = decimalExponent(word)
            needs[need ?? decimalExponentMax + 1] += 1
            guard need != nil else { continue }
            least = min(least, Double(bitPattern: word))
            most = max(most, Double(bitPattern: word))
        }
        let used = (0...decimalExponentMax).filter { needs[$0] > 0 }
        guard !used.isEmpty else { return nil }
        let wholeBits = bitWidth(UInt64(max(0, min(most - least, 0x1p50))))
        func decimalBits(_ exponent: Int) -> Int { min(64, wholeBits + exponent * 10 / 3) }
        func sampled(_ range: ClosedRange<Int>) -> Int { needs[range].reduce(0, +) }
        var best: (shorter: Int, longer: Int)?
        var bestBits = bitsMax * count
        for shorter in used {
            for longer in used where longer >= shorter {
                let shortCount = sampled(0...shorter)
                let longCount = sampled(0...longer) - shortCount
                let noiseCount = count - shortCount - longCount
                guard noiseCount + longCount > 0 else { continue }
                // A presence vector takes at most one bit per value that the previous kinds left.
                let vectorBits =
                    (noiseCount > 0 ? count : 0) + (longCount > 0 ? shortCount + longCount : 0)
                let bits =
                    vectorBits + shortCount * decimalBits(shorter)
                    + longCount * decimalBits(longer) + noiseCount * Self.noiseBits
                if bits < bestBits { (best, bestBits) = ((shorter, longer), bits) }
            }
        }
        return best
    }
}
