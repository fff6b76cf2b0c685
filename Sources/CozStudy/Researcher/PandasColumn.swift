// What decides how pandas spells a column of numbers: which kinds of numbers the whole of it has.

internal import CozDB

/// What a column holds in all rows of an answer.
///
/// InfluxDB answers whole floats without a point, so that Python reads them as integers. A column
/// of integers alone stays one (`74`); with a null or a fraction in it, it becomes a column of
/// floats (`74.0`), in which integers beyond 2^53 lose digits; with integers beyond 64 bits, or
/// beyond 63 beside negative ones, it becomes one of Python's objects, each printed as it is.
///
/// Source: pandas' `maybe_convert_objects`, by way of all 255 combinations of these kinds.
struct PandasColumn {
    /// Whether any value is there; pandas drops a column without one.
    private(set) var hasValue = false
    private var hasNull = false
    private var hasFraction = false
    private var hasNegative = false
    private var isBeyondInt64 = false
    private var isBeyondUInt64 = false

    /// Whether its numbers are printed as floats; else each as InfluxDB answers it.
    var isOfFloats: Bool {
        (hasNull || hasFraction) && !isBeyondUInt64 && !(isBeyondInt64 && hasNegative)
    }

    /// Takes in further rows.
    mutating func add(_ vector: ResultVector) {
        // What was found once need not be found again.
        if hasValue && hasNull && vector.type != .float { return }
        for row in 0..<vector.count {
            if vector.isNull(row) {
                hasNull = true
            } else if vector.type == .float {
                add(Double(bitPattern: vector.bits(row)))
            } else {
                hasValue = true
            }
        }
    }

    private mutating func add(_ value: Double) {
        if value.isNaN {
            hasNull = true
            return
        }
        hasValue = true
        guard PandasText.isAnsweredAsInteger(value) else {
            hasFraction = true
            return
        }
        // The digits that stand for 2^63 and -2^63 are 192 too many.
        if value >= 0x1p64 || value <= -0x1p63 {
            isBeyondUInt64 = true
        } else if value >= 0x1p63 {
            isBeyondInt64 = true
        } else if value < 0 {
            hasNegative = true
        }
    }
}
