// Refusals in one line, for messages.

extension Refusal {
    /// Most characters of a name or value in a message.
    private static let excerptCountMax = 40

    /// What was refused and why: `dev ts_heart_rate="abc": string for a field that is locked as
    /// float`; of a line, why only. Names and values are cut.
    package var summary: String {
        guard case .value(let experiment, _, _, let field, let value, _) = subject else {
            return reason
        }
        let place = "\(Refusal.excerpt(experiment)) \(Refusal.excerpt(field))"
        guard case .string(let text) = value else {
            return "\(place)=\(value.readableText): \(reason)"
        }
        return "\(place)=\(FieldValue.string(Refusal.excerpt(text))): \(reason)"
    }

    private static func excerpt(_ text: String) -> String {
        // Counting all characters of a megabyte would take its time.
        let end = text.index(text.startIndex, offsetBy: excerptCountMax, limitedBy: text.endIndex)
        guard let end, end < text.endIndex else { return text }
        return text[..<end] + "..."
    }
}

extension Refusal {
    /// The same with no more of the line and of the reason than is kept.
    var cut: Refusal {
        var refusal = self
        // Numbers are stored as counts.
        refusal.line = max(0, line)
        refusal.column = max(0, column)
        if case .line(let bytes) = subject, bytes.count > Refusal.lineSizeBytesMax {
            refusal.subject = .line(Array(bytes.prefix(Refusal.lineSizeBytesMax)))
        }
        let text = reason.utf8
        if text.count > Refusal.reasonSizeBytesMax {
            var end = text.index(text.startIndex, offsetBy: Refusal.reasonSizeBytesMax - 3)
            // Not inside of a character.
            while end.samePosition(in: reason.unicodeScalars) == nil {
                end = text.index(before: end)
            }
            refusal.reason = reason[..<end] + "..."
        }
        return refusal
    }
}

extension FieldValue {
    /// The value as people read it: integers without the letter of line protocol.
    package var readableText: String {
        if case .integer(let value) = self { return String(value) }
        return description
    }
}
