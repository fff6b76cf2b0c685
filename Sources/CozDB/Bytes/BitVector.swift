// A vector of bits, 64 to a word.

/// A fixed number of bits, initially zero. Unused bits of the last word stay zero.
struct BitVector: Equatable {
    private(set) var count = 0
    fileprivate(set) var words: [UInt64] = []

    init() {}

    init(count: Int) {
        removeAll(count: count)
    }

    /// Resets to `count` zero bits. Keeps allocated memory.
    mutating func removeAll(count: Int) {
        self.count = count
        words.removeAll(keepingCapacity: true)
        words.append(addingCapacity: (count + 63) / 64) { output in
            while output.freeCapacity > 0 { output.append(0) }
        }
    }

    subscript(index: Int) -> Bool {
        get { words[index >> 6] & (1 << UInt64(index & 63)) != 0 }
        set {
            let bit: UInt64 = 1 << UInt64(index & 63)
            if newValue { words[index >> 6] |= bit } else { words[index >> 6] &= ~bit }
        }
    }

    var oneCount: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    var hasOnes: Bool { words.contains { $0 != 0 } }

    /// Whether any bit of a range is set.
    func hasOnes(in range: Range<Int>) -> Bool {
        var found: UInt64 = 0
        BitVector.forEachWord(of: range) { found |= words[$0] & $1 }
        return found != 0
    }

    /// Returns the number of set bits in a range.
    func oneCount(in range: Range<Int>) -> Int {
        var found = 0
        BitVector.forEachWord(of: range) { found += (words[$0] & $1).nonzeroBitCount }
        return found
    }

    /// Sets all bits of a range.
    mutating func formOnes(in range: Range<Int>) {
        BitVector.forEachWord(of: range) { words[$0] |= $1 }
    }

    mutating func formIntersection(_ other: BitVector) {
        precondition(count == other.count, "bits of the same values")
        for index in words.indices { words[index] &= other.words[index] }
    }

    mutating func formUnion(_ other: BitVector) {
        precondition(count == other.count, "bits of the same values")
        for index in words.indices { words[index] |= other.words[index] }
    }

    /// Sets the bits that correspond to set bits of another vector.
    ///
    /// - Parameters:
    ///   - range: Bits of the other vector.
    ///   - places: For each bit of the range its position, ascending. Position `first` is bit 0
    ///     here.
    mutating func formOnes(
        _ other: BitVector, in range: Range<Int>, at places: Span<UInt32>, from first: Int
    ) {
        precondition(places.count == range.count, "a place for each bit")
        guard !range.isEmpty else { return }
        let (low, high) = (Int(places[0]) - first, Int(places[places.count - 1]) - first)
        precondition(low >= 0 && high < count && range.upperBound <= other.count, "bits beyond")
        let source = other.words
        let bits = source.span
        var target = words.mutableSpan
        let isDense = high - low == range.count - 1
        BitVector.forEachWord(of: range) { index, mask in
            var word = bits[index] & mask
            guard word != 0 else { return }
            let start = index << 6
            if isDense {
                // Shift whole words. The position of a word's first bit may be negative.
                let place = start - range.lowerBound + low
                let shift = UInt64(truncatingIfNeeded: place & 63)
                let low = word &<< shift
                if low != 0 { target[place >> 6] |= low }
                let high = shift == 0 ? 0 : word &>> (64 - shift)
                if high != 0 { target[place >> 6 + 1] |= high }
                return
            }
            while word != 0 {
                let bit = start + word.trailingZeroBitCount
                let place = Int(places[bit - range.lowerBound]) - first
                target[place >> 6] |= 1 << UInt64(place & 63)
                word &= word &- 1
            }
        }
    }

    /// Appends the positions of set bits from `start` on, at most `countMax` of them.
    ///
    /// - Parameter base: Added to each position.
    /// - Returns: The position from which to continue.
    func appendOnes(
        from start: Int, countMax: Int, adding base: UInt32, to places: inout [UInt32]
    ) -> Int {
        var left = countMax
        var index = start >> 6
        guard index < words.count else { return count }
        var word = words[index] & (.max << UInt64(start & 63))
        while true {
            while word != 0 {
                guard left > 0 else { return index << 6 + word.trailingZeroBitCount }
                let place = UInt32(truncatingIfNeeded: index << 6 + word.trailingZeroBitCount)
                places.append(base &+ place)
                left -= 1
                word &= word &- 1
            }
            index += 1
            guard index < words.count else { return count }
            word = words[index]
        }
    }

    /// Calls the body with the index of each word of a range and a mask of the range's bits in it.
    @inline(__always)
    private static func forEachWord(of range: Range<Int>, _ body: (Int, UInt64) -> Void) {
        guard let last = range.last else { return }
        let (firstWord, lastWord) = (range.lowerBound >> 6, last >> 6)
        let head: UInt64 = .max << UInt64(range.lowerBound & 63)
        let tail: UInt64 = .max >> UInt64(63 - last & 63)
        guard firstWord < lastWord else { return body(firstWord, head & tail) }
        body(firstWord, head)
        for index in (firstWord + 1)..<lastWord { body(index, .max) }
        body(lastWord, tail)
    }
}

/// Sets the bit of each word for which the predicate holds.
///
/// - Parameter bits: At least one bit per word; the first ones must be zero.
@inline(__always)
func setBits(
    of values: Span<UInt64>, in bits: inout BitVector, where holds: (UInt64) -> Bool
) {
    precondition(values.count <= bits.count, "a bit for each word")
    var start = 0
    while start < values.count {
        let end = min(start + 64, values.count)
        var word: UInt64 = 0
        var bit: UInt64 = 1
        for index in start..<end {
            word |= holds(values[index]) ? bit : 0
            bit &<<= 1
        }
        bits.words[start >> 6] |= word
        start = end
    }
}
