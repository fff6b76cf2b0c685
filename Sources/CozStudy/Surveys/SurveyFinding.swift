// Something about a watch survey that its author should know.

/// Something that a check of a watch survey found, with its place in the file.
public struct SurveyFinding: Hashable, Sendable {
    /// How bad a finding is.
    public enum Severity: String, Sendable, CaseIterable {
        /// The file is no survey, or its answers could not be told apart. It cannot be registered.
        case error
        /// The survey does not work in the app, or not as it was probably meant.
        case flaw
        /// Worth knowing; the survey works.
        case note
    }

    /// How bad it is.
    public var severity: Severity
    /// Line in the file, from 1.
    public var line: Int
    /// Byte in the line, from 1.
    public var column: Int
    /// What was found, and what was expected or follows.
    public var message: String
}
