// A problem in the file of a watch survey.

/// A problem that the check of a watch survey found, with its place in the file.
public struct SurveyFinding: Hashable, Sendable {
    /// The severity of a finding.
    public enum Severity: String, Sendable, CaseIterable {
        /// The file is not a survey, or its answers would be ambiguous. It cannot be registered.
        case error
        /// The survey does not work in the app, or probably not as intended.
        case flaw
        /// A hint. The survey works.
        case note
    }

    /// The severity.
    public var severity: Severity
    /// The line in the file, from 1.
    public var line: Int
    /// The byte in the line, from 1.
    public var column: Int
    /// What was found, and what was expected or what follows from it.
    public var message: String

    /// The maximum number of Unicode scalars of a message that quotes the file.
    private static let messageCountMax = 400

    /// - Parameter message: may quote the file; a long one is cut.
    init(severity: Severity, line: Int, column: Int, message: String) {
        self.severity = severity
        self.line = line
        self.column = column
        self.message = SurveyFinding.excerpt(message)
    }

    /// Returns a text as far as a message can have it. Many messages may quote one text.
    static func excerpt(_ text: String) -> String {
        let characters = text.unicodeScalars
        let start = characters.prefix(messageCountMax)
        return start.endIndex < characters.endIndex ? String(start) + "..." : text
    }
}
