// Matches names against patterns: * matches any characters, ? matches one.

/// A pattern for field names. Matches bytes.
struct NamePattern: Sendable {
    private let pattern: [UInt8]
    private let ignoresCase: Bool

    /// - Parameter ignoresCase: applies to the letters A to Z only.
    init(_ text: String, ignoresCase: Bool = false) {
        self.ignoresCase = ignoresCase
        pattern = NamePattern.folded(text, ignoresCase)
    }

    private static func folded(_ text: String, _ ignoresCase: Bool) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard ignoresCase else { return bytes }
        return bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    func matches(_ text: String) -> Bool {
        let name = NamePattern.folded(text, ignoresCase)
        // Backtrack to the last star only; earlier stars never need to take more.
        var (star, taken): (Int?, Int) = (nil, 0)
        var (place, position) = (0, 0)
        while position < name.count {
            let expected = place < pattern.count ? pattern[place] : nil
            if expected == UInt8(ascii: "*") {
                (star, taken) = (place, position)
                place += 1
            } else if let expected, expected == UInt8(ascii: "?") || expected == name[position] {
                place += 1
                position += 1
            } else if let star {
                taken += 1
                (place, position) = (star + 1, taken)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
