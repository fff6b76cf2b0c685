// The names for completion, read from the database and from the system's time zones.

internal import CozDB
internal import CozPlatform

/// Opens the database for each request, because a writer may have added names.
struct DatabaseNames: NameCatalog {
    /// Maximum number of tag values to read. Longer lists are not useful.
    private static let valueCountMax = 200
    /// Time limit of a query, because the user waits for the key.
    private static let queryTimeout = Duration.milliseconds(800)

    let path: String
    /// Whether values of credential columns are masked.
    var redactsSecrets = false

    func experiments() -> [String] {
        schemas([]).map(\.name)
    }

    func fields(of experiments: [String]) -> [String] {
        DatabaseNames.distinct(
            schemas(experiments).flatMap { schema in
                schema.fields.map(\.name)
            })
    }

    func tags(of experiments: [String]) -> [String] {
        DatabaseNames.distinct(answers("SHOW TAG KEYS\(DatabaseNames.from(experiments))"))
    }

    func values(of tag: String, in experiments: [String], prefix: String) -> [String] {
        let name = CompletionContext.quoted(tag, "\"")
        var condition = ""
        if !prefix.isEmpty {
            condition = " WHERE \(name) =~ /^\(DatabaseNames.pattern(prefix))/"
        }
        let statement =
            "SHOW TAG VALUES\(DatabaseNames.from(experiments)) WITH KEY = \(name)\(condition) "
            + "LIMIT \(DatabaseNames.valueCountMax)"
        return DatabaseNames.distinct(answers(statement))
    }

    func zones(prefix: String) -> [String] {
        let root = Environment.value("TZDIR") ?? "/usr/share/zoneinfo"
        let folders = prefix.parts(separatedBy: "/").dropLast()
        // Stay inside the folder of zones.
        guard folders.first != "", !folders.contains("..") else { return [] }
        let folder = folders.map { $0 + "/" }.joined()
        return DatabaseNames.entries(of: "\(root)/\(folder)")
            .filter { entry in entry.name.utf8.first.map { (0x41...0x5A).contains($0) } ?? false }
            .map { folder + $0.name + ($0.isFolder ? "/" : "") }.sorted()
    }

    // MARK: The database

    private func schemas(_ experiments: [String]) -> [ExperimentSchema] {
        let all = try? Database.withReader(path) { database throws(DatabaseError) in
            try database.schemas()
        }
        let named = (all ?? []).filter { schema in
            experiments.contains { $0.utf8.elementsEqual(schema.name.utf8) }
        }
        // A wrong or unfinished name matches no experiment; use all of them.
        return named.isEmpty ? all ?? [] : named
    }

    /// The last column of all rows, as text.
    private func answers(_ statement: String) -> [String] {
        var options = QueryOptions()
        options.redactsSecrets = redactsSecrets
        let end = ContinuousClock.now + DatabaseNames.queryTimeout
        options.isCancelled = { ContinuousClock.now > end || Signals.isInterrupted }
        let result = try? Database.withReader(path) { database throws(DatabaseError) in
            try database.query(statement, options: options)
        }
        var answers: [String] = []
        for series in result?.statements.flatMap(\.series) ?? [] {
            guard let column = series.header.columns.indices.last else { continue }
            for row in 0..<series.rowCount {
                if case .string(let text)? = series.columns[column].value(row) {
                    answers.append(text)
                }
            }
        }
        return answers
    }

    private static func from(_ experiments: [String]) -> String {
        if experiments.isEmpty { return "" }
        let names = experiments.map { CompletionContext.quoted($0, "\"") }
        return " FROM " + names.joined(separator: ", ")
    }

    private static func distinct(_ names: [String]) -> [String] {
        Set(names.map { Name($0) }).sorted().map(\.text)
    }

    /// A regular expression that matches exactly this text.
    private static func pattern(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isPlain = scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            if !isPlain, scalar.isASCII, scalar != "_", scalar != " " { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    // MARK: Folders

    private static func entries(of folder: String) -> [(name: String, isFolder: Bool)] {
        // Sound: the path is null-terminated during the call; entries are copied before the next
        // call.
        guard let list = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(list) }
        var entries: [(name: String, isFolder: Bool)] = []
        while let entry = unsafe readdir(list) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name.contains(".") { continue }
            let kind = unsafe Int32(entry.pointee.d_type)
            entries.append((name, kind == Int32(DT_DIR)))
        }
        return entries
    }
}
