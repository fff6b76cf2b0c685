// The delay() function: the span from the time of a row to a time stored in one of its fields.

enum DelayFunction {
    /// Returns the delays of a block of rows.
    ///
    /// - Parameters:
    ///   - vector: ISO 8601 text (UTC without an offset), or milliseconds since 1970.
    ///   - times: the times of the same rows.
    ///   - unit: the unit in nanoseconds; positive.
    static func values(_ vector: ResultVector, times: [Int64], unit: Int64) -> ResultVector {
        var result = ResultVector(
            type: .float, bits: Array(repeating: 0, count: vector.count),
            isPresent: Array(repeating: false, count: vector.count))
        // Parse a repeated text only once.
        var known: (code: UInt64, moment: Int64?)?
        for row in 0..<vector.count where vector.isPresent[row] {
            let moment: Int64?
            if vector.type == .string {
                let code = vector.bits[row]
                if known?.code != code { known = (code, time(vector.text(row))) }
                moment = known?.moment
            } else {
                moment = time(vector.bits[row], vector.type)
            }
            guard let moment else { continue }
            let (delay, isOver) = moment.subtractingReportingOverflow(times[row])
            let nanoseconds = isOver ? Double(moment) - Double(times[row]) : Double(delay)
            result.bits[row] = (nanoseconds / Double(unit)).bitPattern
            result.isPresent[row] = true
        }
        return result
    }

    private static func time(_ text: String) -> Int64? {
        guard let civil = CivilTime(text) else { return nil }
        return civil.timestamp(offsetSeconds: civil.offsetSeconds ?? 0)?.nanoseconds
    }

    private static func time(_ bits: UInt64, _ type: FieldType?) -> Int64? {
        let perMillisecond: Int64 = 1_000_000
        switch type {
        case .integer?:
            let (product, isOver) = Int64(bitPattern: bits)
                .multipliedReportingOverflow(by: perMillisecond)
            return isOver ? nil : product
        case .float?:
            let value = Double(bitPattern: bits)
            let whole = value.rounded(.towardZero)
            guard let milliseconds = Int64(exactly: whole) else { return nil }
            let rest = ((value - whole) * Double(perMillisecond)).rounded()
            let (product, isOver) = milliseconds.multipliedReportingOverflow(by: perMillisecond)
            let (sum, isSumOver) = product.addingReportingOverflow(Int64(rest))
            return isOver || isSumOver ? nil : sum
        default: return nil
        }
    }
}
