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
        case .line:
            refusal.subject = .line(Array(Secrets.mask.utf8))
            // It may quote the line.
            let plain = reason.utf8.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
            refusal.reason = String(decoding: plain, as: UTF8.self)
        case .value(let experiment, let key, let time, let field, let value, let locked):
            refusal.subject = .value(
                experiment: experiment, key: key.redacted, time: time, field: field,
                value: Secrets.contains(field) ? .string(Secrets.mask) : value, locked: locked)
        }
        return refusal
    }
}
