// A pull interface to query results. The executor runs on its own thread and pushes batches into a
// bounded queue of two; it blocks while the queue is full.

internal import Synchronization

/// Some rows of a query result, with the series they belong to.
public struct QueryBatch: Sendable {
    /// Index of the statement in the text, from 0.
    public var statement: Int
    /// Index of the series in the statement's result, from 0.
    public var seriesIndex: Int
    /// Name, tags and columns of the series.
    public var series: ResultSeries
    /// One to a few thousand rows, stored by column, in result order.
    public var rows: ResultBatch

    /// Returns the column with this name; nil if the result does not have it.
    public func column(_ name: String) -> ResultVector? {
        series.columns.firstIndex { Name($0.name) == Name(name) }.map { rows.columns[$0] }
    }

    /// Times of the rows; empty if the result has no time column (as with SHOW).
    public var times: [Timestamp] {
        guard let index = series.columns.firstIndex(where: \.isTime) else { return [] }
        return rows.columns[index].integers.map { Timestamp(nanoseconds: $0 ?? 0) }
    }
}

extension QueryBatch {
    /// Returns the rows as values of a type of the program, as `QueryResult.rows(as:)` does.
    ///
    /// - Throws: `usage` if a property is missing, null or of another type.
    public func rows<Row: Decodable>(as type: Row.Type) throws(DatabaseError) -> [Row] {
        try RowDecoder(series, rows.columns).rows(rows.count)
    }
}

/// A running query that returns its result one batch at a time.
///
/// The query computes at most two batches ahead, on its own thread, and then waits. It ends when
/// its result is complete, when it fails, when `cancel()` is called, or when the cursor is
/// released. Until then a cursor costs one thread and some 10 MB. A result of at most two
/// batches needs neither once it is computed. Series without rows are skipped.
///
///     for try await batch in try await database.cursor("SELECT ts_heart_rate FROM dev") {
///         use(batch.times, batch.column("ts_heart_rate")?.doubles ?? [])
///     }
///
/// Safe to use from any thread; each batch goes to one caller. As a sequence it can be iterated
/// once. A cursor stays usable after `Database.close()`, because it keeps the files of its snapshot
/// open.
public final class QueryCursor: Sendable {
    private let batchQueue = BatchQueue()
    private let process: ProcessGuard

    init(
        _ options: QueryOptions, _ process: ProcessGuard,
        _ run:
            @escaping @Sendable (QueryOptions, inout CursorSink) throws(DatabaseError)
            -> QueryCounters
    ) throws(DatabaseError) {
        self.process = process
        try process.check()
        let batchQueue = batchQueue
        let watched = options.watching(batchQueue.flag)
        let isStarted = WorkerThreads.start {
            var sink = CursorSink(batchQueue)
            do throws(DatabaseError) {
                batchQueue.finish(try run(watched, &sink), nil)
            } catch {
                batchQueue.finish(QueryCounters(), error)
            }
        }
        guard isStarted else {
            throw DatabaseError(
                .busy,
                "cannot start a thread for the query: the system limit is reached; release "
                    + "cursors, or raise the limit")
        }
    }

    deinit { cancel() }

    /// Returns the columns of the first statement's result, before its first batch. An empty result
    /// has columns, too; only that of SHOW, DELETE or DROP has none.
    ///
    /// - Throws: The error that ended the query before they were known. `next` throws it again.
    public func columns() throws(DatabaseError) -> [ResultColumn] {
        try process.check()
        return try batchQueue.takeColumns()
    }

    /// Returns the columns of the first statement's result. Waits without blocking a thread.
    /// Cancelling the task ends the query.
    ///
    /// - Throws: As the synchronous form.
    public func columns() async throws(DatabaseError) -> [ResultColumn] {
        try process.check()
        await withTaskCancellationHandler {
            await batchQueue.waitForColumns()
        } onCancel: {
            batchQueue.cancel()
        }
        return try batchQueue.takeColumns()
    }

    /// Returns the next batch; nil after the last. Waits until it is computed.
    ///
    /// - Throws: The error that ended the query, once, after the batches before it: `usage` if the
    ///   text does not parse or fails its checks, `cancelled`, `limitExceeded` or `damaged`.
    public func next() throws(DatabaseError) -> QueryBatch? {
        try process.check()
        return try batchQueue.take()
    }

    /// Returns the next batch; nil after the last. Waits without blocking a thread. Cancelling the
    /// task ends the query.
    ///
    /// - Throws: As the synchronous form.
    public func next() async throws(DatabaseError) -> QueryBatch? {
        try process.check()
        while true {
            await withTaskCancellationHandler {
                await batchQueue.waitForMore()
            } onCancel: {
                batchQueue.cancel()
            }
            // Another task may have taken the batch first.
            if case .some(let batch) = try batchQueue.tryTake() { return batch }
        }
    }

    /// Ends the query at its next block and drops batches not yet taken. A call of `next` that is
    /// waiting, or that comes next, throws `cancelled`. Has no effect after the end.
    public func cancel() {
        // In a child process made by `fork` the query's thread does not exist, and it may have held
        // the lock.
        if process.isSameProcess { batchQueue.cancel() }
    }

    /// What the query did; nil until it has ended.
    public var counters: QueryCounters? { process.isSameProcess ? batchQueue.counters : nil }
}

extension QueryCursor: AsyncSequence {
    /// An iterator over the batches of one cursor. Copies share its position.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let cursor: QueryCursor

        /// Returns the next batch; nil after the last.
        ///
        /// - Throws: As `QueryCursor.next()`.
        public mutating func next() async throws(DatabaseError) -> QueryBatch? {
            try await cursor.next()
        }
    }

    /// Returns the iterator. The batches can be iterated only once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cursor: self) }
}

/// A flag by which one thread asks others to stop.
final class CancellationFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

extension QueryOptions {
    /// Returns these options with one more reason to cancel: that the flag is raised.
    func watching(_ flag: CancellationFlag) -> QueryOptions {
        var options = self
        let before = isCancelled
        options.isCancelled = { flag.isRaised || before?() == true }
        return options
    }
}

/// A bounded queue from the query's thread to the callers that take batches.
final class BatchQueue: Sendable {
    private struct State {
        /// The columns of the first statement; nil until they are known.
        var columns: [ResultColumn]?
        var batches: [QueryBatch] = []
        var isFinished = false
        var isCancelled = false
        /// Cleared by the call that throws it.
        var failure: DatabaseError?
        /// The same for `columns`, which throws it each time.
        var columnsFailure: DatabaseError?
        var counters: QueryCounters?
        /// Tasks that wait for the columns, a batch or the end.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let countMax = 2

    let flag = CancellationFlag()
    private let state = Monitor(State())

    var counters: QueryCounters? { state.withLock { $0.counters } }

    /// Sets the columns if none are known.
    func begin(_ columns: [ResultColumn]) {
        let waiting = state.withLock { state in
            if state.columns == nil { state.columns = columns }
            return BatchQueue.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

    /// Appends a batch; waits while the queue is full.
    ///
    /// - Throws: `cancelled` if the consumer cancelled.
    func put(_ batch: QueryBatch) throws(DatabaseError) {
        let (isCancelled, waiting) = state.withLock(
            when: { $0.batches.count < BatchQueue.countMax || $0.isCancelled }
        ) { state in
            if !state.isCancelled { state.batches.append(batch) }
            return (state.isCancelled, BatchQueue.takeWaiting(&state))
        }
        for task in waiting { task.resume() }
        if isCancelled { throw BatchQueue.cancelled }
    }

    func finish(_ counters: QueryCounters, _ failure: DatabaseError?) {
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

    /// Ends the query. Waiting callers return at once, although the query's thread may still finish
    /// a block.
    func cancel() {
        flag.raise()
        let waiting = state.withLock { state in
            state.isCancelled = true
            if !state.isFinished || !state.batches.isEmpty {
                // A result that was cut short must not look complete.
                state.batches.removeAll()
                state.isFinished = true
                state.failure = BatchQueue.cancelled
                state.columnsFailure = BatchQueue.cancelled
                state.counters = nil
            }
            return BatchQueue.takeWaiting(&state)
        }
        for task in waiting { task.resume() }
    }

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
        try state.withLock(when: { !$0.batches.isEmpty || $0.isFinished }) {
            state throws(DatabaseError) in
            try BatchQueue.takeNext(&state)
        }
    }

    /// Returns the next batch, or `.some(nil)` at the end; nil instead of waiting.
    func tryTake() throws(DatabaseError) -> QueryBatch?? {
        try state.withLock { state throws(DatabaseError) in
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

/// A sink that passes the rows of a result to the queue.
struct CursorSink: QueryResultSink {
    private let batchQueue: BatchQueue
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
