// Text and JSON for watch surveys, their checks and the counts of their answers.

internal import CozDB
internal import CozStudy

enum SurveyText {
    // MARK: A check

    /// `file:3:7: flaw: ...`, in the style of compilers.
    static func line(_ finding: SurveyFinding, of file: String) -> String {
        "\(file):\(finding.line):\(finding.column): \(finding.severity.rawValue): "
            + finding.message
    }

    static func table(_ check: SurveyCheck, of file: String) -> String {
        var text = ""
        if let survey = check.survey {
            let name = survey.name.isEmpty ? "no name" : PlainText.escaped(survey.name)
            text += "\(PlainText.escaped(file)): \(name), "
            text += PlainText.counted(survey.questions.count, "question") + "\n"
        } else {
            text += "\(PlainText.escaped(file)): not a survey\n"
        }
        for finding in check.findings {
            text += PlainText.escaped(line(finding, of: file)) + "\n"
        }
        if check.findings.isEmpty { text += "no errors or flaws found\n" }
        // A survey with errors would not show these questions in the app.
        if let survey = check.survey, check.isUsable { text += "\n" + questions(survey) }
        return text
    }

    private static func questions(_ survey: WatchSurvey) -> String {
        var text = ""
        let known = Set(survey.questions.map { Array($0.id.utf8) })
        for question in survey.questions {
            text += "\(PlainText.escaped(question.id)): \(PlainText.escaped(question.text))\n"
            let texts = question.options.map { PlainText.escaped($0.text) }
            let width = texts.reduce(0) { max($0, PlainText.width($1)) }
            for (option, shown) in zip(question.options, texts) {
                let next =
                    known.contains(Array(option.next.utf8))
                    ? PlainText.escaped(option.next) : "end"
                text += "    \(PlainText.padded(shown, to: min(width, 48)))  -> \(next)\n"
            }
        }
        return text
    }

    static func json(_ check: SurveyCheck, of file: String) -> JSONValue {
        .object([
            "file": .string(file),
            "survey_name": check.survey.map { .string($0.name) } ?? .null,
            "survey_id": check.survey.map { .string($0.id) } ?? .null,
            "errors": .count(check.count(.error)),
            "flaws": .count(check.count(.flaw)),
            "findings": .array(
                check.findings.map { finding in
                    .object([
                        "severity": .string(finding.severity.rawValue),
                        "line": .count(finding.line),
                        "column": .count(finding.column),
                        "message": .string(finding.message),
                    ])
                }),
            "questions": .array((check.survey?.questions ?? []).map(json)),
        ])
    }

    private static func json(_ question: WatchSurvey.Question) -> JSONValue {
        .object([
            "question_id": .string(question.id),
            "question": .string(question.text),
            "options": .array(
                question.options.map { option in
                    .object([
                        "text": .string(option.text),
                        "next_question_id": .string(option.next),
                    ])
                }),
        ])
    }

    // MARK: A registration

    static func registered(
        _ survey: WatchSurvey, _ registration: SurveyRegistration, _ experiment: String
    ) -> String {
        let name = PlainText.escaped(experiment)
        var text = "registered \(PlainText.escaped(survey.name)) for \(name): "
        text += PlainText.counted(registration.fields.count, "question") + "\n"
        if registration.isNewExperiment {
            text += "  \(name) is a new experiment, created with the preset cozie-v3\n"
        }
        for field in registration.changedFields {
            text += "  \(PlainText.escaped(field)): "
            text += "replaced an earlier question or earlier options\n"
        }
        for conflict in registration.conflicts {
            text += "  \(PlainText.escaped(conflict.field)) is stored as \(conflict.locked.name), "
            text += "so its answers are not counted; to change the type, use "
            text += "ALTER EXPERIMENT ... TYPE string\n"
        }
        return text
    }

    // MARK: Answers

    static func table(_ answers: [SurveyAnswers]) -> String {
        if answers.isEmpty { return "(no questions)\n" }
        var text = ""
        for (index, answer) in answers.enumerated() {
            if index > 0 { text += "\n" }
            text += PlainText.escaped(answer.field)
            text += answer.question.isEmpty ? "\n" : ": \(PlainText.escaped(answer.question))\n"
            text += counts(answer)
        }
        return text
    }

    private static func counts(_ answers: SurveyAnswers) -> String {
        let shown = answers.offered + answers.others
        let countsSurveys = shown.contains { $0.surveys != nil }
        let width = shown.reduce(2) { max($0, min(PlainText.width($1.answer), 60)) }
        func line(_ cells: [String]) -> String {
            let numbers = cells.dropFirst().map { PlainText.padded($0, to: 7, right: true) }
            return "    \(PlainText.padded(cells[0], to: width))  "
                + numbers.joined(separator: "  ") + "\n"
        }
        func line(_ count: SurveyAnswers.Count) -> String {
            // Show empty answers as "".
            let answer = count.answer.isEmpty ? "\"\"" : PlainText.escaped(count.answer)
            let surveys = countsSurveys ? [PlainText.grouped(count.surveys ?? 0)] : []
            return line([answer] + surveys + [PlainText.grouped(count.rows)])
        }
        var text = ""
        if !answers.isRegistered { text += "  no survey with this question is registered\n" }
        if !shown.isEmpty { text += line([""] + (countsSurveys ? ["surveys"] : []) + ["rows"]) }
        text += answers.offered.map(line).joined()
        let rest = answers.others.reduce(0) { $0 + $1.rows }
        if answers.isRegistered, rest > 0 {
            text += "  \(PlainText.counted(rest, "answer")) not among the options:\n"
        }
        return text + answers.others.map(line).joined()
    }

    static func json(_ answers: SurveyAnswers) -> JSONValue {
        func list(_ counts: [SurveyAnswers.Count]) -> JSONValue {
            .array(
                counts.map { count in
                    .object([
                        "answer": .string(count.answer),
                        "rows": .count(count.rows),
                        "surveys": count.surveys.map { .count($0) } ?? .null,
                    ])
                })
        }
        return .object([
            "field": .string(answers.field),
            "question": .string(answers.question),
            "registered": .boolean(answers.isRegistered),
            "total": .count(answers.total),
            "offered": list(answers.offered),
            "outside": list(answers.others),
        ])
    }
}
