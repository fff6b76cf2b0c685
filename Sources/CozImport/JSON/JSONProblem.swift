// Where something stands in a JSON document, and what is wrong there.

internal import CozDB

/// Why bytes are no JSON.
package struct JSONProblem: Sendable {
    /// Index of the byte that is wrong; the count of the bytes where they end too early.
    package var index: Int
    /// What was expected there, in words.
    package var expected: StaticString

    /// `found "}", expected a value`.
    ///
    /// - Parameter text: what was read.
    package func message(in text: PaddedBytes) -> String {
        "found \(found(text)), expected \(expected)"
    }

    private func found(_ text: PaddedBytes) -> String {
        guard index < text.count else { return "the end" }
        let byte = text[index]
        if byte < 0x20 { return JSONProblem.controlName(byte) }
        let end = Swift.min(index + 20, text.count)
        var bytes = text.copy(index..<end)
        if let cut = bytes.firstIndex(where: { $0 < 0x20 }) { bytes.removeSubrange(cut...) }
        // What is cut off in the middle of a character is left out.
        while let last = bytes.last, last >= 0x80, String(validating: bytes, as: UTF8.self) == nil {
            bytes.removeLast()
        }
        if bytes.isEmpty { return "the byte \(byte), which is no UTF-8 here" }
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

/// A place in a document, for people.
package struct JSONPlace: Equatable, Sendable {
    /// Bytes before it.
    package var offset = 0
    /// From 1.
    package var line = 1
    /// Byte in the line, from 1.
    package var column = 1

    /// The place of the first byte.
    package init() {}

    /// Goes on over bytes that begin here.
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

    /// The place of an index, where this is the place of another one before it.
    package func advanced(from start: Int, to index: Int, of text: PaddedBytes) -> JSONPlace {
        var place = self
        place.advance(over: start..<Swift.min(index, text.count), of: text)
        return place
    }

    /// `line 3, column 7`.
    package var description: String { "line \(line), column \(column)" }
}
