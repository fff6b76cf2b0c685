// Whom an entry of the rejects journal may be about: its raw text is of any format, cut off
// anywhere, so every word of it that could be a name counts.

extension Refusal {
    /// Whom it may be about.
    ///
    /// - Parameter tags: those that name participants. Where one of them says whose it is, its
    ///   text is that participant's own, and only the name of the file can be about somebody else.
    func mentions(tags: Set<Name>) -> RefusalMentions {
        let series =
            switch subject {
            case .line(let bytes): LineSeries(bytes)?.tags.map { ($0.name, $0.value) } ?? []
            case .value(_, let key, _, _, _, _): key.tags.map { ($0.name, $0.value) }
            }
        let owners = series.filter { tags.contains(Name($0.0)) }.map { Name($0.1) }
        if !owners.isEmpty {
            return RefusalMentions(names: Set(owners), texts: [Array(source.utf8)])
        }
        var texts = [Array(reason.utf8), Array(source.utf8)]
        switch subject {
        case .line(let bytes): texts.append(bytes)
        case .value(let experiment, _, _, let field, let value, _):
            texts += series.map { Array($0.1.utf8) }
            texts += [Array(experiment.utf8), Array(field.utf8)]
            if case .string(let text) = value { texts.append(Array(text.utf8)) }
        }
        return RefusalMentions(names: Set(series.map { Name($0.1) }), texts: texts)
    }
}

extension Refusal {
    /// The same as it is kept where lines without a participant were read as those of one: a line
    /// that names nobody has him in its source, in quotes, so that whoever forgets him finds it.
    ///
    /// - Parameter tags: those that name participants.
    func assuming(_ participant: String?, tags: Set<Name>) -> Refusal {
        guard let participant, !participant.isEmpty, case .line(let bytes) = subject else {
            return self
        }
        let names = LineSeries(bytes)?.tags.map { Name($0.name) } ?? []
        if names.contains(where: tags.contains) { return self }
        var refusal = self
        var quoted = ""
        for scalar in participant.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        refusal.source += ",\"\(quoted)\""
        return refusal
    }
}

/// Whom an entry of the rejects journal may be about.
struct RefusalMentions {
    /// Names as they are.
    let names: Set<Name>
    /// Where names stand among other things.
    let texts: [[UInt8]]

    /// The names, and every word that could be one: cells of tables, and words between signs.
    var words: Set<Name> {
        var words = names
        for text in texts { NamedWords.collect(text, &words) }
        return words
    }

    /// Whether a name stands in a text, as a word of its own: `p1` is in `p1.csv`, not in `p10`.
    func contains(_ participant: [UInt8]) -> Bool {
        texts.contains { NamedWords.contains(participant, in: $0) }
    }
}

/// Finding names in text of any kind.
enum NamedWords {
    /// Adds the words of a text: as cells of a table, and with three notions of what parts words.
    static func collect(_ text: [UInt8], _ words: inout Set<Name>) {
        collectCells(text, &words)
        for separators in [
            Array(" \t\r\n,;=\"'(){}[]".utf8), Array(" \t\r\n,;:=\"'/\\(){}[]".utf8),
        ] {
            for word in text.split(whereSeparator: { separators.contains($0) }) {
                insert(word, &words)
            }
        }
        for word in text.split(whereSeparator: { !isWordByte($0) }) { insert(word, &words) }
        for word in text.split(whereSeparator: { !isWordByte($0) && $0 != UInt8(ascii: "-") }) {
            insert(word, &words)
        }
    }

    private static func insert(_ word: some Collection<UInt8>, _ words: inout Set<Name>) {
        guard !word.isEmpty, word.count <= DatabaseOptions.nameSizeBytesMax else { return }
        words.insert(Name(String(decoding: word, as: UTF8.self)))
    }

    /// Cells between commas, semicolons or tabs, in quotes or not.
    private static func collectCells(_ text: [UInt8], _ words: inout Set<Name>) {
        let quote = UInt8(ascii: "\"")
        var cell: [UInt8] = []
        var isQuoted = false
        for byte in text {
            if byte == quote {
                // A quote in a quoted cell is two.
                if !isQuoted, cell.last != quote, !cell.isEmpty { cell.append(quote) }
                isQuoted.toggle()
            } else if !isQuoted, ",;\t\r\n".utf8.contains(byte) {
                insert(cell, &words)
                cell.removeAll(keepingCapacity: true)
            } else {
                cell.append(byte)
            }
        }
        insert(cell, &words)
    }

    /// Whether a word stands in a text with no letter or digit beside it.
    static func contains(_ word: [UInt8], in text: [UInt8]) -> Bool {
        guard let first = word.first, let last = word.last, text.count >= word.count else {
            return false
        }
        for start in 0...(text.count - word.count) where text[start] == first {
            let end = start + word.count
            guard text[start..<end].elementsEqual(word) else { continue }
            let isInside =
                start > 0 && isWordByte(first) && isWordByte(text[start - 1])
                || end < text.count && isWordByte(last) && isWordByte(text[end])
            if !isInside { return true }
        }
        return false
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isWord || byte >= 0x80 }
}
