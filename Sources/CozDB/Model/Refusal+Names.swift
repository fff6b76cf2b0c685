// Finds the participants that a rejects entry may name. Its raw text has any format and may be
// truncated, so every word that could be a name counts.

extension Refusal {
    /// Returns the names that the refusal may mention.
    ///
    /// - Parameter tags: The tags that name participants. If the refusal has one of them, its text
    ///   belongs to that participant, and only the name of its file can mention others.
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
    /// Returns the refusal of a line as it is stored. If the line does not show whose it is, the
    /// name is appended to `source` in quotes, so that forgetting that participant finds the entry.
    ///
    /// - Parameters:
    ///   - assumed: The participant of lines that name none.
    ///   - tags: The tags that name participants.
    func naming(assumed: String?, tags: () -> Set<Name>) -> Refusal {
        guard case .line(let bytes) = subject, let name = participant ?? assumed, !name.isEmpty
        else { return self }
        let tags = tags()
        if participant == nil {
            let names = LineSeries(bytes)?.tags.map { Name($0.name) } ?? []
            if names.contains(where: tags.contains) { return self }
        } else if mentions(tags: tags).hasWord(name) {
            return self
        }
        return naming(name)
    }

    private func naming(_ participant: String) -> Refusal {
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

/// The names that a rejects entry may mention.
struct RefusalMentions {
    /// Exact names.
    let names: Set<Name>
    /// Texts that may contain names, as received and without escapes.
    let texts: [[UInt8]]

    fileprivate init(names: Set<Name>, texts: [[UInt8]]) {
        self.names = names
        self.texts = texts + texts.compactMap(NamedWords.unescaped)
    }

    /// The exact names and every word of the texts that could be a name.
    var words: Set<Name> {
        var words = names
        for text in texts { NamedWords.collect(text, &words) }
        return words
    }

    /// Whether a name is one of the words. Cheap for a name that is a single word.
    func hasWord(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        guard NamedWords.isSingle(bytes) else { return words.contains(Name(name)) }
        return names.contains(Name(name)) || contains(bytes)
    }

    /// Whether a name occurs in a text as a whole word: `p1` is in `p1.csv`, not in `p10`.
    func contains(_ participant: [UInt8]) -> Bool {
        let automaton = NameAutomaton([participant])
        return texts.contains { automaton.findsWhole(in: $0) }
    }
}

/// Finds many names in texts. Looks only into texts that have the first word of one of them.
struct NameSearch: Sendable {
    private var firstWords: Set<Name> = []
    /// Whether a name has no word.
    private var hasOthers = false
    private let automaton: NameAutomaton

    init(_ names: Set<Name>) {
        let names = names.map { Array($0.text.utf8) }
        automaton = NameAutomaton(names)
        for name in names {
            if let word = NamedWords.firstWord(of: name) {
                firstWords.insert(word)
            } else {
                hasOthers = true
            }
        }
    }

    /// Whether one of the names occurs in the texts as a whole word.
    ///
    /// - Parameter words: those of the mentions.
    func finds(_ mentions: RefusalMentions, _ words: Set<Name>) -> Bool {
        guard hasOthers || words.contains(where: firstWords.contains) else { return false }
        return mentions.texts.contains { automaton.findsWhole(in: $0) }
    }
}

/// Finds names in arbitrary text.
enum NamedWords {
    /// Whether a name has letters, digits and the like only.
    static func isSingle(_ name: [UInt8]) -> Bool { name.allSatisfy(isWordByte) }

    /// The first run of letters, digits and the like in a name; nil if there is none.
    static func firstWord(of name: [UInt8]) -> Name? {
        let words = name.split(maxSplits: 1, whereSeparator: { !isWordByte($0) })
        return words.first.map { word in
            let end = word.firstIndex { !isWordByte($0) } ?? word.endIndex
            return Name(String(decoding: word[..<end], as: UTF8.self))
        }
    }

    /// Adds the words of a text: its table cells, and its words by several definitions of a
    /// separator.
    static func collect(_ text: [UInt8], _ words: inout Set<Name>) {
        collectCells(text, &words)
        collectEscaped(text, &words)
        for separators in [
            // Between two quotes or delimiters of a table, even if another quote is missing.
            Array("\"".utf8), Array(",;\t\r\n".utf8),
            Array(" \t\r\n,;=\"'(){}[]".utf8), Array(" \t\r\n,;:=\"'/\\(){}[]".utf8),
            // Several words between quotes or other delimiters.
            Array("\t\r\n,;=\"'(){}[]|<>".utf8),
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

    /// Adds the words between separators of line protocol, which a backslash escapes.
    private static func collectEscaped(_ text: [UInt8], _ words: inout Set<Name>) {
        var word: [UInt8] = []
        var isEscaped = false
        for byte in text {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, " ,=\"\t\r\n".utf8.contains(byte) {
                insert(word, &words)
                word.removeAll(keepingCapacity: true)
            } else {
                word.append(byte)
            }
            isEscaped = false
        }
        insert(word, &words)
    }

    private static func insert(_ word: some Collection<UInt8>, _ words: inout Set<Name>) {
        guard !word.isEmpty, word.count <= DatabaseOptions.nameSizeBytesMax else { return }
        words.insert(Name(String(decoding: word, as: UTF8.self)))
    }

    /// Adds the cells between commas, semicolons, tabs and line ends, quoted or not.
    private static func collectCells(_ text: [UInt8], _ words: inout Set<Name>) {
        let quote = UInt8(ascii: "\"")
        var cell: [UInt8] = []
        var isQuoted = false
        for byte in text {
            if byte == quote {
                // A doubled quote in a quoted cell is a literal quote.
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

    /// Whether a range of a text begins and ends where its words do.
    static func isWhole(_ range: Range<Int>, in text: [UInt8]) -> Bool {
        let (start, end) = (range.lowerBound, range.upperBound)
        return
            !(start > 0 && isWordByte(text[start]) && isWordByte(text[start - 1])
            || end < text.count && isWordByte(text[end - 1]) && isWordByte(text[end]))
    }

    private static func isWordByte(_ byte: UInt8) -> Bool { byte.isWord || byte >= 0x80 }

    /// Returns a text without the escapes of JSON, CSV and line protocol; nil if it has none. A
    /// wrong escape stays.
    static func unescaped(_ text: [UInt8]) -> [UInt8]? {
        let (backslash, quote) = (UInt8(ascii: "\\"), UInt8(ascii: "\""))
        let isDoubled = { (pair: (UInt8, UInt8)) in pair == (quote, quote) }
        guard text.contains(backslash) || zip(text, text.dropFirst()).contains(where: isDoubled)
        else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            let byte = text[index]
            let next = index + 1 < text.count ? text[index + 1] : nil
            index += 1
            if byte == backslash, next == UInt8(ascii: "u"),
                let (scalar, end) = scalar(text, at: index - 1)
            {
                result.append(contentsOf: Array(String(scalar).utf8))
                index = end
            } else if byte == backslash, let next {
                result.append(next)
                index += 1
            } else {
                result.append(byte)
                if byte == quote, next == quote { index += 1 }
            }
        }
        return result
    }

    /// Returns the scalar of `\u00eb` or of a surrogate pair, and its end; nil for anything else.
    private static func scalar(_ text: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
        guard let first = codeUnit(text, at: start) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, start + 6) }
        guard let second = codeUnit(text, at: start + 6) else { return nil }
        let pair = String(decoding: [UInt16(first), UInt16(second)], as: UTF16.self)
        guard pair.unicodeScalars.count == 1, let scalar = pair.unicodeScalars.first else {
            return nil
        }
        return (scalar, start + 12)
    }

    private static func codeUnit(_ text: [UInt8], at start: Int) -> UInt32? {
        guard start + 6 <= text.count, text[start] == UInt8(ascii: "\\"),
            text[start + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt32(String(decoding: text[(start + 2)..<(start + 6)], as: UTF8.self), radix: 16)
    }
}
