// An answer that is pulled: the executor pushes batches into a hand-over of two, on a thread of
// its own, and waits there until somebody takes them.

internal import Synchronization

/// Some rows of an answer, with what they belong to.
public struct QueryBatch: Sendable {
    /// Position of the statement in the text, from 0.
    public var statement: Int
    /// Position of the series in the statement's answer, from 0.
    public var seriesIndex: Int
    /// Name, tags and columns of the series.
    public var series: ResultSeries
    /// One to a few thousand rows, column by column, in the order of the answer.
    public var rows: ResultBatch

    /// The column with this name; nil where the answer has none.
    public func column(_ name: String) -> ResultVector? {
        series.columns.firstIndex { Name($0.name) == Name(name) }.map { rows.columns[$0] }
    }

    /// Times of the rows; empty where the answer has none (SHOW).
    public var times: [Timestamp] {
        guard let index = series.columns.firstIndex(where: \.isTime) else { return [] }
        return rows.columns[index].integers.map { Timestamp(nanoseconds: $0 ?? 0) }
    }
}

/// A running query whose answer is taken a batch at a time.
///
/// The query computes at most two batches ahead and then waits, on a thread of its own. It ends
/// with its answer, with an error, when `cancel()` is called, or when the cursor is dropped. Until
/// then a cursor costs that thread and some megabytes; one whose answer has two batches at most
/// has neither while it is read.
/// Series without rows do not show.
///
///     for try await batch in try await database.cursor("SELECT ts_heart_rate FROM dev") {
///         use(batch.times, batch.column("ts_heart_rate")?.doubles ?? [])
///     }
///
/// Safe from any thread; each batch goes to one caller. As a sequence it can be walked once. A
/// cursor may outlive `Database.close()`: it keeps the files of its snapshot open.
public final class QueryCursor: Sendable {
    private let handOver = BatchHandOver()
    private let process: OwnProcess

    init(
        _ options: QueryOptions, _ process: OwnProcess,
        _ run:
            @escaping @Sendable (QueryOptions, inout CursorSink) throws(DatabaseError)
            -> QueryCounters
    ) throws(DatabaseError) {
        self.process = process
        try process.check()
        let handOver = handOver
        let watched = options.watching(handOver.flag)
        let isStarted = OwnThread.start {
            var sink = CursorSink(handOver)
            do throws(DatabaseError) {
                handOver.finish(try run(watched, &sink), nil)
            } catch {
                handOver.finish(QueryCounters(), error)
            }
        }
        guard isStarted else {
            throw DatabaseError(
                .limitExceeded,
                "the system has no thread left for a query; close cursors or raise its limit")
        }
    }

    deinit { cancel() }

    /// The next batch; nil after the last. Waits until it is computed.
    ///
    /// - Throws: what ended the query early, once, after the batches that came before:
    ///   `usage` for a text that does not parse or fails its checks, `cancelled`, `limitExceeded`,
    ///   `damaged`.
    public func next() throws(DatabaseError) -> QueryBatch? {
        try process.check()
        return try handOver.take()
    }

    /// The same for tasks; waits without blocking a thread. A cancelled task ends the query.
    ///
    /// - Throws: as the synchronous form.
    public func next() async throws(DatabaseError) -> QueryBatch? {
        try process.check()
        while true {
            await withTaskCancellationHandler {
                await handOver.waitForMore()
            } onCancel: {
                handOver.cancel()
            }
            // Another task may have been faster.
            if case .some(let batch) = try handOver.takeIfReady() { return batch }
        }
    }

    /// Ends the query with its next block and drops batches that nobody took; the call of `next`
    /// that comes then, or waits now, throws `cancelled`. After the end it changes nothing.
    public func cancel() {
        // The query's thread is not there in a child by fork, and may have held the lock.
        if process.isThisOne { handOver.cancel() }
    }

    /// What the query did; nil until its end was reached.
    public var counters: QueryCounters? { process.isThisOne ? handOver.counters : nil }
}

extension QueryCursor: AsyncSequence {
    /// Takes the batches of one cursor; copies share them.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let cursor: QueryCursor

        /// The next batch; nil after the last.
        ///
        /// - Throws: as `QueryCursor.next()`.
        public mutating func next() async throws(DatabaseError) -> QueryBatch? {
            try await cursor.next()
        }
    }

    /// The one walk over the answer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: self) }
}

/// A sign that work should stop, seen by other threads.
final class CancellationFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

extension QueryOptions {
    /// The same options; the query also stops when the flag is raised.
    func watching(_ flag: CancellationFlag) -> QueryOptions {
        var options = self
        let before = isCancelled
        options.isCancelled = { flag.isRaised || before?() == true }
        return options
    }
}

/// What passes from the query's thread to whoever takes batches.
final class BatchHandOver: Sendable {
    private struct State {
        var batches: [QueryBatch] = []
        var isFinished = false
        var isCancelled = false
        /// Taken by the call that throws it.
        var failure: DatabaseError?
        var counters: QueryCounters?
        /// Tasks that wait for a batch or the end.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let countMax = 2

    let flag = CancellationFlag()
    private let state = Monitor(State())

    var counters: QueryCounters? { state.withLock { $0.counters } }

    /// Waits for room.
    ///
    /// - Throws: `cancelled` where nobody wants more.
    func put(_ batch: QueryBatch) throws(DatabaseError) {
        let (isCancelled, waiting) = state.withLock(
            when: { $0.batches.count < BatchHandOver.countMax || $0.isCancelled }
        ) { state in
            if !state.isCancelled { state.batches.append(batch) }
            return (state.isCancelled, BatchHandOver.takeWaiting(&state))
        }
        for task in waiting { task.resume() }
        if isCancelled { throw BatchHandOver.cancelled }
    }

    func finish(_ counters: QueryCounters, _ failure: DatabaseError?) {
        let waiting = state.withLock { state in
            if !state.isFinished {
                state.isFinished = true
                state.failure = failure
                if failure == nil { state.counters = counters }
            }
            return BatchHandOver.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

    /// Ends the query; whoever waits is told at once, though its thread may still end a block.
    func cancel() {
        flag.raise()
        let waiting = state.withLock { state in
            state.isCancelled = true
            if !state.isFinished || !state.batches.isEmpty {
                // An answer that is cut short must not look like one that ended.
                state.batches.removeAll()
                state.isFinished = true
                state.failure = BatchHandOver.cancelled
                state.counters = nil
            }
            return BatchHandOver.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

    /// The next batch, or nil at the end; waits for either.
    func take() throws(DatabaseError) -> QueryBatch? {
        try state.withLock(when: { !$0.batches.isEmpty || $0.isFinished }) {
            state throws(DatabaseError) in
            try BatchHandOver.takeNext(&state)
        }
    }

    /// The same without waiting; nil where it would.
    func takeIfReady() throws(DatabaseError) -> QueryBatch?? {
        try state.withLock { state throws(DatabaseError) in
            if state.batches.isEmpty, !state.isFinished { return nil }
            return .some(try BatchHandOver.takeNext(&state))
        }
    }

    private static func takeNext(_ state: inout State) throws(DatabaseError) -> QueryBatch? {
        if !state.batches.isEmpty { return state.batches.removeFirst() }
        defer { state.failure = nil }
        if let failure = state.failure { throw failure }
        return nil
    }

    /// Returns when `take` need not wait.
    func waitForMore() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                let isReady = !state.batches.isEmpty || state.isFinished
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

/// Gives the rows of an answer to a hand-over.
struct CursorSink: QueryResultSink {
    private let handOver: BatchHandOver
    private var statement = 0
    private var seriesIndex = -1
    private var series = ResultSeries(name: "", columns: [])

    init(_ handOver: BatchHandOver) {
        self.handOver = handOver
    }

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        statement = index
        seriesIndex = -1
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        self.series = series
        seriesIndex += 1
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        try handOver.put(
            QueryBatch(
                statement: statement, seriesIndex: seriesIndex, series: series, rows: batch))
    }

    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}
