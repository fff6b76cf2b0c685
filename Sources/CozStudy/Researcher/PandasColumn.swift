// Tracks the kinds of numbers in a column, which decide how pandas prints it.

internal import CozDB

/// The kinds of values in a column, over all rows of a result.
///
/// InfluxDB prints whole floats without a decimal point, so Python reads them as integers. A column
/// of only integers stays an integer column (`74`). With a null or a fraction it becomes a float
/// column (`74.0`), and integers beyond 2^53 lose digits. With integers beyond 64 bits, or beyond
/// 63 bits together with negative ones, it becomes an object column, in which each value keeps its
/// own format.
///
/// Source: pandas' `maybe_convert_objects`, verified with all 255 combinations of these kinds.
struct PandasColumn {
    /// Whether there is any value. pandas drops a column without one.
    private(set) var hasValue = false
    private var hasNull = false
    private var hasFraction = false
    private var hasNegative = false
    private var isBeyondInt64 = false
    private var isBeyondUInt64 = false

    /// Whether all numbers are printed as floats. Otherwise each is printed as in InfluxDB's
    /// response.
    var isFloatColumn: Bool {
        (hasNull || hasFraction) && !isBeyondUInt64 && !(isBeyondInt64 && hasNegative)
    }

    mutating func add(_ vector: ResultVector) {
        // Only float columns can still add information.
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
        guard PandasText.isPrintedAsInteger(value) else {
            hasFraction = true
            return
        }
        // InfluxDB prints -2^63 as -9223372036854776000 and 2^64 as 18446744073709552000, so both
        // are out of range.
        if value >= 0x1p64 || value <= -0x1p63 {
            isBeyondUInt64 = true
        } else if value >= 0x1p63 {
            isBeyondInt64 = true
        } else if value < 0 {
            hasNegative = true
        }
    }
}
