// Vectorized predicates on stored words. The result is one bit per word.

/// A predicate on the words of one column.
protocol WordPredicate {
    /// Sets the bit of each word that passes. Leaves the bits after the words unchanged.
    ///
    /// - Parameter bits: At least one bit per word; the first ones must be zero.
    mutating func select(_ words: Span<UInt64>, into bits: inout BitVector)

    /// Returns the equivalent predicate on the digits of decimals with this exponent; nil if it
    /// does not compare floats.
    func onDigits(exponent: Int) -> NumberPredicate?
}

extension WordPredicate {
    func onDigits(exponent: Int) -> NumberPredicate? { nil }
}

/// Whether a number is inside or outside inclusive bounds. NaN is always outside.
enum NumberPredicate: WordPredicate, Equatable, Sendable {
    case integers(ClosedRange<Int64>, inside: Bool)
    case floats(ClosedRange<Double>, inside: Bool)
    /// Integers, compared after conversion to the nearest double.
    case integersAsFloats(ClosedRange<Double>, inside: Bool)

    func select(_ words: Span<UInt64>, into bits: inout BitVector) {
        switch self {
        case .integers(let bounds, let inside):
            let lower = UInt64(bitPattern: bounds.lowerBound)
            let span = UInt64(bitPattern: bounds.upperBound) &- lower
            setBits(of: words, in: &bits) { ($0 &- lower <= span) == inside }
        case .floats(let bounds, let inside):
            let (lower, upper) = (bounds.lowerBound, bounds.upperBound)
            setBits(of: words, in: &bits) {
                let value = Double(bitPattern: $0)
                return (lower <= value && value <= upper) == inside
            }
        case .integersAsFloats(let bounds, let inside):
            let (lower, upper) = (bounds.lowerBound, bounds.upperBound)
            setBits(of: words, in: &bits) {
                let value = Double(Int64(bitPattern: $0))
                return (lower <= value && value <= upper) == inside
            }
        }
    }

    /// Returns whether all values of a block pass or fail by its statistics; nil if undecided.
    func verdict(on summary: ColumnSummary) -> Bool? {
        let (lower, upper): (Bool, Bool)
        let (isDisjoint, mayBeNaN): (Bool, Bool)
        switch (self, summary.type) {
        case (.integers(let bounds, _), .integer):
            let (min, max) = (Int64(bitPattern: summary.min), Int64(bitPattern: summary.max))
            (lower, upper) = (bounds.contains(min), bounds.contains(max))
            (isDisjoint, mayBeNaN) = (max < bounds.lowerBound || min > bounds.upperBound, false)
        case (.floats(let bounds, _), .float):
            let (min, max) = (Double(bitPattern: summary.min), Double(bitPattern: summary.max))
            (lower, upper) = (bounds.contains(min), bounds.contains(max))
            isDisjoint = !(max >= bounds.lowerBound && min <= bounds.upperBound)
            // A NaN value makes the sum NaN.
            mayBeNaN = Double(bitPattern: summary.sum).isNaN
        case (.integersAsFloats(let bounds, _), .integer):
            let min = Double(Int64(bitPattern: summary.min))
            let max = Double(Int64(bitPattern: summary.max))
            (lower, upper) = (bounds.contains(min), bounds.contains(max))
            (isDisjoint, mayBeNaN) = (max < bounds.lowerBound || min > bounds.upperBound, false)
        default: return nil
        }
        if isDisjoint { return !isInside }
        return lower && upper && !mayBeNaN ? isInside : nil
    }

    private var isInside: Bool {
        switch self {
        case .integers(_, let inside), .floats(_, let inside), .integersAsFloats(_, let inside):
            inside
        }
    }
}
