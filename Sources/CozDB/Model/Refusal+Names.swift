// Finds the participants that a rejects entry may name. Its raw text has any format and may be
// truncated, so every word that could be a name counts.

extension Refusal {
    /// Returns the names that the refusal may mention.
    ///
    /// - Parameter tags: The tags that name participants. If the refusal has one of them, its text
    ///   belongs to that participant, and only the name of its file can mention others. A text that
    ///   may have several items belongs to everybody whom it mentions.
    func mentions(tags: Set<Name>) -> RefusalMentions {
        let line: LineSeries? =
            if case .line(let bytes) = subject { LineSeries(bytes) } else { nil }
        let series =
            switch subject {
            case .line: line?.tags.map { ($0.name, $0.value) } ?? []
            case .value(_, let key, _, _, _, _): key.tags.map { ($0.name, $0.value) }
            }
        let owners = series.filter { tags.contains(Name($0.0)) }.map { Name($0.1) }
        if !owners.isEmpty, line?.isOne(tags) ?? true {
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

extension LineSeries {
    /// Whether the text is one line or item, and no participant comes after its tags.
    fileprivate func isOne(_ tags: Set<Name>) -> Bool {
        isOne && !others.contains { tags.contains(Name($0.name)) }
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
        let quote = UInt8(ascii: "\"")
        var quoted = participant
        if participant.utf8.contains(quote) {
            var bytes: [UInt8] = []
            for byte in participant.utf8 {
                if byte == quote { bytes.append(quote) }
                bytes.append(byte)
            }
            quoted = String(decoding: bytes, as: UTF8.self)
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
        // A name that is longer than the texts costs nothing, however many texts are refused.
        guard texts.contains(where: { $0.count >= name.utf8.count }) else {
            return names.contains { $0 == Name(name) }
        }
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
