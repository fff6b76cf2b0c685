// Bins of numbers: their width and the lower edge of the bin of a value.

/// A bin width as the decimal number in the statement. `0.1` is stored as 1 / 10, so edges are the
/// doubles nearest to 0.1, 0.2 and 0.3 rather than multiples of the double 0.1.
struct BinWidth: Sendable {
    /// The width is `units / scale`, both integers.
    private let units: Double
    private let scale: Double
    private let whole: Int64?

    /// Creates a width; nil if the literal is not a positive number.
    init?(_ literal: Expression) {
        switch literal {
        case .integer(let value) where value > 0:
            (units, scale, whole) = (Double(value), 1, value)
        case .number(let value) where value > 0 && value.isFinite:
            var (units, scale) = (value, 1.0)
            // Find the power of ten that makes the value an integer without changing its digits.
            while units != units.rounded(), scale < 1e15 {
                scale *= 10
                let scaled = (value * scale).rounded()
                units = scaled / scale == value ? scaled : value * scale
            }
            if units != units.rounded() { (units, scale) = (value, 1) }
            (self.units, self.scale, whole) = (units, scale, nil)
        default: return nil
        }
    }

    private func edge(_ number: Double) -> Double { number * units / scale }

    /// Returns the lower edge of each value's bin; null for null and for values other than numbers.
    func edges(_ vector: ResultVector) -> ResultVector {
        var result = vector
        switch vector.type {
        case .integer?:
            if let whole {
                for row in result.bits.indices {
                    let edge = BinWidth.edge(Int64(bitPattern: vector.bits[row]), whole)
                    result.bits[row] = UInt64(bitPattern: edge)
                }
                return result
            }
            return edges(vector.cast(to: .float))
        case .float?:
            for row in result.bits.indices where vector.isPresent[row] {
                let value = Double(bitPattern: vector.bits[row])
                result.bits[row] = lowerEdge(value).bitPattern
                if value.isNaN { result.isPresent[row] = false }
            }
            return result
        default: return .constant(nil, count: vector.count)
        }
    }

    private static func edge(_ value: Int64, _ width: Int64) -> Int64 {
        let remainder = value % width
        let edge = value - remainder
        // The edge saturates at the minimum integer.
        return remainder < 0 ? edge.addingSaturating(-width) : edge
    }

    private func lowerEdge(_ value: Double) -> Double {
        guard value.isFinite else { return value }
        var number = (value / units * scale).rounded(.down)
        // Rounding may place a value that is an edge into the previous bin.
        if edge(number + 1) <= value { number += 1 }
        if edge(number) > value { number -= 1 }
        let found = edge(number)
        return found == 0 ? 0 : found.isFinite ? found : value
    }
}
