// The batches of a cursor, and the query that computes them. The query belongs to one thread at a
// time: the one that fills the queue. While no thread does, it is paused in the queue.

/// The batches that a query has computed and nobody has taken.
final class BatchQueue: Sendable {
    private struct State {
        /// The columns of the first statement; nil until they are known.
        var columns: [ResultColumn]?
        var batches: [QueryBatch] = []
        /// The query while it is paused; nil while a thread has it, and after its end.
        var paused: CursorExecution?
        var isFinished = false
        /// Cleared by the call that throws it.
        var failure: DatabaseError?
        /// The same for `columns`, which throws it each time.
        var columnsFailure: DatabaseError?
        var counters: QueryCounters?
        /// Tasks that wait for the columns, a batch or the end.
        var waiting: [CheckedContinuation<Void, Never>] = []

        /// Whether the query computes further. It also computes the batch after the last one that
        /// fits, so that it ends, and frees its memory, if there is none.
        var isWanted: Bool { batches.count <= BatchQueue.countMax && !isFinished }
    }

    private static let countMax = 2
    private static let threads = WorkerQueue(threadCountMax: 32)

    private let flag = CancellationFlag()
    private let state = Monitor(State())

    var counters: QueryCounters? { state.withLock { $0.counters } }

    // MARK: Computing

    /// Starts a query.
    ///
    /// - Throws: `busy` if the system has no thread left.
    func start(
        _ snapshot: Snapshot, _ text: String, _ options: QueryOptions
    ) throws(DatabaseError) {
        let engine = QueryEngine(snapshot: snapshot, options: options.watching(flag))
        try fill(CursorExecution(QueryExecution(engine, text, CursorSink(self))))
    }

    /// Continues the query on another thread if it is paused and batches are wanted.
    private func resume() {
        let paused = state.withLock { state in state.isWanted ? state.paused.take() : nil }
        guard let paused else { return }
        do throws(DatabaseError) { try fill(paused) } catch { finish(QueryCounters(), error) }
    }

    private func fill(_ execution: CursorExecution) throws(DatabaseError) {
        let isStarted = BatchQueue.threads.start {
            do throws(DatabaseError) {
                while true {
                    let isPaused = try execution.query.run { self.state.withLock { $0.isWanted } }
                    guard isPaused else {
                        return self.finish(execution.query.counters, nil)
                    }
                    // Batches may have been taken meanwhile.
                    let isLeft = self.state.withLock { state in
                        if !state.isWanted, !state.isFinished { state.paused = execution }
                        return !state.isWanted
                    }
                    if isLeft { return }
                }
            } catch {
                self.finish(QueryCounters(), error)
            }
        }
        guard isStarted else {
            throw DatabaseError(
                .busy,
                "cannot start a thread for the query: the system limit is reached; end some "
                    + "threads, or raise the limit")
        }
    }

    /// Sets the columns if none are known.
    func begin(_ columns: [ResultColumn]) {
        let waiting = state.withLock { state in
            if state.columns == nil { state.columns = columns }
            return BatchQueue.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

    /// Appends a batch.
    ///
    /// - Throws: `cancelled` if the consumer cancelled.
    func put(_ batch: QueryBatch) throws(DatabaseError) {
        let (isCancelled, waiting) = state.withLock { state in
            if !state.isFinished { state.batches.append(batch) }
            return (state.isFinished, BatchQueue.takeWaiting(&state))
        }
        for task in waiting { task.resume() }
        if isCancelled { throw BatchQueue.cancelled }
    }

    private func finish(_ counters: QueryCounters, _ failure: DatabaseError?) {
        let waiting = state.withLock { state in
            if !state.isFinished {
                state.isFinished = true
                state.failure = failure
                state.columnsFailure = failure
                if failure == nil { state.counters = counters }
            }
            return BatchQueue.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

    /// Ends the query. Waiting callers return at once, although a thread may still compute a block.
    func cancel() {
        flag.raise()
        let (waiting, paused) = state.withLock { state in
            if !state.isFinished || !state.batches.isEmpty {
                // A result that was cut short must not look complete.
                state.batches.removeAll()
                state.isFinished = true
                state.failure = BatchQueue.cancelled
                state.columnsFailure = BatchQueue.cancelled
                state.counters = nil
            }
            return (BatchQueue.takeWaiting(&state), state.paused.take())
        }
        // Releases the query outside of the lock.
        withExtendedLifetime(paused) {}
        for task in waiting { task.resume() }
    }

    // MARK: Taking

    /// Returns the columns; none if the query ended without. Waits for either.
    func takeColumns() throws(DatabaseError) -> [ResultColumn] {
        try state.withLock(when: { $0.columns != nil || $0.isFinished }) {
            state throws(DatabaseError) in
            if let columns = state.columns { return columns }
            if let failure = state.columnsFailure { throw failure }
            return []
        }
    }

    /// Returns the next batch, or nil at the end. Waits for either.
    func take() throws(DatabaseError) -> QueryBatch? {
        defer { resume() }
        return try state.withLock(when: { !$0.batches.isEmpty || $0.isFinished }) {
            state throws(DatabaseError) in
            try BatchQueue.takeNext(&state)
        }
    }

    /// Returns the next batch, or `.some(nil)` at the end; nil instead of waiting.
    func tryTake() throws(DatabaseError) -> QueryBatch?? {
        defer { resume() }
        return try state.withLock { state throws(DatabaseError) in
            if state.batches.isEmpty, !state.isFinished { return nil }
            return .some(try BatchQueue.takeNext(&state))
        }
    }

    private static func takeNext(_ state: inout State) throws(DatabaseError) -> QueryBatch? {
        if !state.batches.isEmpty { return state.batches.removeFirst() }
        defer { state.failure = nil }
        if let failure = state.failure { throw failure }
        return nil
    }

    /// Waits until `take` would not have to wait.
    func waitForMore() async {
        await wait { !$0.batches.isEmpty || $0.isFinished }
    }

    /// Waits until `takeColumns` would not have to wait.
    func waitForColumns() async {
        await wait { $0.columns != nil || $0.isFinished }
    }

    /// Waits until the condition may hold: the state has changed, or it holds already.
    private func wait(until isReady: (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = isReady(state)
                if !isReady { state.waiting.append(continuation) }
                return isReady
            }
            if isReady { continuation.resume() }
        }
    }

    private static func takeWaiting(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.waiting = [] }
        return state.waiting
    }

    private static let cancelled = DatabaseError(.cancelled, "the query was cancelled")
}

/// The query of a cursor.
///
/// Unchecked: one thread has it at a time, and hands it over through the lock of the queue.
private final class CursorExecution: @unchecked Sendable {
    let query: QueryExecution<CursorSink>

    init(_ query: QueryExecution<CursorSink>) {
        self.query = query
    }
}

/// A sink that passes the rows of a result to the queue.
private struct CursorSink: QueryResultSink {
    /// The queue may have the query, so the query does not keep the queue.
    private unowned let batchQueue: BatchQueue
    private var statement = 0
    private var seriesIndex = -1
    private var series = ResultSeries(name: "", columns: [])

    init(_ batchQueue: BatchQueue) {
        self.batchQueue = batchQueue
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        statement = index
        seriesIndex = -1
    }

    mutating func columns(_ columns: [ResultColumn]) throws(DatabaseError) {
        if statement == 0 { batchQueue.begin(columns) }
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        self.series = series
        seriesIndex += 1
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        try batchQueue.put(
            QueryBatch(
                statement: statement, seriesIndex: seriesIndex, series: series, rows: batch))
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if error == nil { batchQueue.begin([]) }
    }
}
