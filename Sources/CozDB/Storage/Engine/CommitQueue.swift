// The commits that wait for the write-ahead log, and which thread writes it: group commit.
//
// The thread that finds no leader leads. It writes its group as one frame while later commits
// collect in the next group, whose first thread leads after it. Threads that need the log for
// something else, such as a flush, request leadership and go before waiting groups.

/// The queue of commit groups. The engine's monitor guards it.
struct CommitQueue {
    /// What the thread that queued a commit does next.
    enum Role {
        /// Writes the group now.
        case leads(CommitGroup)
        /// Waits for its turn, then writes the group.
        case isNext(CommitGroup)
        /// Waits until another thread has written the group.
        case follows(CommitGroup)
    }

    /// Sequence of the last queued commit.
    private(set) var lastSequence: UInt64
    /// Waiting groups, oldest first; the last one takes more commits. If there are any, a thread is
    /// leading or about to lead.
    private var groups: [CommitGroup] = []
    /// Whether a thread writes the log or was chosen to.
    private(set) var hasLeader = false
    /// Threads that requested leadership without a commit.
    private var requestCount = 0

    init(lastSequence: UInt64) {
        self.lastSequence = lastSequence
    }

    /// Whether no group waits.
    var isEmpty: Bool { groups.isEmpty }

    /// Queues a commit under the next sequence number.
    mutating func add(_ record: [UInt8]) -> Role {
        lastSequence += 1
        if let group = groups.last, group.hasRoom(for: record.count) {
            group.append(record)
            return .follows(group)
        }
        let group = CommitGroup(firstSequence: lastSequence)
        group.append(record)
        if hasLeader || requestCount > 0 {
            groups.append(group)
            return .isNext(group)
        }
        hasLeader = true
        return .leads(group)
    }

    /// Takes the oldest group, which its first thread now writes.
    mutating func removeFirst() { groups.removeFirst() }

    mutating func requestLeadership() { requestCount += 1 }

    /// Makes the calling thread the leader, after a request.
    mutating func becomeLeader() {
        requestCount -= 1
        hasLeader = true
    }

    /// Ends the leadership of the calling thread.
    ///
    /// - Returns: the group whose first thread leads next, if no other thread requested it.
    mutating func resignLeader() -> CommitGroup? {
        if requestCount == 0, let next = groups.first { return next }
        hasLeader = false
        return nil
    }

    /// Fails all waiting commits and returns their groups, to be opened.
    mutating func fail(_ error: DatabaseError) -> [CommitGroup] {
        hasLeader = false
        for group in groups { group.failure = error }
        defer { groups = [] }
        return groups
    }
}
