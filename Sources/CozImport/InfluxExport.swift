// The context of points in a file of `influx_inspect export`: DDL and DML sections, the database
// and policy of the lines below, and notices glued to the front of a line.

internal import CozDB

/// The source of points in an export: a database and a retention policy. Names are compared byte by
/// byte.
public struct ExportContext: Hashable, Sendable {
    /// The name of the database.
    public var database: String
    /// The retention policy; empty if the export names none.
    public var policy: String

    /// Creates a context.
    ///
    /// - Parameters:
    ///   - database: the name of the database.
    ///   - policy: the retention policy; empty if the input names none.
    public init(database: String, policy: String = "") {
        self.database = database
        self.policy = policy
    }

    /// Whether both names are equal.
    public static func == (left: ExportContext, right: ExportContext) -> Bool {
        Name(left.database) == Name(right.database) && Name(left.policy) == Name(right.policy)
    }

    /// Consistent with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Name(database))
        hasher.combine(Name(policy))
    }

    var description: String {
        policy.isEmpty ? "\"\(database)\"" : "\"\(database)\" (policy \"\(policy)\")"
    }
}

/// Distinct contexts in order of appearance.
struct ContextList: Sendable {
    private(set) var all: [ExportContext] = []
    private var known: Set<ExportContext> = []

    /// Returns whether the context is new.
    @discardableResult mutating func insert(_ context: ExportContext) -> Bool {
        let isNew = known.insert(context).inserted
        if isNew { all.append(context) }
        return isNew
    }

    /// Describes the first few contexts and how many more there are.
    static func text(_ contexts: [ExportContext]) -> String {
        let shown = contexts.prefix(20).map(\.description).joined(separator: ", ")
        return contexts.count > 20 ? "\(shown) and \(contexts.count - 20) more" : shown
    }
}

/// Follows the comments of an export and decides which lines are imported.
///
/// One import takes points of one database and one policy: those the caller chose, or the only ones
/// in the input. Lines before the first context belong to no database and are always imported.
struct ExportReader: Sendable {
    /// The caller's choice; nil if there is none.
    var database: String?
    var policy: String?

    /// Whether to check the DDL section before the first point, because the input (such as a pipe)
    /// cannot be scanned first.
    var checksDeclarations = false

    /// The context that is imported; nil until its first point.
    private(set) var chosen: ExportContext?
    /// All contexts met, in order.
    var found: [ExportContext] { contexts.all }
    private var contexts = ContextList()
    /// Databases and policies named by CREATE DATABASE statements.
    private var declarations = ContextList()
    /// Those that match the caller's choice.
    private var allowedDeclarations: [ExportContext] = []
    /// Whether the lines below are statements rather than points.
    private(set) var isInDefinitions = false
    /// Whether the points below belong to another database or policy than the chosen one.
    private(set) var isSkipping = false
    /// Whether the context changed since `resolve`.
    private(set) var needsDecision = false

    /// Whether a part of a file has points before its first context comment.
    private(set) var hasPointsBeforeContext = false

    private var current: ExportContext?

    init(database: String? = nil, policy: String? = nil) {
        self.database = database
        self.policy = policy
    }

    /// A placeholder for the last database named before this part. A comment cannot contain a
    /// newline.
    private static let precedingDatabase = "\n"

    /// A reader for a part that begins inside the file; see `continues`.
    static var forMiddleOfFile: ExportReader {
        var reader = ExportReader()
        reader.current = ExportContext(database: precedingDatabase)
        return reader
    }

    /// Forgets the state of the previous file, but not the choice.
    mutating func beginFile() {
        declarations = ContextList()
        allowedDeclarations = []
        isInDefinitions = false
        isSkipping = false
        needsDecision = false
        current = nil
    }

    /// Processes a comment line. A space after the colon is optional.
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

    /// Processes a DDL statement such as `CREATE DATABASE "x" WITH NAME autogen`.
    mutating func definition(_ text: PaddedBytes, _ range: Range<Int>) {
        guard text.starts(with: "CREATE DATABASE ", at: range.lowerBound, end: range.upperBound)
        else { return }
        var rest = value(text, (range.lowerBound + 16)..<range.upperBound).utf8[...]
        let database = ExportReader.identifier(&rest)
        var policy = ""
        let name = " WITH NAME ".utf8
        if rest.starts(with: name) {
            rest = rest.dropFirst(name.count)
            policy = ExportReader.identifier(&rest)
        }
        let context = ExportContext(database: database, policy: policy)
        if declarations.insert(context), matches(context) { allowedDeclarations.append(context) }
    }

    /// Decides whether to import the current context. Called before its first point.
    ///
    /// - Throws: `usage` for a second database or policy if the caller chose none.
    mutating func resolve() throws(DatabaseError) {
        needsDecision = false
        isSkipping = false
        guard let current else { return }
        note(current)
        if checksDeclarations && chosen == nil && allowedDeclarations.count > 1 {
            throw ExportReader.severalContexts(allowedDeclarations)
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

    /// Records that the current context has points, without a decision.
    mutating func pointFollows() {
        if let current, needsDecision { note(current) }
        if current == ExportContext(database: ExportReader.precedingDatabase) {
            hasPointsBeforeContext = true
        }
        needsDecision = false
    }

    /// Adds the contexts of the next part, whose reader began as `forMiddleOfFile`.
    mutating func continues(with rest: ExportReader) {
        if rest.hasPointsBeforeContext { pointFollows() }
        for var context in rest.found {
            // A policy without a database belongs to the database named last.
            if context.database == ExportReader.precedingDatabase {
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
    /// - Throws: `usage` if the caller's choice leaves several contexts or none.
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

    /// The contexts found that match the caller's choice.
    var candidates: [ExportContext] { found.filter(matches) }

    func matches(_ context: ExportContext) -> Bool {
        if let database, Name(context.database) != Name(database) { return false }
        if let policy, Name(context.policy) != Name(policy) { return false }
        return true
    }

    /// Returns the error for an export with several contexts to choose from.
    static func severalContexts(_ contexts: [ExportContext]) -> DatabaseError {
        let names = ContextList.text(contexts)
        let databases = Set(contexts.map { Name($0.database) })
        let isDatabase = databases.count > 1
        let what = isDatabase ? "databases" : "retention policies"
        return DatabaseError(
            .usage,
            "the input has points of several \(what), expected one: \(names); choose a "
                + (isDatabase ? "database" : "retention policy"),
            remedy: .change([isDatabase ? .database : .policy]))
    }

    private func value(_ text: PaddedBytes, _ range: Range<Int>) -> String {
        var range = range
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        while let first = range.first, isBlank(text[first]) { range.removeFirst() }
        while let last = range.last, isBlank(text[last]) { range.removeLast() }
        return String(decoding: text.copy(range), as: UTF8.self)
    }

    /// Removes a name, in double quotes or bare, from the front of a statement.
    private static func identifier(_ rest: inout Substring.UTF8View) -> String {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        guard rest.first == quote else {
            let name = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ";") }
            rest = rest[name.endIndex...]
            return String(decoding: name, as: UTF8.self)
        }
        rest = rest.dropFirst()
        var name: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            name.append(byte == backslash ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: name, as: UTF8.self)
    }
}

/// A notice that `influx_inspect export` prints without a newline before the next line.
enum SkippedFileNotice {
    /// Returns the index after `skipped missing file: <path>` if such a notice begins at `start`,
    /// else nil. The path ends with a digit and `.tsm` or `.wal`. Without such an ending the notice
    /// takes the whole line.
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
