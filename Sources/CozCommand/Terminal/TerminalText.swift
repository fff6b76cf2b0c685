// Filters all output to terminals, so that data cannot control them. Output to files and pipes is
// not filtered.

internal import CozDB

/// Replaces control characters by escapes. Line feeds and tabs stay.
///
/// The escapes are those of JSON (`\u009b`), so that JSON on a terminal keeps its meaning. Bytes
/// that are not UTF-8 become `\x9b`.
struct TerminalText {
    /// The start of a character that is still incomplete.
    private var open: [UInt8] = []

    /// Returns nil if the descriptor is not a terminal.
    init?(behind descriptor: Int32?) {
        guard let descriptor, Terminal.isTerminal(descriptor) else { return nil }
    }

    init() {}

    /// Returns the bytes to write instead.
    ///
    /// - Parameter isLast: Whether no more bytes follow, so that an incomplete character is
    ///   invalid.
    mutating func escaped(_ bytes: [UInt8], isLast: Bool = true) -> [UInt8] {
        if open.isEmpty, bytes.allSatisfy(TerminalText.isPlain) { return bytes }
        let bytes = open + bytes
        open = []
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 64)
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            let size = TerminalText.size(first)
            let end = min(bytes.count, index + size)
            let character = bytes[index..<end]
            if end - index < size, !isLast,
                character.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 })
            {
                open = Array(character)
                return result
            }
            if TerminalText.isPlain(first) {
                result.append(first)
            } else if let text = String(validating: character, as: UTF8.self),
                let scalar = text.unicodeScalars.first
            {
                if ControlText.isControl(scalar) {
                    TerminalText.append("\\u", scalar.value, digits: 4, to: &result)
                } else {
                    result += character
                }
            } else {
                TerminalText.append("\\x", UInt32(first), digits: 2, to: &result)
                index += 1
                continue
            }
            index = end
        }
        return result
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\t")
    }

    /// The length of a character that begins with this byte.
    private static func size(_ first: UInt8) -> Int {
        switch first {
        case 0xC2..<0xE0: 2
        case 0xE0..<0xF0: 3
        case 0xF0..<0xF5: 4
        default: 1
        }
    }

    private static func append(
        _ mark: String, _ value: UInt32, digits: Int, to result: inout [UInt8]
    ) {
        let hex = String(value, radix: 16)
        let zeros = String(repeating: "0", count: max(0, digits - hex.utf8.count))
        result += Array((mark + zeros + hex).utf8)
    }
}
