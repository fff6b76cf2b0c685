// Observation: what commits change, and the answer to a statement after each change.

internal import Synchronization

extension Database {
    /// Returns the changes of an experiment, or of all, from now on.
    ///
    /// What changes while the observer is busy is one element, so memory is bounded and a slow
    /// observer stops nobody. The sequence ends when the database is closed or the task is
    /// cancelled. Several tasks that iterate over one sequence share its elements.
    ///
    /// On a read-only database, an element says that the writer, in another process perhaps, has
    /// changed something or rewritten its files; it names no experiment, participant or time. Its
    /// changes are looked for four times a second while somebody waits for them.
    ///
    /// Cost: a commit passes over the rows of its batch once while somebody observes. On a
    /// read-only database, as `snapshot()` after each change.
    ///
    /// - Throws: As `snapshot`.
    public func commits(
        of experiment: String? = nil
    ) throws(DatabaseError) -> CommitSequence {
        try commits(of: experiment.map { [$0] })
    }

    private func commits(of experiments: Set<String>?) throws(DatabaseError) -> CommitSequence {
        switch try openStore() {
        case .writer(let engine):
            if engine.state.withLock({ $0.phase > .open }) { throw Engine.closed() }
            return CommitSequence(.subscription(observers.subscribe(experiments)))
        case .reader(let reader):
            return CommitSequence(.polling(ChangePoll(self, reader, try reader.position())))
        }
    }

    /// Returns the answers to statements: first the present one, then a new one after each change
    /// that can give another.
    ///
    /// An answer is never older than the one before it, and after the last commit there is always
    /// one that includes it. Answers that nobody took are skipped. Two successive answers may be
    /// equal. A statement that uses `now()` is not asked again because time passes.
    ///
    /// - Parameters: As `query`.
    /// - Throws: As `commits(of:)`. The errors of `query` come from the sequence.
    public func values(
        of text: String, parameters: [String: any QueryParameterConvertible] = [:],
        options: QueryOptions = QueryOptions()
    ) throws(DatabaseError) -> ValueSequence {
        let resolved = options.resolved(parameters, limits: queries.limits)
        return ValueSequence(
            changes: try commits(of: QueryEngine.experimentsRead(text, options: resolved)),
            database: self, text: text, parameters: parameters, options: options)
    }

    /// Tells observers of a change of which only the experiments are known; nil: any.
    func noteChange(of experiments: Set<String>?) {
        guard !observers.isEmpty, case .writer(let engine) = store else { return }
        let sequence = engine.state.withLock { $0.committedSequence }
        observers.notify(CommittedChange(sequence: sequence, experiments: experiments))
    }

    /// Tells observers of a committed batch.
    func noteChange(of batch: borrowing WriteBatch, _ sequence: UInt64, _ engine: Engine) {
        guard !observers.isEmpty else { return }
        let schemas = engine.state.withLock { $0.schemas }
        let asked = batch.settings.identity ?? .standard
        observers.notify(
            CommittedChange(batch, sequence: sequence) { schemas.named($0)?.identity ?? asked })
    }
}

/// The changes of a database, from `Database.commits(of:)`.
public struct CommitSequence: AsyncSequence, Sendable {
    enum Source: Sendable {
        case subscription(ChangeSubscription)
        case polling(ChangePoll)
    }

    private let source: Source

    init(_ source: Source) {
        self.source = source
    }

    /// An iterator over the changes. Copies share its position.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let source: Source

        /// Waits for the next change. Returns nil when the database is closed or the task is
        /// cancelled.
        ///
        /// - Throws: On a read-only database, as `Database.snapshot()`.
        public mutating func next() async throws(DatabaseError) -> CommittedChange? {
            switch source {
            case .subscription(let subscription): await subscription.next()
            case .polling(let poll): try await poll.next()
            }
        }
    }

    /// Returns an iterator. All iterators of a sequence share its elements.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }
}

/// The answers to statements as the database changes, from `Database.values(of:)`.
public struct ValueSequence: AsyncSequence, Sendable {
    fileprivate let changes: CommitSequence
    fileprivate let database: Database
    fileprivate let text: String
    fileprivate let parameters: [String: any QueryParameterConvertible]
    fileprivate let options: QueryOptions

    /// An iterator over the answers.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        fileprivate let values: ValueSequence
        fileprivate var changes: CommitSequence.AsyncIterator
        fileprivate var hasFirst = false

        /// Waits for the next answer. Returns nil when the database is closed or the task is
        /// cancelled.
        ///
        /// - Throws: As `Database.query`.
        public mutating func next() async throws(DatabaseError) -> QueryResult? {
            if hasFirst, try await changes.next() == nil { return nil }
            hasFirst = true
            do throws(DatabaseError) {
                return try await values.database.query(
                    values.text, parameters: values.parameters, options: values.options)
            } catch {
                if error.kind == .closed || error.kind == .cancelled && Task.isCancelled {
                    return nil
                }
                throw error
            }
        }
    }

    /// Returns an iterator that begins with the present answer.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(values: self, changes: changes.makeAsyncIterator())
    }
}

/// Looks for changes that another process, or another `Database`, makes.
final class ChangePoll: Sendable {
    private static let interval = Duration.milliseconds(250)

    private let database: Database
    private let reader: LiveReader
    private let seen: Mutex<LiveReader.Position>

    init(_ database: Database, _ reader: LiveReader, _ position: LiveReader.Position) {
        self.database = database
        self.reader = reader
        seen = Mutex(position)
    }

    func next() async throws(DatabaseError) -> CommittedChange? {
        while !Task.isCancelled {
            do throws(DatabaseError) {
                let change = try await database.queries.calls.run(isCancellable: true) {
                    () throws(DatabaseError) in try self.change()
                }
                if let change { return change }
            } catch {
                if error.kind == .closed || error.kind == .cancelled { return nil }
                throw error
            }
            try? await Task.sleep(for: ChangePoll.interval)
        }
        return nil
    }

    /// Returns a change since the last call; nil if there is none.
    private func change() throws(DatabaseError) -> CommittedChange? {
        _ = try database.openStore()
        let position = try reader.position()
        let isNew = seen.withLock { seen in
            defer { seen = position }
            return seen != position
        }
        guard isNew else { return nil }
        return CommittedChange(sequence: try reader.snapshot().sequence, experiments: nil)
    }
}
