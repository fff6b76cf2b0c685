// Bins of numbers: how wide they are, and where the one begins in which a value lies.

/// The width of a bin as the decimal number that was written: `0.1` is 1 / 10, so that edges are
/// the doubles nearest to 0.1, 0.2, 0.3 and not to sums of the double 0.1.
struct BinWidth: Sendable {
    /// width = units / scale, both whole numbers.
    private let units: Double
    private let scale: Double
    private let whole: Int64?

    /// Nil where the literal is no number above 0.
    init?(_ literal: Expression) {
        switch literal {
        case .integer(let value) where value > 0:
            (units, scale, whole) = (Double(value), 1, value)
        case .number(let value) where value > 0 && value.isFinite:
            var (units, scale) = (value, 1.0)
            // What a power of ten makes whole without a change of its digits.
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

    /// The lower edge of the bin of each value; null for null and for what is no number.
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
        // Below the smallest integer there is no edge.
        return remainder < 0 ? edge.addingSaturating(-width) : edge
    }

    private func lowerEdge(_ value: Double) -> Double {
        guard value.isFinite else { return value }
        var number = (value / units * scale).rounded(.down)
        // Rounding can put a value that is an edge into the bin before it.
        if edge(number + 1) <= value { number += 1 }
        if edge(number) > value { number -= 1 }
        let found = edge(number)
        return found == 0 ? 0 : found.isFinite ? found : value
    }
}
