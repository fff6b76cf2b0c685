// One day of one participant: its slots, and the statistics of a vital sign.

internal import CozDB

/// A day and the rows of its slots.
struct SummaryDay {
    let date: LocalDate
    let zone: TimeZoneRules
    /// Whether the day ended at or before `SummaryRequest.now`.
    let isOver: Bool
    /// The rows of this day within `rows`.
    let range: Range<Int>
    let rows: SummaryRows

    /// Days since 1970-01-01, so it does not depend on the requested days. (In the documentation's
    /// examples two consecutive days have 1 and 2.)
    var id: Int { date.dayNumber }

    func start(_ row: Int) -> LocalTime { LocalTime(rows.times[row], in: zone) }

    /// Returns the non-null values of a column with their row numbers.
    func values(_ column: Int) -> [(row: Int, value: Double)] {
        let values = rows.columns[column]
        return range.compactMap { row in values[row].map { (row, $0) } }
    }
}

extension SummaryReader {
    /// Returns the days of a participant. A slot belongs to the day in which it begins. A slot that
    /// begins before the first day belongs to the first day.
    func days(of rows: SummaryRows) -> [SummaryDay] {
        var next = 0
        return (0..<request.dayCount).map { index in
            let first = next
            while next < rows.times.count, rows.times[next] < dayStarts[index + 1] { next += 1 }
            return SummaryDay(
                date: request.firstDay.advanced(by: index), zone: request.zone,
                isOver: dayStarts[index + 1] <= request.now.nanoseconds, range: first..<next,
                rows: rows)
        }
    }
}

/// The average, last and maximum of a day. Zeros for a day without values, as in the bracelet's
/// app.
struct VitalSign {
    var average = 0.0
    var last = 0.0
    var maximum = 0.0

    init() {}

    init(average: Double, last: Double, maximum: Double) {
        (self.average, self.last, self.maximum) = (average, last, maximum)
    }

    init(_ values: [Double]) {
        guard let last = values.last, let maximum = values.max() else { return }
        average = values.reduce(0, +) / Double(values.count)
        (self.last, self.maximum) = (last, maximum)
    }
}

extension Double {
    /// The nearest integer, half away from zero. Clamps to the range of `Int`; 0 for NaN.
    var rounded: Int {
        if isNaN { return 0 }
        return Int(exactly: rounded(.toNearestOrAwayFromZero)) ?? (self < 0 ? .min : .max)
    }

    /// The integer part. Clamps to the range of `Int`; 0 for NaN.
    var truncated: Int {
        if isNaN { return 0 }
        return Int(exactly: rounded(.towardZero)) ?? (self < 0 ? .min : .max)
    }
}
