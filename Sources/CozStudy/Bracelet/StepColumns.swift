// Maps step metrics to the columns of a statement and reads its result rows.

internal import CozDB

/// The columns of a statement about steps.
struct StepColumns {
    private(set) var columns: [SummaryColumn] = []
    private var places: [SummaryMetric: (range: Range<Int>, source: MetricSource)] = [:]

    init(_ kind: SummaryKind, _ fields: SummaryFields) {
        for metric in kind.metrics {
            guard let source = fields[metric] else { continue }
            let function =
                switch metric {
                case .speed: "mean"
                case .activityType: "mode"
                case .workouts: "count"
                default: "sum"
                }
            let first = columns.count
            columns += source.groups.map { SummaryColumn(function: function, fields: $0) }
            places[metric] = (first..<columns.count, source)
        }
    }

    func row(_ row: Int, of day: SummaryDay) -> StepRow {
        func value(_ metric: SummaryMetric) -> Double {
            guard let (range, source) = places[metric] else { return 0 }
            let values = range.compactMap { day.rows.columns[$0][row] }
            let value =
                switch source.combination {
                case .largest: values.max() ?? 0
                case .sum: values.reduce(0, +)
                }
            return value / source.divisor
        }
        return StepRow(
            start: day.start(row), steps: value(.steps), energy: value(.energy),
            speed: value(.speed), activityType: value(.activityType), workouts: value(.workouts))
    }
}
