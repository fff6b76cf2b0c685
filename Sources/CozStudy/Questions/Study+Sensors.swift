// Questions about phone and watch data: silence, availability, intervals and delays.

public import CozDB

extension Study {
    /// Returns the time since each participant's last entry, for responses and each modality.
    /// Ignores entries after `QueryOptions.now`, so the silence is never negative. It is nil if
    /// there is no entry up to now.
    ///
    /// - Throws: `io`, `damaged`, `cancelled`, `limitExceeded` (also if the answer would exceed
    ///   1,000,000 rows).
    public func silence() throws(DatabaseError) -> StudyAnswer<LastEntry> {
        let fields = modalities
        guard let statement = statement(of: .silence) else {
            return StudyAnswer(note: noModalitiesNote)
        }
        let rowCount = participants.count * fields.count
        guard rowCount <= Study.rowCountMax else {
            throw DatabaseError(
                .limitExceeded,
                "found \(rowCount) rows, one for each of \(participants.count) participants and "
                    + "\(fields.count) fields, expected at most \(Study.rowCountMax); choose fewer "
                    + "fields or participants", remedy: .change([.modalities, .participant]))
        }
        var ages: [[UInt8]: [Int64?]] = [:]
        for series in try ask(statement) {
            guard series.rowCount > 0 else { continue }
            ages[Array((series.header.tags.first?.value ?? "").utf8)] = series.columns.dropFirst()
                .map { $0.integers[0] }
        }
        var rows: [LastEntry] = []
        var lastTimes: [Int: [[UInt8]: Int64]] = [:]
        let now = options.query.currentTime.nanoseconds
        for participant in participants {
            let key = Array(participant.participant.utf8)
            for (index, field) in fields.enumerated() {
                let age = ages[key]?[index]
                var last = age.map { now.subtractingReportingOverflow($0).partialValue }
                if age == .max {
                    // An age has at most 292 years.
                    if lastTimes[index] == nil { lastTimes[index] = try self.lastTimes(of: field) }
                    last = lastTimes[index]?[key]
                }
                rows.append(
                    LastEntry(
                        participant: participant.participant, field: field,
                        last: last.map { Timestamp(nanoseconds: $0) }, silence: age))
            }
        }
        return StudyAnswer(
            statement: statement, rows: rows, note: ages.isEmpty ? nothing : nil)
    }

    /// The time of the last value of a field up to now, by participant.
    private func lastTimes(of field: String) throws(DatabaseError) -> [[UInt8]: Int64] {
        var times: [[UInt8]: Int64] = [:]
        for series in try ask(statements.last(field)) where series.rowCount > 0 {
            let participant = series.header.tags.first?.value ?? ""
            times[Array(participant.utf8)] = series.columns[0].integers[0]
        }
        return times
    }

    /// Returns the number of values per participant, modality and local day.
    ///
    /// - Throws: the errors of `silence`.
    public func availability() throws(DatabaseError) -> StudyAnswer<DailyAvailability> {
        let fields = modalities
        guard let statement = statement(of: .availability) else {
            return StudyAnswer(note: noModalitiesNote)
        }
        try checkDays(of: fields.count)
        let counted = try daily(statement, fields)
        var rows: [DailyAvailability] = []
        for participant in participants {
            guard let days = days(of: participant) else { continue }
            let name = participant.participant
            let counts = days.map { counted[name, $0] }
            for (index, field) in fields.enumerated() {
                for (day, count) in zip(days, counts) {
                    rows.append(
                        DailyAvailability(
                            participant: name, field: field, day: day, count: count?[index] ?? 0))
                }
            }
        }
        return StudyAnswer(
            statement: statement, rows: rows, note: rows.isEmpty ? nothing : nil)
    }

    /// Returns statistics of the time between consecutive values of a participant, per modality.
    /// Covers all participants together, or each one with `StudyOptions.isByParticipant`.
    ///
    /// - Throws: the errors of `silence`, without the row limit.
    public func intervals() throws(DatabaseError) -> StudyAnswer<IntervalStatistics> {
        let fields = modalities
        guard let statement = statement(of: .interval) else {
            return StudyAnswer(note: noModalitiesNote)
        }
        var rows: [IntervalStatistics] = []
        for (series, field, numbers) in try statistics(statement, fields, 4) {
            rows.append(
                IntervalStatistics(
                    participant: options.isByParticipant ? series.header.tags.first?.value : nil,
                    field: field, count: Int(numbers[0]), median: numbers[1] / 1_000,
                    p90: numbers[2] / 1_000, max: numbers[3] / 1_000))
        }
        return StudyAnswer(
            statement: statement, rows: rows,
            note: rows.isEmpty ? "no field has two values in this time range" : nil)
    }

    /// Returns statistics of the delay between measurement and arrival, by trigger.
    ///
    /// Without `StudyOptions.modalities` the delay is that of whole rows (`timestamp_lambda`,
    /// `timestamp_lambda_ms`, `transmit_trigger`), or of each modality if rows have no arrival
    /// time. With `StudyOptions.modalities` it is that of these fields (`<field>_lambda`,
    /// `<field>_lambda_ms`, `<field>_trigger`).
    ///
    /// - Throws: the errors of `silence`, without the row limit.
    public func delays() throws(DatabaseError) -> StudyAnswer<DelayStatistics> {
        let arrivals = self.arrivals
        guard let statement = statement(of: .delay) else {
            return StudyAnswer(note: noArrivalTimesNote)
        }
        let fields = Dictionary(arrivals.map { (Name($0.column), $0.field) }) { first, _ in first }
        var rows: [DelayStatistics] = []
        for (series, column, numbers) in try statistics(statement, arrivals.map(\.column), 6) {
            rows.append(
                DelayStatistics(
                    participant: options.isByParticipant ? series.tag(participantTag) : nil,
                    field: fields[Name(column)] ?? nil,
                    trigger: series.tag("trigger") ?? "", count: Int(numbers[0]),
                    min: numbers[1], median: numbers[2], p90: numbers[3], p99: numbers[4],
                    max: numbers[5]))
        }
        // Groups are ordered by the names of their tags: the participant's may come last.
        let order = rows.indices.sorted {
            let (left, right) = (Name(rows[$0].participant ?? ""), Name(rows[$1].participant ?? ""))
            return left == right ? $0 < $1 : left < right
        }
        let note = rows.isEmpty ? nothing : nil
        return StudyAnswer(statement: statement, rows: order.map { rows[$0] }, note: note)
    }

    // MARK: Columns

    private var noModalitiesNote: String {
        participants.isEmpty ? nothing : "experiment \"\(experiment)\" has no numeric fields"
    }

    private var noArrivalTimesNote: String {
        let columns =
            options.modalities.isEmpty
            ? "timestamp_lambda or timestamp_lambda_ms"
            : modalities.map { "\($0)_lambda or \($0)_lambda_ms" }
                .joined(separator: ", ")
        return "experiment \"\(experiment)\" has no arrival times (\(columns)); Cozie's backend "
            + "adds them, and so does an import of payloads with enrichment"
    }

    var arrivals: [Arrival] {
        let row = Arrival(
            field: nil, column: "delay", moments: moments("timestamp_lambda"),
            trigger: text("transmit_trigger"))
        if options.modalities.isEmpty, !row.moments.isEmpty { return [row] }
        return modalities.compactMap { arrival(of: $0) }
    }

    private func arrival(of field: String) -> Arrival? {
        let moments = moments(field + "_lambda")
        guard !moments.isEmpty else { return nil }
        // The groups of the statement have these names.
        let groups = [Name("trigger"), Name(participantTag)]
        var column = field
        if groups.contains(Name(field)) {
            let others = Set(modalities.map { Name($0) })
            repeat { column += "_delay" } while others.contains(Name(column))
        }
        return Arrival(
            field: field, column: column, moments: moments,
            trigger: text(field + "_trigger") ?? text("transmit_trigger"))
    }

    /// Returns the fields that store an arrival time, milliseconds before text.
    private func moments(_ name: String) -> [String] {
        [name + "_ms", name].filter { name in
            valueCounts[Array(name.utf8)] ?? 0 > 0 && schema.field(name)?.type != .boolean
        }
    }

    private func text(_ name: String) -> String? {
        schema.field(name)?.type == .string ? name : nil
    }

    /// Returns the statistics of each field in each series. Skips fields with a count of 0.
    ///
    /// - Parameter width: the number of statistics per field, of which the first is the count.
    private func statistics(
        _ statement: String, _ fields: [String], _ width: Int
    ) throws(DatabaseError) -> [(series: QueryResult.Series, field: String, numbers: [Double])] {
        var found: [(series: QueryResult.Series, field: String, numbers: [Double])] = []
        for series in try ask(statement) where series.rowCount > 0 {
            for (index, field) in fields.enumerated() {
                // Column 0 is the time.
                let first = 1 + index * width
                let numbers = series.columns[first..<first + width].map { $0.doubles[0] ?? 0 }
                if numbers[0] > 0 { found.append((series, field, numbers)) }
            }
        }
        return found
    }
}
