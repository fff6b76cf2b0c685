// Masking of credential columns. They are recognized by the names that the Cozie app uses, whether
// as field, tag or part of a series key. No preset declares them: most databases have none, and a
// message about a damaged file has no schema.

/// Credential columns.
package enum CredentialColumns {
    /// The text that replaces a masked value.
    static let mask = "REDACTED"

    /// Whether the name is `id_password` or `api_*_key`.
    package static func contains(_ name: String) -> Bool {
        let name = name.utf8
        return name.elementsEqual("id_password".utf8)
            || name.starts(with: "api_".utf8) && name.suffix(4).elementsEqual("_key".utf8)
    }
}

extension ExperimentSchema {
    /// The schema with credential columns masked; they become string columns.
    var redacted: ExperimentSchema {
        var schema = self
        for column in columns where CredentialColumns.contains(column.name) {
            schema.redact(column.id)
        }
        return schema
    }
}

extension SeriesKey {
    /// The series as text, for messages: the value if there is a single tag, otherwise all tags.
    /// Credentials are always masked, because messages end up in logs and mails.
    package var text: String {
        let tags = redacted.tags
        if tags.count == 1 { return tags[0].value }
        return namedText
    }

    /// The series as text with tag names, also for a single tag.
    package var namedText: String {
        redacted.tags.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    }

    /// Returns a tag's value as quoted text; credentials are masked.
    package static func text(ofTag name: String, _ value: String?) -> String {
        guard let value else { return "(missing)" }
        return CredentialColumns.contains(name) ? CredentialColumns.mask : "\"\(value)\""
    }

    /// The key with credential tags masked. Different keys may become equal.
    var redacted: SeriesKey {
        let tags = tags
        guard tags.contains(where: { CredentialColumns.contains($0.name) }) else { return self }
        return SeriesKey(
            tags: tags.map {
                ($0.name, CredentialColumns.contains($0.name) ? CredentialColumns.mask : $0.value)
            })
    }
}

extension Refusal {
    /// The refusal with credentials masked. A refused line can have any form, so it is masked
    /// completely.
    package var redacted: Refusal {
        var refusal = self
        switch subject {
        case .line(let line):
            refusal.subject = .line(Array(CredentialColumns.mask.utf8))
            refusal.reason = reason(without: line)
        case .value(let experiment, let key, let time, let field, let value, let locked):
            let isMasked = CredentialColumns.contains(field) || value.isNested
            refusal.subject = .value(
                experiment: experiment, key: key.redacted, time: time, field: field,
                value: isMasked ? .string(CredentialColumns.mask) : value, locked: locked)
            if isMasked {
                // Reasons quote texts as they were received.
                var text = value.readableText
                if case .string(let received) = value { text = received }
                refusal.reason = reason(without: Array(text.utf8))
            }
        }
        return refusal
    }

    /// Returns the reason up to its first quotation, with words masked that also occur in a text.
    private func reason(without text: [UInt8]) -> String {
        let plain = reason.utf8.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        var masked: [UInt8] = []
        var word: [UInt8] = []
        for byte in Array(plain) + [UInt8(ascii: " ")] {
            if byte != UInt8(ascii: " ") {
                word.append(byte)
                continue
            }
            let bare = Array(word.drop { !$0.isWord }.reversed().drop { !$0.isWord }.reversed())
            // A number may be part of a word: 5 in 5i.
            let isRepeated =
                NameAutomaton([bare]).findsWhole(in: text)
                || bare.contains(where: \.isDigit) && text.contains(bare)
            masked += isRepeated ? Array(CredentialColumns.mask.utf8) : word
            masked.append(byte)
            word.removeAll()
        }
        return String(decoding: masked.dropLast(), as: UTF8.self)
    }
}

extension FieldValue {
    /// Whether it is the text of a JSON object or array, which can hold credentials itself.
    fileprivate var isNested: Bool {
        guard case .string(let text) = self else { return false }
        return text.utf8.first == UInt8(ascii: "{") || text.utf8.first == UInt8(ascii: "[")
    }
}
