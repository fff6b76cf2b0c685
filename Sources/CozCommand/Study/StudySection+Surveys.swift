// Answers about participants and their responses: overview, responses, votes and goal.

internal import CozDB
internal import CozStudy

extension StudySection {
    static func overview(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.overview()
        return StudySection(
            .overview, answer.statement, answer.note,
            ["participant", "first", "last", "days", "fields", "values", "responses"],
            answer.rows.map { row in
                [
                    .string(row.participant), time(row.first, style.zone),
                    time(row.last, style.zone), .count(row.days.count),
                    .count(row.fields), .count(row.values), .count(row.responses),
                ]
            }
        ) {
            var table = TextTable([
                .init("participant"), .init("first"), .init("last"), .init("days", right: true),
                .init("fields", right: true), .init("values", right: true),
                .init("responses", right: true),
            ])
            for row in answer.rows {
                table.append([
                    row.participant, clock(row.first, style.zone),
                    clock(row.last, style.zone), PlainText.grouped(row.days.count),
                    PlainText.grouped(row.fields), PlainText.grouped(row.values),
                    PlainText.grouped(row.responses),
                ])
            }
            return table.takeText(widthMax: style.width, elsewhere: "--format csv")
                + total(answer.rows)
        }
    }

    private static func total(_ rows: [ParticipantOverview]) -> String {
        let values = PlainText.counted(rows.reduce(0) { $0 + $1.values }, "value")
        let responses = PlainText.counted(rows.reduce(0) { $0 + $1.responses }, "response")
        return "total: \(values), \(responses)\n"
    }

    static func responses(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.responses()
        let hasSurveys = answer.rows.contains { $0.surveys != nil }
        return StudySection(
            .responses, answer.statement, answer.note,
            ["participant", "day", "responses", "surveys"],
            answer.rows.map { row in
                [
                    .string(row.participant), day(row.day), .count(row.responses),
                    row.surveys.map { .count($0) } ?? .null,
                ]
            }
        ) {
            let runs = ParticipantRun.all(answer.rows, \.participant, \.day)
            let counts = runs.map { run in run.rows.map(\.responses) }
            return calendar(
                runs, counts, style, unit: "responses per day",
                titles: ["responses"] + (hasSurveys ? ["surveys"] : []) + ["days"]
            ) { run in
                let surveys = run.rows.reduce(0) { $0 + ($1.surveys ?? 0) }
                return [PlainText.grouped(run.rows.reduce(0) { $0 + $1.responses })]
                    + (hasSurveys ? [PlainText.grouped(surveys)] : [])
                    + ["\(run.rows.count { $0.responses > 0 }) of \(run.rows.count)"]
            }
        }
    }

    static func votes(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.votes()
        return StudySection(
            .votes, answer.statement, answer.note,
            ["participant", "day", "responses", "valid", "invalid"],
            answer.rows.map { row in
                [
                    .string(row.participant), day(row.day), .count(row.responses),
                    .count(row.valid), .count(row.invalid),
                ]
            }
        ) {
            let runs = ParticipantRun.all(answer.rows, \.participant, \.day)
            let counts = runs.map { run in run.rows.map(\.valid) }
            return calendar(
                runs, counts, style, unit: "valid votes per day",
                titles: ["valid", "invalid", "share", "days"]
            ) { run in
                let valid = run.rows.reduce(0) { $0 + $1.valid }
                let responses = run.rows.reduce(0) { $0 + $1.responses }
                return [
                    PlainText.grouped(valid), PlainText.grouped(responses - valid),
                    percent(valid, of: responses),
                    "\(run.rows.count { $0.valid > 0 }) of \(run.rows.count)",
                ]
            }
        }
    }

    static func goal(_ study: Study, _ style: ReportStyle) throws(DatabaseError) -> StudySection {
        let answer = try study.goal()
        return StudySection(
            .goal, answer.statement, answer.note,
            ["participant", "day", "responses", "valid", "goal"],
            answer.rows.map { row in
                [
                    .string(row.participant), day(row.day), .count(row.responses),
                    .count(row.valid), row.goal.map { .count($0) } ?? .null,
                ]
            }
        ) {
            let runs = ParticipantRun.all(answer.rows, \.participant, \.day)
            let table = StripTable(
                ["participant"], ["responses", "valid", "goal", "done", "reached"],
                names: runs.map { [$0.participant] }, numbers: runs.map(goalNumbers))
            guard let axis = ParticipantRun.axis(runs, width: table.room(style.width)) else {
                return ""
            }
            let strips = runs.map { run in
                let values = run.rows.map(\.responses)
                let whole = run.rows.last?.goal ?? values.last ?? 0
                return axis.bars(values, from: run.first, of: whole, style.glyphs)
            }
            let full = style.glyphs.bars.last.map { String($0) } ?? ""
            let scale = "\(full) goal reached; without a goal, all responses of the participant"
            return table.text(axis, strips: strips) + "\(legend(scale, axis))\n"
        }
    }

    private static func goalNumbers(_ run: ParticipantRun<GoalProgress>) -> [String] {
        guard let last = run.rows.last else { return [] }
        let goal = last.goal
        let reached = run.rows.first { row in goal.map { row.responses >= $0 } ?? false }
        return [
            PlainText.grouped(last.responses), PlainText.grouped(last.valid),
            goal.map { PlainText.grouped($0) } ?? "",
            goal.map { percent(last.responses, of: $0) } ?? "",
            reached.map { $0.day.description } ?? "",
        ]
    }

    // MARK: Calendars

    private static func calendar<Row>(
        _ runs: [ParticipantRun<Row>], _ counts: [[Int]], _ style: ReportStyle, unit: String,
        titles: [String], numbers: (ParticipantRun<Row>) -> [String]
    ) -> String {
        let table = StripTable(
            ["participant"], titles, names: runs.map { [$0.participant] },
            numbers: runs.map(numbers))
        guard let axis = ParticipantRun.axis(runs, width: table.room(style.width)) else {
            return ""
        }
        let scale = ShadeScale(counts.joined(), style.glyphs)
        let strips = zip(runs, counts).map { axis.strip($1, from: $0.first, scale) }
        return table.text(axis, strips: strips) + legend("\(scale.legend) \(unit)", axis) + "\n"
    }

    static func legend(_ meaning: String, _ axis: DayAxis) -> String {
        axis.note.map { "\(meaning); \($0)" } ?? meaning
    }
}

/// The rows of one participant, one per day.
struct ParticipantRun<Row> {
    var participant: String
    var first: LocalDate
    var rows: [Row]

    /// Splits rows that are sorted by participant and day into one run per participant.
    static func all(
        _ rows: [Row], _ participant: (Row) -> String, _ day: (Row) -> LocalDate
    ) -> [ParticipantRun] {
        var runs: [ParticipantRun] = []
        // Not the last run: with a second reference to its rows, each append would copy them.
        var last: String?
        for row in rows {
            let name = participant(row)
            if let last, last.utf8.elementsEqual(name.utf8) {
                runs[runs.count - 1].rows.append(row)
            } else {
                runs.append(ParticipantRun(participant: name, first: day(row), rows: [row]))
                last = name
            }
        }
        return runs
    }

    /// The axis over the days of all runs; nil if there are no runs.
    static func axis(_ runs: [ParticipantRun], width: Int) -> DayAxis? {
        guard let first = runs.map(\.first).min(),
            let last = runs.map({ $0.first.advanced(by: $0.rows.count - 1) }).max()
        else { return nil }
        return DayAxis(first...last, width: width)
    }
}
