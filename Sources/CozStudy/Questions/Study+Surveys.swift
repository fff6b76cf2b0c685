// Questions about survey responses: per day, valid votes, and progress towards the goal.

public import CozDB

extension Study {
    /// Returns the responses per participant and local day.
    ///
    /// - Throws: `io`, `damaged`, `cancelled`, `limitExceeded` (also if the answer would exceed
    ///   1,000,000 rows).
    public func responses() throws(DatabaseError) -> StudyAnswer<DailyResponses> {
        guard let statement = statement(of: .responses) else {
            return StudyAnswer(note: noSurveysNote)
        }
        let hasStart = startField != nil
        let counted = try daily(statement, ["responses", "surveys"])
        let rows = try forEachDay { participant, day in
            let counts = counted[participant, day]
            return DailyResponses(
                participant: participant, day: day, responses: counts?[0] ?? 0,
                surveys: hasStart ? counts?[1] ?? 0 : nil)
        }
        return StudyAnswer(statement: statement, rows: rows, note: surveyNote(rows.isEmpty))
    }

    /// Returns the valid votes per participant and local day. Whether a vote is valid does not
    /// depend on the requested time range.
    ///
    /// - Throws: the errors of `responses`.
    public func votes() throws(DatabaseError) -> StudyAnswer<DailyVotes> {
        guard let statement = statement(of: .votes) else {
            return StudyAnswer(note: noSurveysNote)
        }
        let counted = try daily(statement, ["responses", "valid"])
        let rows = try forEachDay { participant, day in
            let counts = counted[participant, day]
            return DailyVotes(
                participant: participant, day: day, responses: counts?[0] ?? 0,
                valid: counts?[1] ?? 0)
        }
        return StudyAnswer(statement: statement, rows: rows, note: surveyNote(rows.isEmpty))
    }

    /// Returns the cumulative responses and valid votes since the first one, at the end of each
    /// local day of the time range, with the goal.
    ///
    /// - Throws: the errors of `responses`.
    public func goal() throws(DatabaseError) -> StudyAnswer<GoalProgress> {
        guard let statement = statement(of: .goal) else {
            return StudyAnswer(note: noSurveysNote)
        }
        try checkDays()
        let counted = try daily(statement, ["responses", "valid", "goal"], stateColumn: 2)
        var rows: [GoalProgress] = []
        for participant in participants {
            let name = participant.participant
            let days = counted.days(of: name)
            let goal = options.goal ?? days.compactMap { $0.counts[2] }.last
            guard let shown = self.days(of: participant) else { continue }
            var progress = GoalProgress(
                participant: name, day: shown.lowerBound, responses: 0, valid: 0, goal: goal)
            var next = 0
            for day in shown {
                while next < days.count, days[next].day <= day {
                    progress.responses += days[next].counts[0] ?? 0
                    progress.valid += days[next].counts[1] ?? 0
                    next += 1
                }
                progress.day = day
                rows.append(progress)
            }
        }
        var note = surveyNote(rows.isEmpty)
        if note == nil, rows.allSatisfy({ $0.goal == nil }) {
            note = "no goal: \(StudyFields.goal) has no values"
        }
        return StudyAnswer(statement: statement, rows: rows, note: note)
    }

    /// The field with the start time of a survey, or nil if there is none.
    var startField: String? {
        let isCozie = options.surveyField.utf8.elementsEqual(StudyFields.survey.utf8)
        return isCozie ? schema.field(StudyFields.start)?.name : nil
    }

    /// The field with the goal. Nil if there is none or the options give a goal.
    var goalField: String? {
        guard options.goal == nil, let field = schema.field(StudyFields.goal) else { return nil }
        return field.type.isNumber ? field.name : nil
    }

    private func surveyNote(_ isEmpty: Bool) -> String? {
        noSurveysNote ?? (isEmpty ? nothing : nil)
    }

    // MARK: Days

    /// The maximum number of rows of an answer. Answers have a row per day or field even without
    /// data. A clock wrong by centuries, or different fields per participant, would create
    /// millions.
    static let rowCountMax = 1_000_000

    /// - Throws: `limitExceeded` if the answer would have too many rows.
    func checkDays(of columnCount: Int = 1) throws(DatabaseError) {
        let shown = participants.compactMap { days(of: $0) }
        let count = shown.reduce(0) { $0 + $1.count } * columnCount
        guard count > Study.rowCountMax else { return }
        let first = shown.map(\.lowerBound).min()?.description ?? ""
        let last = shown.map(\.upperBound).max()?.description ?? ""
        throw DatabaseError(
            .limitExceeded,
            "found \(count) rows, one per day from \(first) to \(last) and participant"
                + (columnCount > 1 ? " and field" : "") + ", expected at most "
                + "\(Study.rowCountMax); choose a shorter time range, or delete rows with a wrong "
                + "time", remedy: .change([.range]))
    }

    func forEachDay<Row>(_ row: (String, LocalDate) -> Row) throws(DatabaseError) -> [Row] {
        try checkDays()
        var rows: [Row] = []
        for participant in participants {
            guard let days = days(of: participant) else { continue }
            for day in days { rows.append(row(participant.participant, day)) }
        }
        return rows
    }

    func daily(
        _ statement: String, _ columns: [String], stateColumn: Int? = nil
    ) throws(DatabaseError) -> DailyCounts {
        var counts = DailyCounts(stateColumn: stateColumn)
        for series in try ask(statement) {
            let name = series.header.tags.first?.value ?? ""
            let vectors = series.columns(columns)
            var days: [DailyCounts.Day] = []
            for (row, time) in series.times.enumerated() {
                let values = vectors.map { $0?.value(row)?.wholeNumber }
                days.append(DailyCounts.Day(day: zone.date(at: time), counts: values))
            }
            counts.append(name, days)
        }
        return counts
    }
}

extension QueryResult.Series {
    /// Returns the columns with these names; nil for one that there is not.
    fileprivate func columns(_ names: [String]) -> [ResultVector?] {
        let places = Dictionary(
            header.columns.enumerated().map { (Array($1.name.utf8), $0) }
        ) { first, _ in first }
        return names.map { name in places[Array(name.utf8)].map { columns[$0] } }
    }
}

/// Numbers by participant and day. Compares names by bytes.
struct DailyCounts {
    struct Day {
        var day: LocalDate
        /// One number per requested column.
        var counts: [Int?]
    }

    /// The column whose later value replaces the earlier one of a day; nil: all are counts.
    let stateColumn: Int?
    private var days: [[UInt8]: [Day]] = [:]
    private var places: [[UInt8]: [LocalDate: Int]] = [:]

    init(stateColumn: Int? = nil) {
        self.stateColumn = stateColumn
    }

    mutating func append(_ participant: String, _ more: [Day]) {
        let name = Array(participant.utf8)
        for one in more {
            if let place = places[name]?[one.day] {
                // Clock changes can give two buckets the same date. Add them up.
                for index in one.counts.indices {
                    guard let count = one.counts[index] else { continue }
                    let earlier = index == stateColumn ? 0 : days[name]?[place].counts[index] ?? 0
                    days[name]?[place].counts[index] = earlier &+ count
                }
            } else {
                places[name, default: [:]][one.day] = days[name]?.count ?? 0
                days[name, default: []].append(one)
            }
        }
    }

    func days(of participant: String) -> [Day] { days[Array(participant.utf8)] ?? [] }

    /// The numbers of one day, or nil if the result has none.
    subscript(participant: String, day: LocalDate) -> [Int?]? {
        let name = Array(participant.utf8)
        guard let place = places[name]?[day] else { return nil }
        return days[name]?[place].counts
    }
}

extension FieldValue {
    /// The value rounded to an integer. Nil if it is not a number or too large.
    fileprivate var wholeNumber: Int? {
        switch self {
        case .integer(let number): Int(number)
        case .float(let number): Int(exactly: number.rounded())
        case .string, .boolean: nil
        }
    }
}

extension FieldType {
    var isNumber: Bool { self == .float || self == .integer }
}
