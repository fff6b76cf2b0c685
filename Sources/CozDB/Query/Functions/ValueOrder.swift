// The order of values for selectors.

/// Comparisons that order NaN last in both directions, so that it is never an extreme.
extension Double {
    func precedes(_ other: Double) -> Bool { self < other || (other.isNaN && !isNaN) }

    func exceeds(_ other: Double) -> Bool { self > other || (other.isNaN && !isNaN) }
}

/// Comparisons of values as stored. Strings, whose codes have no order, are never extremes.
extension FieldType {
    func precedes(_ left: UInt64, _ right: UInt64) -> Bool {
        switch self {
        case .float: Double(bitPattern: left).precedes(Double(bitPattern: right))
        case .integer, .boolean: Int64(bitPattern: left) < Int64(bitPattern: right)
        case .string: false
        }
    }

    func exceeds(_ left: UInt64, _ right: UInt64) -> Bool {
        guard self == .float else { return precedes(right, left) }
        return Double(bitPattern: left).exceeds(Double(bitPattern: right))
    }
}
