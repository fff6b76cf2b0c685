// The entry point of this folder: summaries of one snapshot. One statement covers all days and
// participants. `SummaryRequest.Basis.values` needs a second one.

public import CozDB

/// The summaries of one participant, in time order.
public struct ParticipantSummaries<Summary: Sendable & Encodable>: Sendable {
    /// The participant.
    public var participant: String
    /// One summary per requested day, including days without data. For sleep, one per session.
    public var summaries: [Summary]
}

/// Computes the nine summaries of the bracelet's app from time series in a database: from the
/// bracelet's raw metrics or from Cozie data.
///
/// Each call runs one statement on the snapshot for all days (two with
/// `SummaryRequest.Basis.values`). Memory use is proportional to the number of slots.
///
/// All methods throw `notFound` for an unknown experiment, participant or field, with a suggestion;
/// `usage` for an invalid request and for fields that are not numeric; and `limitExceeded`,
/// `cancelled` and `damaged` like queries.
public struct BraceletSummaries: Sendable {
    private let snapshot: DatabaseSnapshot
    private let request: SummaryRequest

    /// Creates the summaries of a snapshot.
    ///
    /// - Parameters:
    ///   - snapshot: the data. All summaries see the same state.
    ///   - request: participants, days and rules.
    public init(_ snapshot: DatabaseSnapshot, _ request: SummaryRequest) {
        self.snapshot = snapshot
        self.request = request
    }

    /// Returns the heart rate and its zones per day.
    public func bpm() throws(DatabaseError) -> [ParticipantSummaries<BPMSummary>] {
        let seconds = request.slotSeconds(of: .bpm)
        return try vital(.bpm) { day, vital, _ in
            BPMSummary(day, vital, request.zones, slotSeconds: seconds)
        }
    }

    /// Returns the respiration rate and its quality per day.
    public func breath() throws(DatabaseError) -> [ParticipantSummaries<BreathSummary>] {
        try vital(.breath) { BreathSummary($0, $1, hasQuality: $2) }
    }

    /// Returns the skin temperature per day.
    public func skinTemperature() throws(DatabaseError)
        -> [ParticipantSummaries<SkinTemperatureSummary>]
    {
        try vital(.skinTemperature) { day, vital, _ in SkinTemperatureSummary(day, vital) }
    }

    /// Returns the body temperature per day.
    public func coreTemperature() throws(DatabaseError)
        -> [ParticipantSummaries<CoreTemperatureSummary>]
    {
        try vital(.coreTemperature) { day, vital, _ in CoreTemperatureSummary(day, vital) }
    }

    /// Returns the oxygen saturation per day.
    public func spo2() throws(DatabaseError) -> [ParticipantSummaries<SpO2Summary>] {
        try vital(.spo2) { day, vital, _ in SpO2Summary(day, vital) }
    }

    /// Returns steps with distance, energy, goal and active hours per day.
    public func steps() throws(DatabaseError) -> [ParticipantSummaries<StepsSummary>] {
        try stepDays(.steps) { StepsSummary($0, $1, request) }
    }

    /// Returns the short summary of steps, distance and energy per day.
    public func activity() throws(DatabaseError) -> [ParticipantSummaries<ActivitySummary>] {
        try stepDays(.activity) { ActivitySummary($0, $1, request) }
    }

    /// Returns the electrodermal activity per day.
    public func eda() throws(DatabaseError) -> [ParticipantSummaries<EDASummary>] {
        let reader = try SummaryReader(snapshot, request)
        let fields = try SummaryFields(.eda, of: request, in: reader.schema)
        var columns: [SummaryColumn] = []
        var places: [SummaryMetric: Int] = [:]
        for metric in SummaryMetric.emography {
            guard let names = fields[metric]?.groups.first else { continue }
            places[metric] = columns.count
            columns.append(SummaryColumn(function: EDASummary.function(metric), fields: names))
        }
        let rows = try reader.slots(
            columns, where: conditions(.eda, fields), seconds: request.slotSeconds(of: .eda))
        return rows.map { one in
            ParticipantSummaries(
                participant: one.participant,
                summaries: reader.days(of: one).map { EDASummary($0, places) })
        }
    }

    /// Returns the sleep sessions that end on the requested days. Sessions longer than 36 hours are
    /// cut at each noon.
    ///
    /// - Throws: `limitExceeded` for more than 50 million slots, which take some 3 GB.
    public func sleep() throws(DatabaseError) -> [ParticipantSummaries<SleepSummary>] {
        let reader = try SummaryReader(snapshot, request)
        let fields = try SummaryFields(.sleep, of: request, in: reader.schema)
        if request.qualityMin != nil { throw SummaryKind.sleep.noQualityError }
        let gap = Int64(request.sleepGapSeconds) * 1_000_000_000
        let slotLength = Int64(request.slotSeconds(of: .sleep)) * 1_000_000_000
        let zone = request.zone
        func day(_ time: Int64) -> Range<Int64> {
            let half: Int64 = 12 * 3_600 * 1_000_000_000
            let date = zone.date(at: Timestamp(nanoseconds: time - half))
            let next = zone.start(of: date.advanced(by: 1)).nanoseconds
            return (zone.start(of: date).nanoseconds + half)..<(next + half)
        }
        var slotCount: Int64 = 0
        var all: [ParticipantSummaries<SleepSummary>] = []
        for one in try SleepSource(fields, reader).spans() {
            var summaries: [SleepSummary] = []
            for session in SleepTimeline(one.spans).sessions(gap: gap, day: day) {
                guard let date = reader.date(of: session.sleepEnd) else { continue }
                slotCount += (session.end - session.start) / slotLength + 1
                guard slotCount <= BraceletSummaries.sleepSlotCountMax else {
                    throw DatabaseError(
                        .limitExceeded,
                        "the sleep sessions have more than \(BraceletSummaries.sleepSlotCountMax) "
                            + "slots; ask for fewer days or participants, or for longer slots")
                }
                summaries.append(SleepSummary(session, request, recordDate: date))
            }
            all.append(ParticipantSummaries(participant: one.participant, summaries: summaries))
        }
        return all
    }

    private static let sleepSlotCountMax = 50_000_000
}

extension BraceletSummaries {
    /// Computes the summaries of a single vital sign.
    ///
    /// - Parameter build: gets the day, the vital sign, and whether column 1 is its quality.
    private func vital<Summary>(
        _ kind: SummaryKind, _ build: (SummaryDay, VitalSign, Bool) -> Summary
    ) throws(DatabaseError) -> [ParticipantSummaries<Summary>] {
        let reader = try SummaryReader(snapshot, request)
        let fields = try SummaryFields(kind, of: request, in: reader.schema)
        let names = fields[kind.metric]?.groups.first ?? []
        let quality = kind.qualityMetric.flatMap { fields[$0]?.groups.first }
        var columns = [SummaryColumn(function: "mean", fields: names)]
        if let quality { columns.append(SummaryColumn(function: "mean", fields: quality)) }
        let conditions = try conditions(kind, fields)
        let slots = try reader.slots(
            columns, where: conditions, seconds: request.slotSeconds(of: kind))
        // Not all participants with a quality have values.
        var ofValues: [Name: SummaryRows] = [:]
        if request.basis == .values {
            let found = try reader.slots(
                ["mean", "last", "max"].map { SummaryColumn(function: $0, fields: names) },
                where: conditions, seconds: 86_400)
            for rows in found { ofValues[Name(rows.participant)] = rows }
        }
        return slots.map { rows in
            let byDay = ofValues[Name(rows.participant)].map { reader.days(of: $0) }
            let days = reader.days(of: rows).enumerated()
            return ParticipantSummaries(
                participant: rows.participant,
                summaries: days.map { number, day in
                    let vital =
                        switch request.basis {
                        case .values: byDay.map { VitalSign(ofDay: $0[number]) } ?? VitalSign([])
                        case .slots: VitalSign(day.values(0).map(\.value))
                        }
                    return build(day, vital, quality != nil)
                })
        }
    }

    private func stepDays<Summary>(
        _ kind: SummaryKind, _ build: (SummaryDay, [StepRow]) -> Summary
    ) throws(DatabaseError) -> [ParticipantSummaries<Summary>] {
        let reader = try SummaryReader(snapshot, request)
        let fields = try SummaryFields(kind, of: request, in: reader.schema)
        let columns = StepColumns(kind, fields)
        let rows = try reader.slots(
            columns.columns, where: conditions(kind, fields),
            seconds: request.slotSeconds(of: kind))
        return rows.map { one in
            ParticipantSummaries(
                participant: one.participant,
                summaries: reader.days(of: one).map { day in
                    build(day, day.range.map { columns.row($0, of: day) })
                })
        }
    }

    private func conditions(
        _ kind: SummaryKind, _ fields: SummaryFields
    ) throws(DatabaseError) -> [SummaryCondition] {
        var conditions: [SummaryCondition] = []
        if let least = request.qualityMin {
            guard let metric = kind.qualityMetric else { throw kind.noQualityError }
            guard let names = fields[metric]?.groups.first else {
                throw DatabaseError(
                    .notFound,
                    "found no field with the quality of \(kind.rawValue); name one, or leave out "
                        + "the minimum quality", remedy: .change([.qualityField, .qualityMin]))
            }
            let column = SummaryColumn(fields: names)
            conditions.append(SummaryCondition(column: column, comparison: ">=", number: least))
        }
        if request.keepsPossibleValuesOnly, let possible = kind.possibleValues,
            let names = fields[kind.metric]?.groups.first
        {
            let column = SummaryColumn(fields: names)
            for (comparison, number) in [
                (">=", possible.lowerBound), ("<=", possible.upperBound),
            ] {
                conditions.append(
                    SummaryCondition(column: column, comparison: comparison, number: number))
            }
        }
        return conditions
    }
}

extension VitalSign {
    /// Reads a day with one row of mean, last and maximum.
    init(ofDay day: SummaryDay) {
        guard let row = day.range.first else { return }
        average = day.rows.columns[0][row] ?? 0
        last = day.rows.columns[1][row] ?? 0
        maximum = day.rows.columns[2][row] ?? 0
    }
}
