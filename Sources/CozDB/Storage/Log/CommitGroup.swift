// Commits that become durable together: one frame of the log, one write, one sync. The thread of
// the first commit leads, those of the others sleep until all is done.

internal import CKernels

/// Where threads wait for one event that comes once.
@safe final class Gate: @unchecked Sendable {
    // Unchecked: the word is only reached through the two calls, which are atomic.
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)

    init() { unsafe word.initialize(to: 0) }

    deinit { unsafe word.deallocate() }

    /// Returns when the gate was opened, at once where that was before.
    func wait() { unsafe coz_gate_wait(word) }

    func open() { unsafe coz_gate_open(word) }
}

/// Commit records that one frame takes, in the order of their sequences.
///
/// The engine's lock guards everything until a thread takes the group to write it; then it belongs
/// to that thread, and once `isDone` is open nobody changes it any more.
final class CommitGroup: @unchecked Sendable {
    // Unchecked: guarded as above.
    private(set) var records: [[UInt8]] = []
    private var sizeBytes = 0
    let firstSequence: UInt64
    /// Why the commits are not durable, if they are not.
    var failure: DatabaseError?
    /// Opened when the thread of the first commit is to write the group, or has failed.
    let turn = Gate()
    /// Opened when the commits are durable, or have failed.
    let isDone = Gate()

    init(firstSequence: UInt64) {
        self.firstSequence = firstSequence
    }

    /// Whether one more record leaves the frame as small as a reader accepts. One always does.
    func hasRoom(for sizeBytes: Int) -> Bool {
        records.isEmpty
            || self.sizeBytes + sizeBytes <= LogFormat.groupSizeBytesMax
                && records.count < LogFormat.groupCountMax
    }

    func append(_ record: [UInt8]) {
        records.append(record)
        sizeBytes += record.count
    }

    /// Wakes all threads of the group, those that find it failed.
    func open() {
        turn.open()
        isDone.open()
    }
}
