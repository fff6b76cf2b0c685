// A SELECT that runs in steps, each of which writes some rows. A cursor whose rows nobody takes
// needs no thread: it pauses between two steps.

/// Writes the next rows of a group. Returns false after the last.
typealias GroupSteps = () throws(DatabaseError) -> Bool

/// The execution of a SELECT. Each step may run on another thread.
final class SelectExecution {
    /// Returns the steps of the next group; nil after the last.
    typealias Groups = () throws(DatabaseError) -> GroupSteps?

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
            group = try groups()
            if group == nil { return false }
        }
    }
}
