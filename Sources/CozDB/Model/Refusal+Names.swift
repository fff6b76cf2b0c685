// Whom an entry of the rejects journal may be about: its raw text is of any format, cut off
// anywhere, so every word of it that could be a name counts.

extension Refusal {
    /// Every word of what is kept of it that could be the name of a participant: tags as far as
    /// the text parses, cells of tables, and words between signs.
    var words: Set<Name> {
        var words: Set<Name> = []
        for text in [Array(reason.utf8), Array(source.utf8)] { NamedWords.collect(text, &words) }
        switch subject {
        case .line(let bytes):
            NamedWords.collect(bytes, &words)
            for tag in LineSeries(bytes)?.tags ?? [] { words.insert(Name(tag.value)) }
        case .value(let experiment, let key, _, let field, let value, _):
            for tag in key.tags { words.insert(Name(tag.value)) }
            for text in [experiment, field] { NamedWords.collect(Array(text.utf8), &words) }
            if case .string(let text) = value { NamedWords.collect(Array(text.utf8), &words) }
        }
        return words
    }

    /// Whether a name stands in it, as a word of its own: `p1` is in `p1.csv`, and not in `p10`.
    func names(_ participant: [UInt8]) -> Bool {
        func contains(_ text: some Sequence<UInt8>) -> Bool {
            NamedWords.contains(participant, in: Array(text))
        }
        if contains(reason.utf8) || contains(source.utf8) { return true }
        switch subject {
        case .line(let bytes): return contains(bytes)
        case .value(let experiment, let key, _, let field, let value, _):
            if key.tags.contains(where: { contains($0.value.utf8) }) { return true }
            if case .string(let text) = value, contains(text.utf8) { return true }
            return contains(experiment.utf8) || contains(field.utf8)
        }
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
