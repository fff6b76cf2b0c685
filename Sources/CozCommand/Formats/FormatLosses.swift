// What answers and exports leave out, because their format cannot say it.

/// What a format has no way to say, counted so that nobody takes a file for the whole.
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

    /// What people are told, or nil where everything was written.
    ///
    /// - Parameter others: formats that can.
    func note(_ format: String, others: String? = nil) -> String? {
        if values + points == 0 { return nil }
        let advice = others.map { "; \($0) can write any name" } ?? ""
        let counts = [
            values > 0 ? PlainText.counted(values, "value") : nil,
            points > 0 ? PlainText.counted(points, "row") : nil,
        ].compactMap(\.self).joined(separator: " and ")
        let verb = values + points == 1 ? "is" : "are"
        return "\(format) cannot say \(counts), which \(verb) left out: found \(example)\(advice)"
    }
}
