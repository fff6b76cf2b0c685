// What the commands need and the library does not have yet; see docs/notes-command-needs.md.

internal import CozDB

struct DatabaseInfo: Sendable {
    struct Experiment: Sendable {
        var name = ""
        var identity = Identity.standard
        var typeRule = TypeRule.lossless
        var preset = ""
        var series = 0
        var rows = 0
        var values = 0
        var fields = 0
        var attributes = 0
        var bytes = 0
        var firstTime: Timestamp?
        var lastTime: Timestamp?
    }
    var experiments: [Experiment] = []
    var segments = 0
    var segmentBytes = 0
    var walFiles = 0
    var walBytes = 0
    var rejects = 0
    var rejectBytes = 0
    var diskBytes = 0
    var sequence: UInt64 = 0
    var isSealed = false
}

struct ColumnInfo: Sendable {
    var column: Column
    var count = 0
    var firstTime: Timestamp?
    var lastTime: Timestamp?
    var bytes = 0
    var encodings: [(name: String, blocks: Int)] = []
}

struct CheckFinding: Sendable {
    enum Severity: String, Sendable { case damage, note }
    var severity = Severity.damage
    var file = ""
    var offset: Int?
    var found = ""
    var lost = ""
}

struct CheckSummary: Sendable {
    var files = 0
    var bytes = 0
    var records = 0
    var blocks = 0
    var damaged = 0
}

struct RejectEntry: Sendable {
    enum State: String, Sendable { case waiting, superseded, done }
    var refusal: Refusal
    var state: State
}

struct ReplayReport: Sendable {
    var replayed = 0
    var superseded = 0
    var refused = 0
    var lines = 0
}

extension Database {
    func info() throws(DatabaseError) -> DatabaseInfo { DatabaseInfo() }
    func columns(of experiment: String) throws(DatabaseError) -> [ColumnInfo] { [] }
    static func check(
        _ path: String, options: DatabaseOptions = DatabaseOptions(),
        _ body: (CheckFinding) -> Void
    ) throws(DatabaseError) -> CheckSummary { CheckSummary() }
    static func inspect(
        _ file: String, _ body: (String) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {}
    func rejects(_ body: (RejectEntry) throws(DatabaseError) -> Bool) throws(DatabaseError) {}
    func replayRejects(overwrite: Bool) throws(DatabaseError) -> ReplayReport { ReplayReport() }
}

extension Database {
}
