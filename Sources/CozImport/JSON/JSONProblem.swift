// Errors and positions in JSON documents.

internal import CozDB

/// Why bytes are not valid JSON.
package struct JSONProblem: Sendable {
    /// The bytes that a message quotes, at most.
    static let quotedSizeBytesMax = 20

    /// Index of the invalid byte, or the number of bytes if they end too early.
    package var index: Int
    /// What was expected there, in words.
    package var expected: StaticString

    /// Returns a message such as `found "}", expected a value`.
    ///
    /// - Parameter text: the bytes that were scanned.
    package func message(in text: PaddedBytes) -> String {
        "found \(found(text)), expected \(expected)"
    }

    private func found(_ text: PaddedBytes) -> String {
        guard index < text.count else { return "the end" }
        let byte = text[index]
        if byte < 0x20 { return JSONProblem.controlName(byte) }
        let end = Swift.min(index + JSONProblem.quotedSizeBytesMax, text.count)
        var bytes = text.copy(index..<end)
        if let cut = bytes.firstIndex(where: { $0 < 0x20 }) { bytes.removeSubrange(cut...) }
        // Drop a character that is cut off at the end.
        while let last = bytes.last, last >= 0x80, String(validating: bytes, as: UTF8.self) == nil {
            bytes.removeLast()
        }
        if bytes.isEmpty { return "the byte \(byte), which is not valid UTF-8 here" }
        return "\"\(String(decoding: bytes, as: UTF8.self))\""
    }

    private static func controlName(_ byte: UInt8) -> String {
        switch byte {
        case newline: "the end of the line"
        case tab: "a tab"
        default: "the control character \(byte)"
        }
    }
}

/// A position in a document, for error messages.
package struct JSONPlace: Equatable, Sendable {
    /// Byte offset, from 0.
    package var offset = 0
    /// From 1.
    package var line = 1
    /// Byte in the line, from 1.
    package var column = 1

    /// Creates the position of the first byte.
    package init() {}

    /// Moves forward over a range of bytes that begins at this position.
    package mutating func advance(over range: Range<Int>, of text: PaddedBytes) {
        offset += range.count
        var index = range.lowerBound
        while let end = text.firstIndex(of: newline, in: index..<range.upperBound) {
            line += 1
            column = 1
            index = end + 1
        }
        column += range.upperBound - index
    }

    /// Returns the position of `index`, if this is the position of `start`.
    package func advanced(from start: Int, to index: Int, of text: PaddedBytes) -> JSONPlace {
        var place = self
        place.advance(over: start..<Swift.min(index, text.count), of: text)
        return place
    }

    /// Such as `line 3, column 7`.
    package var description: String { "line \(line), column \(column)" }
}
