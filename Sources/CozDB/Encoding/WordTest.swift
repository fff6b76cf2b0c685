// Tests of stored words, made of many at a time: the answer is a bit for each.

/// What is asked of the words of one column.
protocol WordTest {
    /// Makes the first bits say which words pass; the others stay as they are.
    ///
    /// - Parameter bits: at least as many as there are words; the first of them are zero.
    mutating func select(_ words: Span<UInt64>, into bits: inout BitVector)

    /// The same test of the digits that stand for floats with so many decimals; nil where floats
    /// are not compared.
    func ofDigits(exponent: Int) -> NumberTest?
}

extension WordTest {
    func ofDigits(exponent: Int) -> NumberTest? { nil }
}

/// Whether numbers lie inside of bounds, both included, or outside. NaN lies outside of all.
enum NumberTest: WordTest, Equatable, Sendable {
    case integers(ClosedRange<Int64>, inside: Bool)
    case floats(ClosedRange<Double>, inside: Bool)
    /// Integers, compared as the doubles they are nearest to.
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

    /// Floats ascend with their digits, so that bounds of the ones are bounds of the others.
    func ofDigits(exponent: Int) -> NumberTest? {
        guard case .floats(let bounds, let inside) = self else { return nil }
        let first = leastDigits(exponent: exponent) { $0 >= bounds.lowerBound }
        let behind = leastDigits(exponent: exponent) { $0 > bounds.upperBound }
        guard first < behind else {
            // No digits give a float between the bounds.
            return .integers(.min ... .max, inside: !inside)
        }
        return .integers(first...(behind - 1), inside: inside)
    }

    /// What statistics say of all values of a block; nil where they pass in part, as far as is
    /// known.
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
            // One NaN makes the sum one.
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
