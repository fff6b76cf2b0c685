// Follows a line of line protocol that has not been received whole.

/// A line that ended inside or after a string with a newline.
///
/// Only a newline outside of strings can end it. Looking for that, a byte of it is seen once,
/// however small the pieces are in which the line arrives. Without this, each piece would make the
/// parser read the line again from its beginning.
struct UnfinishedLine {
    private enum Part {
        case key
        /// After the equals sign.
        case valueStart
        /// A value that is not a string, or what follows a string.
        case value
        case string
        case time
        /// Not valid. The parser finds out when the next newline is there.
        case bad
    }

    private var part = Part.string
    /// Index of the next byte, counted from the start of the line.
    private var index: Int
    /// Index where the part begins, counted from the start of the line.
    private var start: Int

    /// - Parameter openQuote: index of the quote that opens the first string with a newline,
    ///   counted from the start of the line.
    init(openQuote: Int) {
        start = openQuote
        index = openQuote + 1
    }

    /// Returns whether the line may have ended, or may have become invalid.
    ///
    /// - Parameters:
    ///   - text: all bytes received, with the line at `position`.
    mutating func mayEnd(
        _ text: PaddedBytes, at position: Int, stringSizeBytesMax: Int
    ) -> Bool {
        let count = text.count - position
        while index < count {
            let byte = text[position + index]
            if part == .string {
                if byte == backslash {
                    // The byte after a backslash is needed to go on.
                    if index + 1 == count { break }
                    let next = text[position + index + 1]
                    index += next == quote || next == backslash ? 2 : 1
                } else {
                    index += 1
                    if byte == quote { part = .value }
                }
                if index - start - 1 > stringSizeBytesMax, part == .string {
                    part = .bad
                    return true
                }
                continue
            }
            index += 1
            if byte == newline { return true }
            step(byte, isEscaped: text[position + index - 2] == backslash)
        }
        return false
    }

    /// Moves on over a byte outside of strings.
    private mutating func step(_ byte: UInt8, isEscaped: Bool) {
        switch part {
        case .key:
            let isFirst = index - 1 == start
            if byte == equalsSign, isFirst || !isEscaped { part = isFirst ? .bad : .valueStart }
            if byte == comma || byte == space, isFirst || !isEscaped { part = .bad }
        case .valueStart, .value:
            if part == .valueStart && byte == quote {
                (part, start) = (.string, index - 1)
            } else if byte == comma {
                (part, start) = (.key, index)
            } else {
                part = byte == space ? .time : .value
            }
        case .time, .bad, .string: break
        }
    }
}
