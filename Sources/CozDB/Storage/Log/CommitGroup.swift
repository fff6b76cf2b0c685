// Group commit: the commits that share one frame of the log, one write and one sync. The thread of
// the first commit is the leader; the followers wait until the frame is durable, on their threads
// or without.

/// The commit records of one frame, in the order of their sequences.
///
/// The engine's mutex guards the group until its leader takes it to write the frame. Then it
/// belongs to the leader, and nothing changes once `isDone` is open.
final class CommitGroup: @unchecked Sendable {
    // Unchecked: see above.
    private(set) var records: [[UInt8]] = []
    private var sizeBytes = 0
    let firstSequence: UInt64
    /// Why the commits failed; nil if they are acknowledged.
    var failure: DatabaseError?
    /// Opens when the thread of the first commit becomes the leader, or when the group has failed.
    let turn = Gate()
    /// Opens when the commits are acknowledged or have failed.
    let isDone = Gate()
    /// Called then, for followers that do not wait on a thread.
    private var callbacks: [@Sendable (DatabaseError?) -> Void] = []

    init(firstSequence: UInt64) {
        self.firstSequence = firstSequence
    }

    /// Whether one more record fits into the frame. A single record always does.
    func hasRoom(for sizeBytes: Int) -> Bool {
        records.isEmpty
            || self.sizeBytes + sizeBytes <= LogFormat.groupSizeBytesMax
                && records.count < LogFormat.groupCountMax
    }

    func append(_ record: [UInt8]) {
        records.append(record)
        sizeBytes += record.count
    }

    func whenDone(_ callback: @escaping @Sendable (DatabaseError?) -> Void) {
        callbacks.append(callback)
    }

    /// Acknowledges the commits, or tells that they have failed.
    func finish() {
        isDone.open()
        for callback in callbacks { callback(failure) }
        callbacks = []
    }

    /// Wakes all threads of the group, also after a failure.
    func open() {
        turn.open()
        finish()
    }
}
