// Answers about the data of phone and watch: silence, delay, interval and availability.

internal import CozDB
internal import CozStudy

extension StudySection {
    static func silence(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.silence()
        return StudySection(
            .silence, answer.statement, answer.note,
            ["participant", "field", "last", "silence_seconds"],
            answer.rows.map { row in
                [
                    .string(row.participant), .string(row.field),
                    time(row.last, style.zone),
                    seconds(row, study).map { .number($0) } ?? .null,
                ]
            }
        ) {
            silenceTable(answer.rows, study, style)
        }
    }

    private static func seconds(_ entry: LastEntry, _ study: Study) -> Double? {
        guard let last = entry.last, let silence = entry.silence else { return nil }
        if silence < .max { return Double(silence) / 1e9 }
        let now = study.options.query.currentTime
        return (Double(now.nanoseconds) - Double(last.nanoseconds)) / 1e9
    }

    /// One line per participant, the longest silence first: the last response, and the last value
    /// of any of the fields.
    private static func silenceTable(
        _ rows: [LastEntry], _ study: Study, _ style: ReportStyle
    ) -> String {
        struct Line {
            var participant: String
            var survey: LastEntry?
            var latest: LastEntry?
        }
        var lines: [Line] = []
        let survey = study.options.surveyField
        for row in rows {
            if lines.last?.participant.utf8.elementsEqual(row.participant.utf8) != true {
                lines.append(Line(participant: row.participant))
            }
            var line = lines[lines.count - 1]
            if row.field.utf8.elementsEqual(survey.utf8) { line.survey = row }
            let known = line.latest?.silence ?? .max
            if let silence = row.silence, silence < known || line.latest == nil {
                line.latest = row
            }
            lines[lines.count - 1] = line
        }
        let hasSurveys = rows.contains { $0.field.utf8.elementsEqual(survey.utf8) }
        // Break ties by the order of participants.
        func silence(_ line: Line) -> Int64 {
            (hasSurveys ? line.survey?.silence : line.latest?.silence) ?? .max
        }
        let order = lines.indices.sorted { left, right in
            (silence(lines[right]), left) < (silence(lines[left]), right)
        }
        var table = TextTable(
            [.init("participant")]
                + (hasSurveys ? [.init("last response"), .init("silent for", right: true)] : [])
                + [.init("last value"), .init("silent for", right: true), .init("field")])
        for index in order {
            let line = lines[index]
            let entries = (hasSurveys ? [line.survey] : []) + [line.latest]
            let cells = entries.flatMap { entry in
                [
                    clock(entry?.last, style.zone),
                    entry.flatMap { seconds($0, study) }.map(duration) ?? "",
                ]
            }
            table.append([line.participant] + cells + [line.latest?.field ?? ""])
        }
        return table.takeText(widthMax: style.width, elsewhere: "--format csv")
    }

    static func delay(_ study: Study, _ style: ReportStyle) throws(DatabaseError) -> StudySection {
        let answer = try study.delays()
        return StudySection(
            .delay, answer.statement, answer.note,
            [
                "participant", "field", "trigger", "count", "min", "median", "p90", "p99", "max",
            ],
            answer.rows.map { row in
                [
                    row.participant.map { .string($0) } ?? .null,
                    row.field.map { .string($0) } ?? .null, .string(row.trigger),
                    .count(row.count), .number(row.min), .number(row.median), .number(row.p90),
                    .number(row.p99), .number(row.max),
                ]
            }
        ) {
            let hasParticipant = answer.rows.contains { $0.participant != nil }
            let hasField = answer.rows.contains { $0.field != nil }
            var table = TextTable(
                (hasParticipant ? [.init("participant")] : [])
                    + (hasField ? [.init("field")] : [])
                    + [
                        .init("trigger"), .init("rows", right: true),
                        .init("median", right: true), .init("90%", right: true),
                        .init("99%", right: true), .init("longest", right: true),
                        .init("shortest", right: true),
                    ])
            for row in answer.rows {
                table.append(
                    (hasParticipant ? [row.participant ?? ""] : [])
                        + (hasField ? [row.field ?? ""] : [])
                        + [
                            row.trigger.isEmpty ? "(no trigger)" : row.trigger,
                            PlainText.grouped(row.count),
                        ] + [row.median, row.p90, row.p99, row.max, row.min].map(duration))
            }
            return table.takeText(widthMax: style.width, elsewhere: "--format csv")
        }
    }

    static func interval(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.intervals()
        return StudySection(
            .interval, answer.statement, answer.note,
            ["participant", "field", "count", "median", "p90", "max"],
            answer.rows.map { row in
                [
                    row.participant.map { .string($0) } ?? .null, .string(row.field),
                    .count(row.count), .number(row.median), .number(row.p90), .number(row.max),
                ]
            }
        ) {
            let hasParticipant = answer.rows.contains { $0.participant != nil }
            var table = TextTable(
                (hasParticipant ? [.init("participant")] : [])
                    + [
                        .init("field"), .init("intervals", right: true),
                        .init("median", right: true), .init("90%", right: true),
                        .init("longest", right: true),
                    ])
            for row in answer.rows {
                table.append(
                    (hasParticipant ? [row.participant ?? ""] : [])
                        + [row.field, PlainText.grouped(row.count)]
                        + [row.median, row.p90, row.max].map(duration))
            }
            return table.takeText(widthMax: style.width, elsewhere: "--format csv")
        }
    }

    static func availability(
        _ study: Study, _ style: ReportStyle
    ) throws(DatabaseError) -> StudySection {
        let answer = try study.availability()
        return StudySection(
            .availability, answer.statement, answer.note,
            ["participant", "field", "day", "count"],
            answer.rows.map { row in
                [
                    .string(row.participant), .string(row.field), day(row.day),
                    .count(row.count),
                ]
            }
        ) {
            strips(answer.rows, style)
        }
    }

    /// One strip per participant and field. Each field has its own scale: a hundred heart rates
    /// fill a day as one night's sleep does.
    private static func strips(_ rows: [DailyAvailability], _ style: ReportStyle) -> String {
        var runs: [ParticipantRun<DailyAvailability>] = []
        for row in rows {
            let last = runs.last?.rows.last
            let isSame =
                last?.field.utf8.elementsEqual(row.field.utf8) == true
                && last?.participant.utf8.elementsEqual(row.participant.utf8) == true
            if isSame {
                runs[runs.count - 1].rows.append(row)
            } else {
                runs.append(
                    ParticipantRun(participant: row.participant, first: row.day, rows: [row]))
            }
        }
        var counts: [[UInt8]: [Int]] = [:]
        for row in rows { counts[Array(row.field.utf8), default: []].append(row.count) }
        let scales = counts.mapValues { ShadeScale($0, style.glyphs) }
        let names = runs.indices.map { index in
            let isFirst =
                index == 0
                || !runs[index - 1].participant.utf8.elementsEqual(runs[index].participant.utf8)
            return [isFirst ? runs[index].participant : "", runs[index].rows[0].field]
        }
        let table = StripTable(
            ["participant", "field"], ["values", "days"], names: names,
            numbers: runs.map { run in
                [
                    PlainText.grouped(run.rows.reduce(0) { $0 + $1.count }),
                    "\(run.rows.count { $0.count > 0 }) of \(run.rows.count)",
                ]
            })
        guard let axis = ParticipantRun.axis(runs, width: table.room(style.width)) else {
            return ""
        }
        let lines = runs.map { run in
            guard let scale = scales[Array(run.rows[0].field.utf8)] else { return "" }
            return axis.strip(run.rows.map(\.count), from: run.first, scale)
        }
        let shades = style.glyphs.shades
        let meaning =
            "\(style.glyphs.zero) no value  \(shades[0]) few values  \(shades.last ?? shades[0]) "
            + "as many as on a full day of this field"
        return table.text(axis, strips: lines) + legend(meaning, axis) + "\n"
    }
}
