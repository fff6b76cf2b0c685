// One day of one participant: its slots as columns, and what is said of a vital sign in it.

internal import CozDB

/// A day with the rows of its slots.
struct SummaryDay {
    let date: LocalDate
    let zone: TimeZoneRules
    /// Whether it ended before the clock of the request.
    let isOver: Bool
    /// Rows of the day in `rows`.
    let range: Range<Int>
    let rows: SummaryRows

    /// The number of the day since 1970-01-01: the same whatever days are asked for. (In the
    /// documentation's examples two days that follow each other have 1 and 2.)
    var id: Int { date.dayNumber }

    func start(_ row: Int) -> LocalTime { LocalTime(rows.times[row], in: zone) }

    /// The values of a column with their rows, without nulls.
    func values(_ column: Int) -> [(row: Int, value: Double)] {
        let values = rows.columns[column]
        return range.compactMap { row in values[row].map { (row, $0) } }
    }
}

extension SummaryReader {
    /// The days of a participant. A slot belongs to the day it begins in, the first one to the
    /// first day.
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

/// Average, last and largest of a day; zero for a day without values, as the bracelet's app has.
struct VitalSign {
    var average = 0.0
    var last = 0.0
    var maximum = 0.0

    init() {}

    init(average: Double, last: Double, maximum: Double) {
        (self.average, self.last, self.maximum) = (average, last, maximum)
    }

    /// Of the slots of a day.
    init(_ values: [Double]) {
        guard let last = values.last, let maximum = values.max() else { return }
        average = values.reduce(0, +) / Double(values.count)
        (self.last, self.maximum) = (last, maximum)
    }
}

extension Double {
    /// The nearest whole number, halves away from zero; what no `Int` can hold is its end.
    var rounded: Int {
        if isNaN { return 0 }
        return Int(exactly: rounded(.toNearestOrAwayFromZero)) ?? (self < 0 ? .min : .max)
    }

    /// The whole number towards zero.
    var truncated: Int {
        if isNaN { return 0 }
        return Int(exactly: rounded(.towardZero)) ?? (self < 0 ? .min : .max)
    }
}
