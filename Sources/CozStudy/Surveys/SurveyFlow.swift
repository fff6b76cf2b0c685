// Checks the flow of a watch survey: where options lead, which questions can be reached, and where
// it ends.

internal import CozDB

struct SurveyFlow {
    let survey: WatchSurvey
    /// The maximum number of findings with a suggested name, because the search takes time
    /// proportional to the number of questions.
    private static let suggestionCountMax = 100

    /// The index of the first question with each id.
    private let indices: [[UInt8]: Int]

    init(_ survey: WatchSurvey) {
        self.survey = survey
        indices = Dictionary(
            survey.questions.enumerated().map { (Array($1.id.utf8), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    var findings: [SurveyFinding] { ids + options + ends + reach }

    private func finding(
        _ severity: SurveyFinding.Severity, _ question: WatchSurvey.Question, _ message: String
    ) -> SurveyFinding {
        SurveyFinding(
            severity: severity, line: question.line, column: question.column, message: message)
    }

    private func index(_ id: String) -> Int? { indices[Array(id.utf8)] }

    // MARK: Ids

    private var ids: [SurveyFinding] {
        var found: [SurveyFinding] = []
        for (number, question) in survey.questions.enumerated() where !question.id.isEmpty {
            if let first = index(question.id), first != number {
                let line = survey.questions[first].line
                found.append(
                    finding(
                        .error, question,
                        "found the id \(question.id) again, first used in line \(line): the app "
                            + "shows only the first question, and the answers would be ambiguous"))
            }
            if question.id.utf8.starts(with: "q_".utf8) { continue }
            if CozieCatalogue.v3.field(named: question.id) != nil {
                found.append(
                    finding(
                        .error, question,
                        "\(question.id) is a field of the app: its values and the answers would "
                            + "overwrite each other"))
            } else {
                found.append(
                    finding(
                        .flaw, question,
                        "found the id \(question.id), expected a name that begins with q_"))
            }
        }
        return found
    }

    // MARK: Options

    private var options: [SurveyFinding] {
        var found: [SurveyFinding] = []
        for question in survey.questions {
            var texts: Set<[UInt8]> = []
            let id = SurveyFinding.excerpt(question.id)
            for option in question.options {
                if !option.text.isEmpty, !texts.insert(Array(option.text.utf8)).inserted {
                    found.append(
                        SurveyFinding(
                            severity: .flaw, line: option.line, column: option.column,
                            message:
                                "\(id) has two options \"\(option.text)\": their answers "
                                + "are ambiguous"))
                }
                guard !option.next.isEmpty, index(option.next) == nil else { continue }
                let near =
                    found.count < SurveyFlow.suggestionCountMax
                    ? NameSuggestion.text(option.next, among: survey.questions.map(\.id)) : ""
                found.append(
                    SurveyFinding(
                        severity: .flaw, line: option.line, column: option.column,
                        message:
                            "option \"\(option.text)\" of \(id) leads to the unknown "
                            + "question \(option.next): the survey ends there\(near)"))
            }
        }
        return found
    }

    // MARK: Reach

    /// Questions that cannot be reached from the first one.
    private var reach: [SurveyFinding] {
        guard !survey.questions.isEmpty else { return [] }
        var isReached = [Bool](repeating: false, count: survey.questions.count)
        var waiting = [0]
        while let number = waiting.popLast() {
            if isReached[number] { continue }
            isReached[number] = true
            waiting += survey.questions[number].options.compactMap { index($0.next) }
        }
        return survey.questions.indices.compactMap { number in
            let question = survey.questions[number]
            // A duplicate id is reported elsewhere.
            guard !isReached[number], index(question.id) == number else { return nil }
            return finding(
                .flaw, question,
                "\(question.id) cannot be reached: no option leads to it")
        }
    }

    /// Questions from which the survey cannot end.
    private var ends: [SurveyFinding] {
        var canEnd = [Bool](repeating: false, count: survey.questions.count)
        var before = [[Int]](repeating: [], count: survey.questions.count)
        var waiting: [Int] = []
        for (number, question) in survey.questions.enumerated() {
            // A question without options stops the survey. That is reported elsewhere.
            if question.options.isEmpty { waiting.append(number) }
            for option in question.options {
                if let next = index(option.next) {
                    before[next].append(number)
                } else {
                    waiting.append(number)
                }
            }
        }
        while let number = waiting.popLast() {
            if canEnd[number] { continue }
            canEnd[number] = true
            waiting += before[number]
        }
        return survey.questions.indices.compactMap { number in
            if canEnd[number] { return nil }
            let question = survey.questions[number]
            return finding(
                .flaw, question,
                "the survey cannot end after \(question.id): all options form a cycle")
        }
    }
}
