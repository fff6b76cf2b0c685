// Reads sleep spans from a database: one per slot with a sleep type, or one per row with the
// minutes of a stage.

internal import CozDB

/// Reads the sleep spans around the requested days.
struct SleepSource {
    private static let second: Int64 = 1_000_000_000
    private static let day: Int64 = 24 * 3_600 * second
    /// The maximum length of a stage. Longer ones are invalid and ignored.
    private static let minutesMax = 1_440.0

    private static let stages: [(metric: SummaryMetric, stage: SleepStage)] = [
        (.sleepLight, .light), (.sleepDeep, .deep), (.sleepREM, .rem), (.sleepAwake, .awake),
        (.sleepUnspecified, .unspecified), (.sleepInBed, .inBed),
    ]

    private let fields: SummaryFields
    private let reader: SummaryReader

    init(_ fields: SummaryFields, _ reader: SummaryReader) {
        self.fields = fields
        self.reader = reader
    }

    func spans() throws(DatabaseError) -> [(participant: String, spans: [SleepSpan])] {
        // Keep away from the ends of the time range, so that adding minutes or offsets cannot
        // overflow.
        let margin = 10 * SleepSource.day
        let lower = max(reader.dayStarts[0], Timestamp.min.nanoseconds + margin)
        let upper = min(
            reader.dayStarts[reader.request.dayCount], Timestamp.max.nanoseconds - margin)
        // Far enough to see all of a session that ends on a requested day, and whether it is longer
        // than a session may be. A stage that began earlier hides a day, and then an interruption.
        let around =
            2 * SleepSource.day + Int64(reader.request.sleepGapSeconds) * SleepSource.second
        let range = TimeRange(
            lower: lower - SleepTimeline.sessionLengthMax - around, upper: upper + around)
        if let names = fields[.sleepType]?.groups.first { return try slots(names, range) }
        return try rows(range)
    }

    private func slots(
        _ names: [String], _ range: TimeRange
    ) throws(DatabaseError) -> [(participant: String, spans: [SleepSpan])] {
        let seconds = reader.request.slotSeconds(of: .sleep)
        let rows = try reader.slots(
            [SummaryColumn(function: "mode", fields: names)], seconds: seconds,
            from: range.lower, to: range.upper)
        let length = Int64(seconds) * SleepSource.second
        let zone = reader.request.zone
        return rows.map { one in
            let spans = zip(one.times, one.columns[0]).compactMap { time, type in
                type.flatMap { SleepStage(sleepType: $0) }.map { stage in
                    let end = zone.bucket(at: time, interval: length).end
                    return SleepSpan(start: time, end: end, stage: stage)
                }
            }
            return (one.participant, spans)
        }
    }

    private func rows(
        _ range: TimeRange
    ) throws(DatabaseError) -> [(participant: String, spans: [SleepSpan])] {
        var columns: [SummaryColumn] = []
        var stages: [SleepStage] = []
        for (metric, stage) in SleepSource.stages {
            guard let names = fields[metric]?.groups.first else { continue }
            columns.append(SummaryColumn(fields: names))
            stages.append(stage)
        }
        let rows = try reader.values(columns, from: range.lower, to: range.upper)
        return rows.map { one in
            var spans: [SleepSpan] = []
            for (column, stage) in zip(one.columns, stages) {
                for (time, minutes) in zip(one.times, column) {
                    guard let minutes, minutes > 0, minutes <= SleepSource.minutesMax else {
                        continue
                    }
                    // Rounded: 4.1 minutes are 246 s, though not as a product of doubles.
                    let length = Int64((minutes * 60 * Double(SleepSource.second)).rounded())
                    spans.append(SleepSpan(start: time, end: time + length, stage: stage))
                }
            }
            return (one.participant, spans)
        }
    }
}

extension SummaryReader {
    /// Returns the local day of a time, or nil if the time is outside the requested days.
    func date(of nanoseconds: Int64) -> LocalDate? {
        guard nanoseconds >= dayStarts[0], nanoseconds < dayStarts[request.dayCount] else {
            return nil
        }
        return request.zone.date(at: Timestamp(nanoseconds: nanoseconds))
    }
}
