// Commits batches on a separate thread, in order, while the next batch is being read.

internal import CozDB

/// A queue of at most two batches that wait for their commit.
final class CommitPipeline: Sendable {
    private struct State {
        var failure: DatabaseError?
        var report = ImportReport()
        /// Points of all batches committed so far, stored or refused.
        var committedPoints = 0
        /// Batches submitted and not yet committed.
        var unfinishedCount = 0
        /// Batches submitted and not yet begun, in order.
        var waiting: [WriteBatch] = []
        /// Committed batches, emptied, whose memory is reused.
        var spare: [WriteBatch] = []
    }

    private let commit: @Sendable (borrowing WriteBatch) throws(DatabaseError) -> WriteReport
    private let committed: (@Sendable (Int) -> Void)?
    private let queue = SerialQueue()
    private let state = Monitor(State())

    init(
        commit: @escaping @Sendable (borrowing WriteBatch) throws(DatabaseError) -> WriteReport,
        committed: (@Sendable (Int) -> Void)?
    ) {
        self.commit = commit
        self.committed = committed
    }

    /// Returns an empty batch, recycled if possible.
    func emptyBatch() -> WriteBatch {
        state.withLock { $0.spare.popLast() } ?? WriteBatch()
    }

    /// Submits a batch. Blocks while two batches are pending.
    ///
    /// - Throws: the error of an earlier commit; nothing is committed after such an error.
    func submit(_ batch: WriteBatch) throws(DatabaseError) {
        try state.withLock(when: { $0.unfinishedCount < 2 }) { state throws(DatabaseError) in
            if let failure = state.failure { throw failure }
            state.unfinishedCount += 1
            state.waiting.append(batch)
        }
        // The queue is serial, which keeps the order.
        queue.async {
            self.commitNext()
            self.state.withLock { $0.unfinishedCount -= 1 }
        }
    }

    /// Waits until all batches are committed and returns the report.
    ///
    /// - Throws: as `submit`.
    func finish() throws(DatabaseError) -> ImportReport {
        drain()
        let (failure, report) = state.withLock { ($0.failure, $0.report) }
        if let failure { throw failure }
        return report
    }

    /// Waits for all submitted batches, whether they are committed or fail.
    func drain() {
        queue.sync {}
    }

    private func commitNext() {
        let next = state.withLock { $0.failure == nil ? $0.waiting.removeFirst() : nil }
        guard var batch = next else { return }
        do {
            var report = try commit(batch)
            // The database counts refused lines among the refused points.
            report.refusedPoints = Swift.max(0, report.refusedPoints - batch.refusedLineCount)
            let points = batch.rowCount + batch.refusedLineCount
            let counts = report
            let total = state.withLock { state in
                state.report.points += batch.rowCount
                state.report.refusedLines += batch.refusedLineCount
                state.report.add(counts)
                state.committedPoints += points
                return state.committedPoints
            }
            committed?(total)
        } catch {
            var error = error
            // What is wrong with the data is wrong with its file.
            if error.file == nil, [.usage, .limitExceeded].contains(error.kind) {
                error.file = batch.source
            }
            let failure = error
            state.withLock { $0.failure = failure }
            return
        }
        batch.removeAll()
        state.withLock { $0.spare.append(batch) }
    }
}
