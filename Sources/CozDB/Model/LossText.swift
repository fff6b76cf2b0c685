// The text of messages about damage, shared by queries, `check` and `repair`.

/// What is damaged, and which data cannot be read because of it.
struct LossText: Equatable, Sendable {
    var found: String
    /// Empty if nothing is lost.
    var lost: String

    private static let separator = "; lost: "

    init(found: String, lost: String) {
        self.found = found
        self.lost = lost
    }

    /// Splits a message into its two parts.
    init(message: String) {
        let separator = Array(LossText.separator.utf8)
        let bytes = Array(message.utf8)
        let index = bytes.indices.first { bytes[$0...].starts(with: separator) }
        found = index.map { String(decoding: bytes[..<$0], as: UTF8.self) } ?? message
        lost =
            index.map { String(decoding: bytes[($0 + separator.count)...], as: UTF8.self) } ?? ""
    }

    var message: String { lost.isEmpty ? found : found + LossText.separator + lost }

    /// The names as text: the first five, then how many more there are.
    ///
    /// - Parameter count: the number of all names; at least as many as are passed.
    static func list(_ names: [String], of count: Int) -> String {
        let shown = names.prefix(nameCountMax).map { name in
            let bytes = Array(name.utf8)
            let isLong = bytes.count > nameSizeBytesMax
            // A cut inside a character shows as a replacement character.
            let text = isLong ? String(decoding: bytes[..<nameSizeBytesMax], as: UTF8.self) : name
            return "\"\(text)\"" + (isLong ? "..." : "")
        }
        let text = shown.joined(separator: ", ")
        return count > shown.count ? "\(text) and \(count - shown.count) more" : text
    }

    /// `1 row`, `2 rows`.
    static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    static func span(_ first: Int64, _ last: Int64) -> String {
        "\(Timestamp(nanoseconds: first)) to \(Timestamp(nanoseconds: last))"
    }

    static let nameCountMax = 5
    private static let nameSizeBytesMax = 80
}

extension DatabaseError {
    /// The same error with the data that is lost.
    func losing(_ lost: String) -> DatabaseError {
        var error = self
        error.message = LossText(found: LossText(message: message).found, lost: lost).message
        return error
    }
}
