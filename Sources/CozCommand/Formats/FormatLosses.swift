// What an answer or export leaves out because its format cannot represent it.

/// Counts the values and rows that a format cannot represent, so that users know what is missing.
struct FormatLosses {
    private(set) var values = 0
    private(set) var points = 0
    private(set) var example = ""

    mutating func lose(values count: Int = 1, _ reason: @autoclosure () -> String) {
        if values + points == 0 { example = reason() }
        values += count
    }

    mutating func lose(points count: Int, _ reason: @autoclosure () -> String) {
        if values + points == 0 { example = reason() }
        points += count
    }

    /// Returns the note for users; nil if nothing was left out.
    ///
    /// - Parameter others: The formats that can represent the rest.
    func note(_ format: String, others: String? = nil) -> String? {
        if values + points == 0 { return nil }
        let advice = others.map { "; \($0) can represent all names" } ?? ""
        let counts = [
            values > 0 ? PlainText.counted(values, "value") : nil,
            points > 0 ? PlainText.counted(points, "row") : nil,
        ].compactMap(\.self).joined(separator: " and ")
        let verb = values + points == 1 ? "is" : "are"
        return "\(format) cannot represent \(counts), which \(verb) left out; found \(example)"
            + advice
    }
}
