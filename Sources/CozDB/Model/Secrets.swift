// Columns that open doors: what --redact masks. They are known by their names, which the Cozie app
// gives them, as field, tag or part of a series' key.

/// Values that are not for everybody who may read the measurements.
enum Secrets {
    /// What stands in place of a value.
    static let mask = "REDACTED"

    /// `id_password` and `api_*_key`.
    static func contains(_ name: String) -> Bool {
        let name = name.utf8
        return name.elementsEqual("id_password".utf8)
            || name.starts(with: "api_".utf8) && name.suffix(4).elementsEqual("_key".utf8)
    }
}

extension ExperimentSchema {
    /// The same with the values of secret columns masked: texts, whatever they were.
    var redacted: ExperimentSchema {
        var schema = self
        for column in columns where Secrets.contains(column.name) { schema.redact(column.id) }
        return schema
    }
}

extension SeriesKey {
    /// The series in words, for messages: the participant where there is no other tag, else all
    /// tags. Secrets are masked for everybody: a message ends in logs and mails, and those who
    /// may see a secret do not need it there.
    package var text: String {
        let tags = redacted.tags
        if tags.count == 1 { return tags[0].value }
        return namedText
    }

    /// The same with the name of the tag, also where there is one alone.
    package var namedText: String {
        redacted.tags.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    }

    /// A value of a tag in words, in quotes; of a secret one only that it is one.
    package static func text(ofTag name: String, _ value: String?) -> String {
        guard let value else { return "(missing)" }
        return Secrets.contains(name) ? Secrets.mask : "\"\(value)\""
    }

    /// The key with the values of secret tags masked; two keys may become one.
    var redacted: SeriesKey {
        let tags = tags
        guard tags.contains(where: { Secrets.contains($0.name) }) else { return self }
        return SeriesKey(
            tags: tags.map { ($0.name, Secrets.contains($0.name) ? Secrets.mask : $0.value) })
    }
}

extension Refusal {
    /// The entry with nothing secret in it: a refused line may be of any form, and goes whole.
    var redacted: Refusal {
        var refusal = self
        switch subject {
        case .line(let line):
            refusal.subject = .line(Array(Secrets.mask.utf8))
            refusal.reason = reason(without: line)
        case .value(let experiment, let key, let time, let field, let value, let locked):
            refusal.subject = .value(
                experiment: experiment, key: key.redacted, time: time, field: field,
                value: Secrets.contains(field) ? .string(Secrets.mask) : value, locked: locked)
            if Secrets.contains(field) {
                refusal.reason = reason(without: Array(value.readableText.utf8))
            }
        }
        return refusal
    }

    /// The reason up to what it quotes, without words of a text that it may repeat.
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
            // A number may be a part of what stands there: 5 of 5i.
            let isRepeated =
                NamedWords.contains(bare, in: text)
                || bare.contains(where: \.isDigit) && text.contains(bare)
            masked += isRepeated ? Array(Secrets.mask.utf8) : word
            masked.append(byte)
            word.removeAll()
        }
        return String(decoding: masked.dropLast(), as: UTF8.self)
    }
}
