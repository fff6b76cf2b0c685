// What studies ask of single participants and InfluxQL has no words for: functions of a whole
// series (previous, distance, valid_votes, windows around surveys) and groups by parts of the
// calendar and by bins. What they are; how they are computed is in SeriesExecution,
// SurveyWindows and DimensionValues.

/// A function of one series in the order of time: a value for each of its rows.
enum SeriesFunction: Sendable {
    /// The value of a reference in the nearest earlier row that has one.
    case previous(Int)
    /// Metres from the nearest earlier row that has both.
    case distance(latitude: Int, longitude: Int)
    /// The reference's value where it comes more than the gap after the last one kept.
    case validVotes(Int, gap: Int64)
    case window(SurveyWindow)

    /// Names of calls without OVER, with how they are written.
    static let examples: [String: String] = [
        "previous": "previous(ws_survey_count)",
        "distance": "distance(ts_latitude, ts_longitude)",
        "valid_votes": "valid_votes(ws_survey_count, 55m)",
    ]

    /// A range with what lies before and behind it that the function looks at.
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

    /// The references that it reads in the rows of the series.
    var arguments: [Int] {
        switch self {
        case .previous(let reference), .validVotes(let reference, _): [reference]
        case .distance(let latitude, let longitude): [latitude, longitude]
        case .window(let window): [window.anchor]
        }
    }
}

/// An aggregate of the values around each value of another field.
struct SurveyWindow: Sendable {
    enum Function: Sendable {
        case aggregate(Aggregate)
        /// The value nearest in time.
        case nearest
    }

    /// What can stand before OVER.
    static let functions = [
        "count", "sum", "mean", "median", "min", "max", "stddev", "spread", "first", "last",
        "mode", "percentile", "nearest",
    ]

    var function: Function
    var argument: Int
    /// Of percentile.
    var parameter = 0.0
    /// Nanoseconds from the time of the anchor back to before the first value...
    var before: Int64
    /// ... and on to the last one, which is part of the window.
    var after: Int64
    var anchor: Int
}

/// A group that a row belongs to by its time or by a number.
enum DimensionFunction: Sendable {
    case calendar(CalendarPart)
    /// The lower edge of the bin in which a reference's value lies.
    case bin(Int, BinWidth)
}

/// What of the local date and clock makes a group.
enum CalendarPart: String, CaseIterable, Sendable {
    case hourOfDay = "hour_of_day"
    /// Monday is 1, as in ISO 8601.
    case dayOfWeek = "day_of_week"
    case date, month
}

extension MathFunction {
    /// Whether InfluxQL does not know it: then aggregates take it, which they do of no other.
    var isOwn: Bool { self == .coalesce || self == .delay }
}

extension Call {
    /// Whether it has a value for each row of a series, and needs the series as a whole for it.
    var isSeriesFunction: Bool { window != nil || SeriesFunction.examples[name] != nil }

    /// How messages call it.
    var shownName: String { window == nil ? "\(name)()" : "\(name)() OVER (...)" }
}
