// Where the lines of a prompt come from: a terminal, or a list of lines in a test.

/// What somebody did at a prompt.
enum LineInput: Equatable {
    /// A line without its end.
    case line(String)
    /// Ctrl-C; what was typed is dropped.
    ///
    /// - Parameter wasEmpty: whether nothing had been typed.
    case interrupted(wasEmpty: Bool)
    /// Ctrl-D, or the terminal is gone.
    case end
}

/// Reads lines that somebody edits, with a history to go back to.
protocol LineReader: AnyObject {
    /// Waits for the next line.
    ///
    /// - Parameters:
    ///   - prompt: what stands before it.
    ///   - earlier: the lines of the statement before this one, for completion.
    func line(prompt: String, after earlier: String) -> LineInput

    /// Puts a line into the history.
    func remember(_ line: String)
}
