// Extensions to InfluxQL for questions about single participants: functions of a whole series
// (previous, distance, valid_votes, windows around surveys) and groups by calendar parts and bins.
// This file declares them; SeriesExecution, SurveyWindows and DimensionValues compute them.

/// A function of one series in time order, with a value for each row.
enum SeriesFunction: Sendable {
    /// The value of a reference in the nearest earlier row that has one.
    case previous(Int)
    /// The distance in meters from the nearest earlier row that has both coordinates.
    case distance(latitude: Int, longitude: Int)
    /// The reference's value, if it comes more than the gap after the last value kept.
    case validVotes(Int, gap: Int64)
    case window(SurveyWindow)

    /// The functions without OVER, each with an example call.
    static let examples: [String: String] = [
        "previous": "previous(ws_survey_count)",
        "distance": "distance(ts_latitude, ts_longitude)",
        "valid_votes": "valid_votes(ws_survey_count, 55m)",
    ]

    /// Returns the range extended by what the function reads before and after it.
    func extended(_ range: TimeRange) -> TimeRange {
        var range = range
        if case .window(let window) = self {
            range.lower = range.lower.addingSaturating(-window.before)
            range.upper = range.upper.addingSaturating(window.after)
        } else {
            range.lower = TimeRange.all.lower
        }
        return range.intersection(.all)
    }

    /// Whether the results are values of a reference.
    var selectsValues: Bool {
        switch self {
        case .previous, .validVotes: true
        case .distance: false
        case .window(let window):
            switch window.function {
            case .aggregate(let aggregate): aggregate.selectsValues
            case .nearest: true
            }
        }
    }

    /// The references that the function reads.
    var arguments: [Int] {
        switch self {
        case .previous(let reference), .validVotes(let reference, _): [reference]
        case .distance(let latitude, let longitude): [latitude, longitude]
        case .window(let window): [window.anchor]
        }
    }
}

/// An aggregate of the values around each value of an anchor field.
struct SurveyWindow: Sendable {
    enum Function: Sendable {
        case aggregate(Aggregate)
        /// The value nearest in time.
        case nearest
    }

    /// The functions that accept OVER.
    static let functions = [
        "count", "sum", "mean", "median", "min", "max", "stddev", "spread", "first", "last",
        "mode", "percentile", "nearest",
    ]

    var function: Function
    var argument: Int
    /// The parameter of percentile.
    var parameter = 0.0
    /// The distance in nanoseconds from the window's exclusive start to the anchor.
    var before: Int64
    /// The distance in nanoseconds from the anchor to the window's inclusive end.
    var after: Int64
    var anchor: Int
}

/// A function that computes a group from the time of a row or from a number.
enum DimensionFunction: Sendable {
    case calendar(CalendarPart)
    /// The lower edge of the bin of a reference's value.
    case bin(Int, BinWidth)
}

/// A part of the local date and time that forms groups.
enum CalendarPart: String, CaseIterable, Sendable {
    case hourOfDay = "hour_of_day"
    /// The ISO 8601 weekday; Monday is 1.
    case dayOfWeek = "day_of_week"
    case date, month
}

extension MathFunction {
    /// Whether the function is an extension to InfluxQL. Aggregates accept only these.
    var isExtension: Bool { self == .coalesce || self == .delay }
}

extension Call {
    /// Whether the call yields a value for each row of a series and needs the whole series for it.
    var isSeriesFunction: Bool { window != nil || SeriesFunction.examples[name] != nil }

    /// The call as error messages name it.
    var shownName: String { window == nil ? "\(name)()" : "\(name)() OVER (...)" }
}
