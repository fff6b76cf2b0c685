// Parses a watch survey from JSON and reports missing keys and wrong types.

internal import CozDB
internal import CozImport

struct SurveyReader {
    private(set) var survey: WatchSurvey?
    private(set) var findings: [SurveyFinding] = []
    private let text: String

    /// Keys of an option that affect only its appearance. The app does not load a survey without
    /// them.
    private static let appearance = [
        "icon", "icon_background_color", "use_sf_symbols", "sf_symbols_color",
    ]

    init(_ text: String) {
        self.text = text
    }

    mutating func read() {
        guard let document = document() else { return }
        guard document.members != nil else {
            return report(
                .error, document.place, "found \(document.kind), expected an object with a survey")
        }
        guard let list = document["survey"] else {
            return report(
                .error, document.place, "found no \"survey\", expected a list of questions")
        }
        guard let items = list.items else {
            return report(
                .error, list.place, "found \(list.kind) as \"survey\", expected a list of questions"
            )
        }
        let name = string("survey_name", of: document, "the survey", severity: .flaw)
        let id = string("survey_id", of: document, "the survey", severity: .flaw)
        if items.isEmpty { report(.error, list.place, "found no questions, expected at least one") }
        let questions = items.compactMap { question($0) }
        survey = WatchSurvey(name: name ?? "", id: id ?? "", questions: questions)
        checkFirst(document, questions)
    }

    /// Parses the JSON, or returns nil if it is invalid. If trailing commas are the only error,
    /// reports them and returns the rest, so that it is checked too. The app does not accept such
    /// commas.
    private mutating func document() -> JSONNode? {
        do {
            return try JSONNode.parse(text)
        } catch {
            report(invalid: error)
            return try? JSONNode.parse(text, acceptsTrailingCommas: true)
        }
    }

    private mutating func question(_ node: JSONNode) -> WatchSurvey.Question? {
        guard node.members != nil else {
            report(.error, node.place, "found \(node.kind), expected a question (an object)")
            return nil
        }
        let id = string("question_id", of: node, "the question", severity: .error) ?? ""
        let text = string("question", of: node, "the question \(id)", severity: .error) ?? ""
        let place = node["question_id"]?.place ?? node.place
        if node["question_id"] != nil, id.isEmpty {
            report(.error, place, "found an empty question_id, expected the name of a field")
        }
        var options: [WatchSurvey.Option] = []
        if let list = node["response_options"] {
            if let items = list.items {
                if items.isEmpty {
                    report(.flaw, list.place, "\(id) has no options: the survey stops there")
                }
                let name = SurveyFinding.excerpt(id)
                options = items.compactMap { option($0, of: name) }
                checkAppearance(items, of: name)
            } else {
                report(
                    .error, list.place,
                    "found \(list.kind) as response_options of \(id), expected a list")
            }
        } else {
            report(.error, node.place, "the question \(id) has no response_options")
        }
        return WatchSurvey.Question(
            id: id, text: text, options: options, line: place.line, column: place.column)
    }

    private mutating func option(_ node: JSONNode, of question: String) -> WatchSurvey.Option? {
        guard node.members != nil else {
            report(.error, node.place, "found \(node.kind), expected an option (an object)")
            return nil
        }
        let what = "an option of \(question)"
        let text = string("text", of: node, what, severity: .error) ?? ""
        let next = string("next_question_id", of: node, what, severity: .flaw) ?? ""
        if let place = node["text"]?.place, node["text"]?.string != nil {
            if text.isEmpty {
                report(.flaw, place, "an option of \(question) has an empty text")
            } else if text.first?.isWhitespace == true || text.last?.isWhitespace == true {
                report(
                    .note, place,
                    "the option \"\(text)\" of \(question) begins or ends with a blank, which is "
                        + "stored with each answer")
            }
        }
        let place = node["next_question_id"]?.place ?? node.place
        return WatchSurvey.Option(
            text: text, next: next, line: place.line, column: place.column)
    }

    /// Reports each missing key once per question.
    private mutating func checkAppearance(_ options: [JSONNode], of question: String) {
        for key in SurveyReader.appearance {
            let missing = options.filter { $0.members != nil && $0[key] == nil }
            guard let first = missing.first else { continue }
            report(
                .flaw, first.place,
                "\(missing.count) of the \(options.count) options of \(question) have no \(key): "
                    + "the app needs it to load the survey")
        }
    }

    private mutating func checkFirst(_ document: JSONNode, _ questions: [WatchSurvey.Question]) {
        guard let node = document["firstQuestionID"], let id = node.string,
            let first = questions.first, !first.id.utf8.elementsEqual(id.utf8)
        else { return }
        report(
            .flaw, node.place,
            "firstQuestionID is \(id), but the app begins with the first question of the list, "
                + first.id)
    }

    // MARK: Findings

    /// Returns the string under a key, or reports a finding and returns nil.
    private mutating func string(
        _ key: String, of node: JSONNode, _ what: String, severity: SurveyFinding.Severity
    ) -> String? {
        guard let value = node[key] else {
            report(severity, node.place, "\(what) has no \(key)")
            return nil
        }
        if let text = value.string { return text }
        report(
            severity, value.place, "found \(value.kind) as \(key) of \(what), expected a string")
        return nil
    }

    private mutating func report(
        _ severity: SurveyFinding.Severity, _ place: JSONPlace, _ message: String
    ) {
        findings.append(
            SurveyFinding(
                severity: severity, line: place.line, column: place.column, message: message))
    }

    /// Reports a JSON error. The parser gives its place as an offset and in the message.
    private mutating func report(invalid error: DatabaseError) {
        var (line, column) = (1, 1)
        for byte in text.utf8.prefix(error.offset ?? 0) {
            column += 1
            if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) }
        }
        let words = error.message
        let start = words.firstRange(of: ": ")?.upperBound ?? words.startIndex
        // Cut the hint about lenient reading, which the app does not support.
        let end = words.firstRange(of: " (lenient")?.lowerBound ?? words.endIndex
        findings.append(
            SurveyFinding(
                severity: .error, line: line, column: column,
                message: "invalid JSON: \(words[start..<end])"))
    }
}
