// A pull interface to query results. A thread computes a few batches ahead; then the query pauses,
// and the thread does other work until batches are taken.

/// Some rows of a query result, with the series they belong to.
public struct QueryBatch: Sendable {
    /// Index of the statement in the text, from 0.
    public var statement: Int
    /// Index of the series in the statement's result, from 0.
    public var seriesIndex: Int
    /// Name, tags and columns of the series.
    public var series: ResultSeries
    /// One row to some ten thousand, stored by column, in result order. SHOW has all rows of a
    /// series in one batch.
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
/// The query computes a few batches ahead, on a thread of CozDB, and then pauses. It ends when its
/// result is complete, when it fails, when `cancel()` is called, or when the cursor is released.
/// Until then a cursor keeps some tens of MB, but no thread while it is paused. A result of at most
/// two batches needs neither once it is computed. Series without rows are skipped.
///
///     for try await batch in try await database.cursor("SELECT ts_heart_rate FROM dev") {
///         use(batch.times, batch.column("ts_heart_rate")?.doubles ?? [])
///     }
///
/// Any number of cursors may be open. At most 32 compute at the same time; the others wait for
/// their turn.
///
/// Safe to use from any thread; each batch goes to one caller. As a sequence it can be iterated
/// once. A cursor stays usable after `Database.close()`, because it keeps the files of its snapshot
/// open.
public final class QueryCursor: Sendable {
    private let batchQueue: BatchQueue
    private let process: ProcessGuard

    init(
        _ snapshot: Snapshot, _ text: String, _ options: QueryOptions, _ process: ProcessGuard
    ) throws(DatabaseError) {
        self.process = process
        try process.check()
        batchQueue = BatchQueue()
        try batchQueue.start(snapshot, text, options)
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

extension QueryOptions {
    /// Returns these options with one more reason to cancel: that the flag is raised.
    func watching(_ flag: CancellationFlag) -> QueryOptions {
        var options = self
        let before = isCancelled
        options.isCancelled = { flag.isRaised || before?() == true }
        return options
    }
}
