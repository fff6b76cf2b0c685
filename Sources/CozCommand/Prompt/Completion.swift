// Tab completion: finds the words that continue the text before the cursor.

internal import CozDB

/// The text on the screen when the user presses Tab.
struct CompletionRequest: Equatable {
    /// The earlier lines of the statement.
    var earlier = ""
    /// The line before and after the cursor.
    var before = ""
    var after = ""

    /// The statement up to the cursor.
    var textBefore: String { earlier.isEmpty ? before : earlier + "\n" + before }
}

struct Completion: Equatable {
    struct Candidate: Equatable {
        var text: String
        /// Text to append if this is the only candidate.
        var ending = ""
        /// The text to match against what was typed; nil if it is `text`.
        var name: String?
    }

    /// The end of the text before the cursor, which a candidate replaces.
    var typed: String
    var candidates: [Candidate]

    /// The replacement of `typed`: the only candidate, or the common prefix of all.
    var insertion: String {
        guard let first = candidates.first else { return typed }
        if candidates.count == 1 { return first.text + first.ending }
        var common = Array(first.text.unicodeScalars)
        for candidate in candidates {
            let scalars = Array(candidate.text.unicodeScalars)
            let shared = zip(common, scalars).prefix { $0 == $1 }.count
            common.removeLast(common.count - shared)
        }
        // If the typed text differs in case, the common prefix can be shorter than it.
        guard common.count >= typed.unicodeScalars.count else { return typed }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: common)
        return String(text)
    }

    /// Formats the candidates in columns for a terminal.
    func list(columns: Int, linesMax: Int = 20) -> String {
        let names = candidates.map { PlainText.escaped($0.text) }
        let width = (names.map(PlainText.width).max() ?? 0) + 2
        let perLine = max(1, columns / width)
        let lines = min(linesMax, (names.count + perLine - 1) / perLine)
        var text = ""
        for line in 0..<lines {
            let part = names[(line * perLine)..<min(names.count, (line + 1) * perLine)]
            for (index, name) in part.enumerated() {
                let isLast = index == part.count - 1
                text += isLast ? name : PlainText.padded(name, to: width)
            }
            text += "\n"
        }
        let left = names.count - lines * perLine
        return left > 0 ? text + "... \(left) more\n" : text
    }
}

/// The names in a database, for completion. Errors return empty lists.
protocol NameCatalog {
    func experiments() -> [String]
    /// Fields and tags of the given experiments; of all if the list is empty.
    func fields(of experiments: [String]) -> [String]
    func tags(of experiments: [String]) -> [String]
    /// Values of a tag that begin with `prefix`.
    func values(of tag: String, in experiments: [String], prefix: String) -> [String]
    /// Time zones that begin with `prefix`. Folders of zones end with a slash.
    func zones(prefix: String) -> [String]
}

struct Completer {
    let catalog: any NameCatalog

    func completion(_ request: CompletionRequest) -> Completion {
        if request.earlier.isEmpty, request.before.hasBytePrefix("\\") {
            return commands(request.before)
        }
        let context = CompletionContext(before: request.textBefore, after: request.after)
        switch context.partial {
        case .text(let typed): return strings(context, typed)
        case .quotedName(let typed):
            let names = self.names(context.expected, context)
            return matching(typed, names.map { Completion.Candidate(text: $0, ending: "\"") })
        case .word(let typed):
            var candidates = names(context.expected, context).map(name)
            candidates += functions(context.expected)
            candidates += words(context.expected).map { word in
                // Continue in the case in which the word was begun.
                let isLower = typed.utf8.first.map { $0 >= UInt8(ascii: "a") } ?? false
                let text = isLower ? word.lowercased() : word
                return .init(text: text, ending: word.hasByteSuffix("(") ? "" : " ")
            }
            return matching(typed, candidates)
        case .none: return Completion(typed: "", candidates: [])
        }
    }

    private func matching(_ typed: String, _ candidates: [Completion.Candidate]) -> Completion {
        let start = typed.lowercased()
        var seen: Set<Name> = []
        let found = candidates.filter {
            ($0.name ?? $0.text).lowercased().hasBytePrefix(start)
                && seen.insert(Name($0.text)).inserted
        }
        return Completion(typed: typed, candidates: found)
    }

    private func name(_ name: String) -> Completion.Candidate {
        if QueryLanguage.isPlainName(name) { return .init(text: name) }
        return .init(text: CompletionContext.quoted(name, "\""), name: name)
    }

    private func names(
        _ expected: CompletionContext.Expected, _ context: CompletionContext
    ) -> [String] {
        switch expected {
        case .experiment: catalog.experiments()
        case .value:
            sorted(
                catalog.fields(of: context.experiments), catalog.tags(of: context.experiments))
        case .field: catalog.fields(of: context.experiments)
        case .dimension, .tag: catalog.tags(of: context.experiments)
        case .words, .nothing: []
        }
    }

    private func sorted(_ some: [String], _ others: [String]) -> [String] {
        Set((some + others).map { Name($0) }).map(\.text)
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func functions(_ expected: CompletionContext.Expected) -> [Completion.Candidate] {
        guard case .value(let isCondition) = expected else { return [] }
        let names = isCondition ? QueryLanguage.rowFunctions + ["now"] : QueryLanguage.functions
        return names.map { .init(text: $0 + "(") }
    }

    private func words(_ expected: CompletionContext.Expected) -> [String] {
        switch expected {
        case .words(let words): words
        case .value(let isCondition): isCondition ? ["time"] : ["DISTINCT", "*"]
        case .dimension: ["time(", "*"]
        case .experiment, .field, .tag, .nothing: []
        }
    }

    // MARK: Strings and commands

    private func strings(_ context: CompletionContext, _ typed: String) -> Completion {
        switch context.string {
        case .zone:
            let zones = catalog.zones(prefix: typed).map { zone in
                Completion.Candidate(text: zone, ending: zone.hasByteSuffix("/") ? "" : "')")
            }
            return matching(typed, zones)
        case .value(let tag):
            let values = catalog.values(of: tag, in: context.experiments, prefix: typed)
            // Values are case-sensitive.
            let candidates = values.filter { $0.hasBytePrefix(typed) }.map { value in
                let text = CompletionContext.quoted(value, "'").unicodeScalars
                return Completion.Candidate(
                    text: String(text.dropFirst().dropLast()), ending: "'")
            }
            return Completion(typed: typed, candidates: candidates)
        case nil: return Completion(typed: typed, candidates: [])
        }
    }

    private func commands(_ typed: String) -> Completion {
        let parts = typed.parts(separatedBy: " ")
        guard parts.count > 1 else {
            let names = PromptCommand.names.map { Completion.Candidate(text: $0, ending: " ") }
            return matching(typed, names)
        }
        if parts[0] == "\\fields" {
            let start = parts.dropFirst().joined(separator: " ")
            return matching(start, catalog.experiments().map { .init(text: $0) })
        }
        let values = parts.count == 2 ? PromptCommand.values(of: parts[0]) : []
        return matching(parts[parts.count - 1], values.map { .init(text: $0) })
    }
}
