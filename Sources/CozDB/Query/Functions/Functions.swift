// The functions of the query language by kind, with their argument and result types.

/// Scalar functions, usable in any expression.
enum MathFunction: String, CaseIterable, Sendable {
    case abs, acos, asin, atan, atan2, ceil, cos, exp, floor, ln, log, log2, log10, pow, round
    case sin, sqrt, tan
    /// The first argument that is not null.
    case coalesce
    /// The span from the time of the row to a time stored in a field.
    case delay

    var argumentCount: ClosedRange<Int> {
        switch self {
        case .atan2, .pow, .log: 2...2
        case .delay: 1...2
        case .coalesce: 2...100
        default: 1...1
        }
    }
}

/// Aggregate functions over many rows.
enum Aggregate: String, CaseIterable, Sendable {
    case count, sum, mean, min, max, first, last, spread, stddev
    case median, mode, percentile, distinct, integral, sample, top, bottom
    /// `count(distinct x)`.
    case countDistinct = "count_distinct"
    /// The span from the last value until now.
    case age

    /// Whether the result is a stored point.
    var isSelector: Bool {
        switch self {
        case .first, .last, .min, .max, .percentile, .sample, .top, .bottom, .age: true
        default: false
        }
    }

    /// Whether the results are values of the argument.
    var selectsValues: Bool { isSelector || self == .distinct || self == .mode }

    /// Whether the result depends only on the last point.
    var usesOnlyLastPoint: Bool { self == .last || self == .age }

    /// Whether a bucket may have several result rows, so that fill() does not apply.
    var hasManyRows: Bool {
        switch self {
        case .distinct, .sample, .top, .bottom: true
        default: false
        }
    }

    /// Whether running statistics such as count and sum suffice, without keeping the values.
    var isSimple: Bool {
        switch self {
        case .count, .sum, .mean, .min, .max, .first, .last, .spread, .stddev, .age: true
        default: false
        }
    }

    func accepts(_ type: FieldType) -> Bool {
        switch self {
        case .count, .first, .last, .distinct, .mode, .sample, .countDistinct, .age: true
        case .min, .max: type != .string
        default: type == .float || type == .integer
        }
    }

    func resultType(of type: FieldType?) -> FieldType? {
        switch self {
        case .count, .countDistinct, .age: .integer
        case .mean, .median, .stddev, .integral: .float
        default: type
        }
    }
}

/// The parameters of `age()`.
struct Age {
    let now: Int64
    /// The unit in nanoseconds; positive.
    let unit: Int64

    /// Returns the whole units from a time until now; negative for a future time.
    func value(_ time: Int64) -> Int64 { now.units(of: unit, since: time) }
}

/// Functions of adjacent points.
enum Transformation: Sendable {
    case derivative(unit: Int64, nonNegative: Bool)
    case difference(nonNegative: Bool)
    case elapsed(unit: Int64)
    case movingAverage(Int)
    case cumulativeSum
    case technical(TechnicalFunction)
    case holtWinters(HoltWinters)

    static let names: Set<String> = [
        "derivative", "non_negative_derivative", "difference", "non_negative_difference",
        "elapsed", "moving_average", "cumulative_sum",
    ]

    /// The number of buckets before the range that the first result needs.
    var extraBuckets: Int64 {
        switch self {
        case .cumulativeSum, .holtWinters: 0
        // InfluxDB reads one bucket even for a longer window or period.
        default: 1
        }
    }

    /// Whether the function reads only the times of points and so accepts values of any type.
    var takesAnyType: Bool {
        if case .elapsed = self { true } else { false }
    }

    func resultType(of type: FieldType?) -> FieldType? {
        switch self {
        case .elapsed: .integer
        case .derivative, .movingAverage, .technical, .holtWinters: .float
        case .difference, .cumulativeSum: type
        }
    }
}
