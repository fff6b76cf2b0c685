// Options of `import` that rename fields and tags, and the summary of what was renamed.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct RenameOptions: ParsableArguments {
    private static let table = "cozie-v2"

    @Option(
        name: .customLong("rename"),
        help: ArgumentHelp(
            """
            Rename fields and tags: cozie-v2 maps the names of Cozie 2 and known misspellings to \
            the names of Cozie 3 (see cozdb catalogue). old=new renames one field or tag and takes \
            precedence over cozie-v2. Can be repeated. A point that has both names keeps both.
            """,
            valueName: "cozie-v2|old=new"))
    var words: [String] = []

    func validate() throws {
        var known: Set<String> = []
        for word in words where word != RenameOptions.table {
            guard let (old, new) = RenameOptions.pair(word) else {
                throw ValidationError(
                    "--rename: found \"\(word)\", expected cozie-v2 or old=new")
            }
            guard new != "time" else {
                throw ValidationError(
                    "--rename: found \"time\" as a new name, expected another name: time is the "
                        + "time of a row")
            }
            // Texts that differ only in how their characters are composed count as one.
            guard known.insert(old).inserted else {
                throw ValidationError("--rename: found two new names for \"\(old)\", expected one")
            }
        }
    }

    private static func pair(_ word: String) -> (old: String, new: String)? {
        let parts = word.parts(separatedBy: "=", maxSplits: 1)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
        return (parts[0], parts[1])
    }

    /// Maps old names to new names.
    var names: [String: String] {
        var names = words.contains(RenameOptions.table) ? CozieCatalogue.v3.renamesFromV2 : [:]
        for word in words {
            if let (old, new) = RenameOptions.pair(word) { names[old] = new }
        }
        return names
    }

    /// The summary of the renames, one line per name.
    static func text(_ renames: [AppliedRename]) -> String {
        let fields = renames.filter { !$0.isTag }
        let tags = renames.filter(\.isTag)
        if renames.isEmpty { return "renamed  nothing\n" }
        let values = fields.reduce(0) { $0 + $1.renamed }
        var text = "renamed  \(PlainText.counted(values, "value")) of "
        text += PlainText.counted(fields.count, "field")
        text += tags.isEmpty ? "\n" : ", and \(PlainText.counted(tags.count, "tag"))\n"
        for rename in fields + tags {
            let from = PlainText.escaped(rename.from)
            text += "         \(rename.isTag ? "tag " : "")\(from) to "
            text += "\(PlainText.escaped(rename.to)): "
            text += PlainText.counted(rename.renamed, rename.isTag ? "point" : "value")
            if rename.kept > 0 {
                text += "; \(PlainText.grouped(rename.kept)) kept \(from) because "
                text += "their points have both names"
            }
            text += "\n"
        }
        return text
    }
}
