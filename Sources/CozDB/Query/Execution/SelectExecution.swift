// A SELECT that runs in steps, each of which writes some rows. A cursor whose rows nobody takes
// needs no thread: it pauses between two steps.

/// Writes the next rows of a group. Returns false after the last.
typealias GroupSteps = () throws(DatabaseError) -> Bool

/// The rows of a group: most groups are small, and written at once.
enum GroupRows {
    case written
    case steps(GroupSteps)
}

/// The execution of a SELECT. Each step may run on another thread.
final class SelectExecution {
    /// Writes the rows of the next group, or returns its steps; nil after the last.
    typealias Groups = () throws(DatabaseError) -> GroupRows?

    private let groups: Groups
    private var group: GroupSteps?

    init(_ groups: @escaping Groups) {
        self.groups = groups
    }

    /// Writes the next rows to the output. Returns false after the last.
    func step() throws(DatabaseError) -> Bool {
        while true {
            if let group {
                if try group() { return true }
                // What the group held is free before the next one begins.
                self.group = nil
            }
            switch try groups() {
            case .written: return true
            case .steps(let steps): group = steps
            case nil: return false
            }
        }
    }
}
