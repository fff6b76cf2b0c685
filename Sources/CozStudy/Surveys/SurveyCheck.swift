// A watch survey's file, read and checked.

/// A survey that was read, and what is to be said of it.
public struct SurveyCheck: Sendable {
    /// nil where the file is no survey at all.
    public var survey: WatchSurvey?
    /// In the order of their places.
    public var findings: [SurveyFinding]

    /// Whether the survey can be registered: whether there are no errors.
    public var isUsable: Bool { survey != nil && count(.error) == 0 }

    /// Findings of a severity.
    public func count(_ severity: SurveyFinding.Severity) -> Int {
        findings.count { $0.severity == severity }
    }

    /// Reads the text of a survey's JSON file and checks it: whether it is JSON, has the keys the
    /// app needs, ids that are unique and lead somewhere, and questions that can be reached and
    /// left.
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
