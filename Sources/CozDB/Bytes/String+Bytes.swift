// Searches text by its bytes. Swift's own calls compare characters: they do not find a comma before
// a combining character, because both together are another character.

extension StringProtocol {
    /// Whether the text begins with the bytes of another one.
    package func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    /// Whether the text ends with the bytes of another one.
    package func hasByteSuffix(_ suffix: String) -> Bool {
        utf8.reversed().starts(with: suffix.utf8.reversed())
    }

    /// The parts between ASCII separators.
    package func parts(
        separatedBy separator: Unicode.Scalar, maxSplits: Int = .max, keepsEmpty: Bool = true
    ) -> [String] {
        let parts = utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits,
            omittingEmptySubsequences: !keepsEmpty)
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }
}
