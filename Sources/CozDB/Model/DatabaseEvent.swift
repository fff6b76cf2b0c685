// What a database tells an operator, besides the results of calls.

/// An event of interest to an operator. Its description is a line for a log, without values that
/// participants sent. Later versions may have more events.
public enum DatabaseEvent: Sendable, CustomStringConvertible {
    /// The opening replayed the write-ahead log, because the database was not closed.
    ///
    /// - Parameters:
    ///   - commits: the number of commits that no segment held.
    ///   - discardedBytes: the size of an unfinished commit at the end of the log, which was never
    ///     acknowledged with full durability; 0 if there was none.
    case recovered(commits: Int, discardedBytes: Int)
    /// A memtable became segments.
    ///
    /// - Parameters:
    ///   - sizeBytes: the size of the memtable.
    ///   - duration: from the first byte written to the new manifest.
    case flushed(sizeBytes: Int, duration: Duration)
    /// Segments were merged.
    ///
    /// - Parameters:
    ///   - inputs: the number of segments that were replaced.
    ///   - outputs: the number of segments that replaced them.
    ///   - sizeBytes: the size of the new segments.
    case merged(inputs: Int, outputs: Int, sizeBytes: Int)
    /// A merge in the background failed. The database is sound; only space is wasted.
    case mergeFailed(DatabaseError)
    /// The device had no space left. Obsolete segments were removed at once, so a reader that still
    /// opens them starts again.
    case removedObsoleteFiles
    /// A write or sync failed. Nothing more is acknowledged until the database is opened again.
    case stoppedWriting(DatabaseError)

    public var description: String {
        switch self {
        case .recovered(let commits, let discardedBytes):
            "recovered \(commits) commits from the log"
                + (discardedBytes > 0 ? "; an unfinished commit was discarded" : "")
        case .flushed(let sizeBytes, let duration):
            "flushed a memtable of \(sizeBytes) bytes in \(duration)"
        case .merged(let inputs, let outputs, let sizeBytes):
            "merged \(inputs) segments into \(outputs) of \(sizeBytes) bytes"
        case .mergeFailed(let error): "a merge failed: \(error)"
        case .removedObsoleteFiles:
            "no space left on the device; removed obsolete files early"
        case .stoppedWriting(let error): "stopped writing: \(error)"
        }
    }
}
