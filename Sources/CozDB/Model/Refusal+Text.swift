// One-line summaries of refusals.

extension Refusal {
    /// Maximum characters of a name or value in a message.
    private static let excerptCountMax = 40

    /// What was refused and why: `dev ts_heart_rate="abc": string for a field that is locked as
    /// float`. For a line, only the reason. Names and values are truncated, values of credential
    /// columns are masked.
    package var summary: String {
        guard case .value(_, _, _, let field, _, _) = subject else { return reason }
        return CredentialColumns.contains(field) ? redacted.openSummary : openSummary
    }

    private var openSummary: String {
        guard case .value(let experiment, _, _, let field, let value, _) = subject else {
            return reason
        }
        let place = "\(Refusal.excerpt(experiment)) \(Refusal.excerpt(field))"
        guard case .string(let text) = value else {
            return "\(place)=\(value.readableText): \(reason)"
        }
        return "\(place)=\(FieldValue.string(Refusal.excerpt(text))): \(reason)"
    }

    static func excerpt(_ text: String) -> String {
        // Counting all characters of a long value would be slow.
        let end = text.index(text.startIndex, offsetBy: excerptCountMax, limitedBy: text.endIndex)
        guard let end, end < text.endIndex else { return text }
        return text[..<end] + "..."
    }
}

extension Refusal: CustomStringConvertible {
    /// One line for logs: source and line, what was refused, of whom and when, and why. Names and
    /// values are truncated, credentials are masked.
    public var description: String {
        let masked = redacted
        var text = ""
        if !source.isEmpty { text += source + (line > 0 ? ":\(line)" : "") + ": " }
        text += masked.openSummary
        if case .value(_, let key, let time, _, _, _) = masked.subject {
            text += " (\(Refusal.excerpt(key.text)), \(time.text()))"
        }
        return text
    }
}

extension Refusal {
    /// The refusal with line and reason truncated to their maximum stored lengths.
    var cut: Refusal {
        var refusal = self
        // They are stored as unsigned integers.
        refusal.line = max(0, line)
        refusal.column = max(0, column)
        if case .line(let bytes) = subject, bytes.count > Refusal.lineSizeBytesMax {
            refusal.subject = .line(Array(bytes.prefix(Refusal.lineSizeBytesMax)))
        }
        let text = reason.utf8
        if text.count > Refusal.reasonSizeBytesMax {
            var end = text.index(text.startIndex, offsetBy: Refusal.reasonSizeBytesMax - 3)
            // Do not cut inside a character.
            while end.samePosition(in: reason.unicodeScalars) == nil {
                end = text.index(before: end)
            }
            refusal.reason = reason[..<end] + "..."
        }
        return refusal
    }
}

extension FieldValue {
    /// The value as people write it: integers without the `i` of line protocol.
    package var readableText: String {
        if case .integer(let value) = self { return String(value) }
        return description
    }
}
