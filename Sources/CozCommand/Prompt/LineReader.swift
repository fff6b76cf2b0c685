// The source of a prompt's lines: a terminal, or a list of lines in tests.

enum LineInput: Equatable {
    /// A line without its newline.
    case line(String)
    /// Ctrl-C; the typed text is dropped.
    ///
    /// - Parameter wasEmpty: Whether the line was empty.
    case interrupted(wasEmpty: Bool)
    /// A line with more characters than a line may have; it is dropped.
    case tooLong
    /// Ctrl-D, or the terminal was closed.
    case end
}

/// Reads edited lines, with a history.
protocol LineReader: AnyObject {
    /// Waits for the next line.
    ///
    /// - Parameters:
    ///   - prompt: The text before the line.
    ///   - earlier: The earlier lines of the statement, for completion.
    func line(prompt: String, after earlier: [String]) -> LineInput

    /// Adds a line to the history.
    func remember(_ line: String)
}
