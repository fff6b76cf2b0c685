// What surrounds the points in a file of `influx_inspect export`: DDL and DML sections, the
// database and policy that the lines below belong to, and text glued in front of a line.

internal import CozDB

/// Where the points of an export come from.
public struct ExportContext: Hashable, Sendable {
    /// Name of the database.
    public var database: String
    /// Retention policy; empty where the export names none.
    public var policy: String

    /// - Parameter policy: name of the retention policy; empty where the input named none.
    public init(database: String, policy: String = "") {
        self.database = database
        self.policy = policy
    }

    var description: String {
        policy.isEmpty ? "\"\(database)\"" : "\"\(database)\" (policy \"\(policy)\")"
    }
}

/// Contexts in the order in which they came, each once.
struct ContextList: Sendable {
    private(set) var all: [ExportContext] = []
    private var known: Set<ExportContext> = []

    mutating func insert(_ context: ExportContext) {
        if known.insert(context).inserted { all.append(context) }
    }

    /// The first few in words, and how many more there are.
    static func text(_ contexts: [ExportContext]) -> String {
        let shown = contexts.prefix(20).map(\.description).joined(separator: ", ")
        return contexts.count > 20 ? "\(shown) and \(contexts.count - 20) more" : shown
    }
}

/// Follows the comments of an export and decides which lines are imported.
///
/// One import takes points of one database and one policy. Which one is the choice of the caller
/// (`--database`, `--policy`) or the only one there is. A line before any context belongs to no
/// database and is always imported.
struct ExportReader: Sendable {
    /// The caller's choice; nil where he made none.
    var database: String?
    var policy: String?

    /// Whether the databases that the DDL section names are all there is to decide by before the
    /// first point: input that cannot be scanned first, such as a pipe.
    var checksDeclarations = false

    /// The context whose points are imported, once one of them was met.
    private(set) var chosen: ExportContext?
    /// All contexts met, in order.
    var found: [ExportContext] { contexts.all }
    private var contexts = ContextList()
    /// Databases and policies that CREATE DATABASE statements name.
    private var declarations = ContextList()
    /// Whether the lines below are statements rather than points.
    private(set) var isInDefinitions = false
    /// Whether points below belong to another database or policy than the chosen one.
    private(set) var isSkipping = false
    /// Whether the context changed since `resolve`.
    private(set) var needsDecision = false

    /// Whether the first points inside the file came before any context there.
    private(set) var hasPointsOutside = false

    private var current: ExportContext?

    init(database: String? = nil, policy: String? = nil) {
        self.database = database
        self.policy = policy
    }

    /// Stands for the database named last in what comes before; no comment can name it.
    private static let databaseBefore = "\n"

    /// For a part that does not begin where the file does; see `continues`.
    static var insideFile: ExportReader {
        var reader = ExportReader()
        reader.current = ExportContext(database: databaseBefore)
        return reader
    }

    /// Forgets where in a file it is, keeps the choice.
    mutating func beginFile() {
        declarations = ContextList()
        isInDefinitions = false
        isSkipping = false
        needsDecision = false
        current = nil
    }

    /// Takes in one comment line. A space after the colon is optional.
    mutating func comment(_ text: PaddedBytes, _ range: Range<Int>) {
        var index = range.lowerBound + 1
        while index < range.upperBound, text[index] == 0x20 { index += 1 }
        let end = range.upperBound
        if text.starts(with: "DDL", at: index, end: end) {
            isInDefinitions = true
        } else if text.starts(with: "DML", at: index, end: end) {
            isInDefinitions = false
        } else if text.starts(with: "CONTEXT-DATABASE:", at: index, end: end) {
            current = ExportContext(database: value(text, (index + 17)..<end))
            needsDecision = true
        } else if text.starts(with: "CONTEXT-RETENTION-POLICY:", at: index, end: end) {
            current = ExportContext(
                database: current?.database ?? "", policy: value(text, (index + 25)..<end))
            needsDecision = true
        }
    }

    /// Takes in one statement of the DDL section: `CREATE DATABASE "x" WITH NAME autogen`.
    mutating func definition(_ text: PaddedBytes, _ range: Range<Int>) {
        guard text.starts(with: "CREATE DATABASE ", at: range.lowerBound, end: range.upperBound)
        else { return }
        var rest = value(text, (range.lowerBound + 16)..<range.upperBound)[...]
        let database = ExportReader.identifier(&rest)
        var policy = ""
        if rest.hasPrefix(" WITH NAME ") {
            rest = rest.dropFirst(11)
            policy = ExportReader.identifier(&rest)
        }
        declarations.insert(ExportContext(database: database, policy: policy))
    }

    /// Called before the first point below a context.
    ///
    /// - Throws: `usage` when it belongs to a second database or policy and none was picked.
    mutating func resolve() throws(DatabaseError) {
        needsDecision = false
        isSkipping = false
        guard let current else { return }
        note(current)
        if checksDeclarations && chosen == nil {
            let allowed = declarations.all.filter(matches)
            if allowed.count > 1 { throw ExportReader.severalContexts(allowed) }
        }
        guard matches(current) else {
            isSkipping = true
            return
        }
        guard let chosen else {
            self.chosen = current
            return
        }
        if chosen != current {
            throw ExportReader.severalContexts(candidates)
        }
    }

    /// Notes that the context has points, without a decision.
    mutating func pointFollows() {
        if let current, needsDecision { note(current) }
        if current == ExportContext(database: ExportReader.databaseBefore) {
            hasPointsOutside = true
        }
        needsDecision = false
    }

    /// Takes in what a reader of the rest of the file found, which was begun as `insideFile`.
    mutating func continues(with rest: ExportReader) {
        if rest.hasPointsOutside { pointFollows() }
        for var context in rest.found {
            // A policy alone belongs to the database that was named last.
            if context.database == ExportReader.databaseBefore {
                context.database = current?.database ?? ""
            }
            note(context)
        }
    }

    private mutating func note(_ context: ExportContext) {
        contexts.insert(context)
    }

    /// Checks contexts that are known before the first point is read.
    ///
    /// - Throws: `usage` when the caller's choice leaves several of them or none.
    func check(_ contexts: [ExportContext]) throws(DatabaseError) {
        let left = contexts.filter(matches)
        if left.count > 1 { throw ExportReader.severalContexts(left) }
        if left.isEmpty && !contexts.isEmpty {
            let names = ContextList.text(contexts)
            let choice = ExportContext(database: database ?? "", policy: policy ?? "")
            throw DatabaseError(
                .usage, "the input has no points of \(choice.description); it has: \(names)")
        }
    }

    /// The contexts among those found which the caller's choice allows.
    var candidates: [ExportContext] { found.filter(matches) }

    func matches(_ context: ExportContext) -> Bool {
        if let database, context.database != database { return false }
        if let policy, context.policy != policy { return false }
        return true
    }

    /// The refusal of an export from which one context must be picked.
    static func severalContexts(_ contexts: [ExportContext]) -> DatabaseError {
        let names = ContextList.text(contexts)
        let databases = Set(contexts.map(\.database))
        let way =
            databases.count > 1
            ? "choose one with --database NAME"
            : "choose one with --policy NAME"
        let what = databases.count > 1 ? "databases" : "retention policies"
        return DatabaseError(
            .usage, "the input holds points of several \(what): \(names); \(way)")
    }

    private func value(_ text: PaddedBytes, _ range: Range<Int>) -> String {
        var range = range
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        while let first = range.first, isBlank(text[first]) { range.removeFirst() }
        while let last = range.last, isBlank(text[last]) { range.removeLast() }
        return String(decoding: text.copy(range), as: UTF8.self)
    }

    /// A name, in double quotes or bare, from the front of a statement.
    private static func identifier(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let name = rest.prefix { $0 != " " && $0 != ";" }
            rest = rest.dropFirst(name.count)
            return String(name)
        }
        rest = rest.dropFirst()
        var name = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let escaped = rest.popFirst() {
                name.append(escaped)
            } else {
                name.append(character)
            }
        }
        return name
    }
}

/// Text that `influx_inspect export` writes without a newline in front of the next line.
enum GluedNotice {
    /// Index after `skipped missing file: <path>` where such a notice begins at an index, else nil.
    /// The path ends with the number and extension of a storage file; where none is seen the
    /// notice takes the whole line.
    static func end(_ text: PaddedBytes, at start: Int, lineEnd: Int) -> Int? {
        let mark: StaticString = "skipped missing file: "
        guard text.starts(with: mark, at: start, end: lineEnd) else { return nil }
        var index = start + mark.utf8CodeUnitCount + 1
        while index + 4 <= lineEnd {
            let isDigit = text[index - 1] &- 0x30 < 10
            if isDigit
                && (text.starts(with: ".tsm", at: index, end: lineEnd)
                    || text.starts(with: ".wal", at: index, end: lineEnd))
            {
                return index + 4
            }
            index += 1
        }
        return lineEnd
    }
}
