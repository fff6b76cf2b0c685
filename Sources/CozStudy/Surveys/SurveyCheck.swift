// Reads and checks the file of a watch survey.

/// A watch survey and the findings about it.
public struct SurveyCheck: Sendable {
    /// The survey. Nil if the file is not a survey.
    public var survey: WatchSurvey?
    /// The findings in file order.
    public var findings: [SurveyFinding]

    /// Whether the survey can be registered: it has no errors.
    public var isUsable: Bool { survey != nil && count(.error) == 0 }

    /// Returns the number of findings of a severity.
    public func count(_ severity: SurveyFinding.Severity) -> Int {
        findings.count { $0.severity == severity }
    }

    /// Reads and checks the text of a survey's JSON file. Checks that it is JSON and has the keys
    /// that the app needs, that ids are unique and refer to existing questions, and that each
    /// question can be reached and left.
    public init(_ text: String) {
        var reader = SurveyReader(text)
        reader.read()
        survey = reader.survey
        findings = reader.findings
        if let survey { findings += SurveyFlow(survey).findings }
        findings = findings.enumerated().sorted {
            ($0.element.line, $0.element.column, $0.offset)
                < ($1.element.line, $1.element.column, $1.offset)
        }.map(\.element)
    }
}
