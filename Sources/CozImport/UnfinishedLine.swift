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
        /// A number or boolean.
        case value
        case string
        case afterString
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
                // The byte after a backslash is needed to go on.
                if byte == backslash && index + 1 == count { break }
                stepInString(byte, text, position)
                if index - start - 1 > stringSizeBytesMax, part == .string {
                    part = .bad
                    return true
                }
                continue
            }
            index += 1
            if byte == newline { return true }
            step(byte, text, position)
        }
        return false
    }

    private mutating func stepInString(_ byte: UInt8, _ text: PaddedBytes, _ position: Int) {
        if byte == backslash {
            let next = text[position + index + 1]
            index += next == quote || next == backslash ? 2 : 1
            return
        }
        index += 1
        guard byte == quote else { return }
        let contents = (position + start + 1)..<(position + index - 1)
        part = text.firstInvalidUTF8(in: contents) == nil ? .afterString : .bad
    }

    /// Moves on over a byte outside of strings.
    private mutating func step(_ byte: UInt8, _ text: PaddedBytes, _ position: Int) {
        let own = (position + start)..<(position + index - 1)
        switch part {
        case .key:
            let isEscaped = !own.isEmpty && text[own.upperBound - 1] == backslash
            if byte == equalsSign, !isEscaped {
                let isValid = !own.isEmpty && text.firstInvalidUTF8(in: own) == nil
                (part, start) = (isValid ? .valueStart : .bad, index)
            } else if byte == comma || byte == space, !isEscaped {
                part = .bad
            }
        case .valueStart where byte == quote: (part, start) = (.string, index - 1)
        case .valueStart, .value:
            part = byte == space ? .time : .value
            if byte == comma {
                (part, start) = (UnfinishedLine.isValue(text, own) ? .key : .bad, index)
            }
        case .afterString:
            (part, start) = (byte == comma ? .key : byte == space ? .time : .bad, index)
        case .time, .bad, .string: break
        }
    }

    /// Whether a range is a number or a boolean.
    private static func isValue(_ text: PaddedBytes, _ range: Range<Int>) -> Bool {
        let number = NumberParsing.scan(text, at: range.lowerBound)
        if number.kind == .float || number.kind == .integer {
            return number.end == range.upperBound
        }
        return BooleanWord.value(text, range) != nil
    }
}
