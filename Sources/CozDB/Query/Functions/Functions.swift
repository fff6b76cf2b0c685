// The functions of the language by kind: what they take and what type they give.

/// Functions of one row: they are computed wherever an expression is.
enum MathFunction: String, CaseIterable, Sendable {
    case abs, acos, asin, atan, atan2, ceil, cos, exp, floor, ln, log, log2, log10, pow, round
    case sin, sqrt, tan
    /// The first of its arguments that is not null.
    case coalesce
    /// From the time of the row to the moment that a field names.
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

/// Functions of many rows.
enum Aggregate: String, CaseIterable, Sendable {
    case count, sum, mean, min, max, first, last, spread, stddev
    case median, mode, percentile, distinct, integral, sample, top, bottom
    /// `count(distinct x)`
    case countDistinct = "count_distinct"
    /// From the last value until now.
    case age

    /// Whether its answer is a point that was stored.
    var isSelector: Bool {
        switch self {
        case .first, .last, .min, .max, .percentile, .sample, .top, .bottom, .age: true
        default: false
        }
    }

    /// Whether its answer is about the last point of all.
    var isOfLast: Bool { self == .last || self == .age }

    /// Whether it can have several rows for one bucket, and so takes part in no fill().
    var hasManyRows: Bool {
        switch self {
        case .distinct, .sample, .top, .bottom: true
        default: false
        }
    }

    /// Whether a count, sum and the like suffice, so that values need not be kept.
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

/// How `age()` counts.
struct Age {
    let now: Int64
    /// Nanoseconds, above 0.
    let unit: Int64

    /// Whole units from a time until now; negative for a time to come.
    func value(_ time: Int64) -> Int64 { now.addingSaturating(time == .min ? .max : -time) / unit }
}

/// Functions of neighbouring points.
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

    /// Buckets before the range that its first result needs.
    var extraBuckets: Int64 {
        switch self {
        case .cumulativeSum, .holtWinters: 0
        // One also for averages over a longer window or period: so does InfluxDB.
        default: 1
        }
    }

    /// Whether it reads the times of points alone, so that their values can be of any type.
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
