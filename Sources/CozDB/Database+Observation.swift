// Observation: what commits change, and the answer to a statement after each change.

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
    /// read-only database, as `snapshot()` at the beginning and after each change.
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
            if engine.state.withLock({ $0.phase > .open }) { throw .databaseClosed }
            return CommitSequence(.subscription(observers.subscribe(experiments)))
        case .reader(let reader):
            return CommitSequence(.polling(try ChangePoll(self, reader)))
        }
    }

    /// Returns the answers to statements: first the present one, then a new one after each change
    /// that can give another.
    ///
    /// An answer is never older than the one before it, and after the last commit there is always
    /// one that includes it. Answers that nobody took are skipped. Two successive answers may be
    /// equal. A statement that uses `now()` is not asked again because time passes. Of several
    /// tasks that iterate over one sequence, each gets the present answer, and one of them each
    /// later one.
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

    /// Tells observers of a commit that may be stored although what follows it failed, such as a
    /// flush.
    func noteFailure(_ error: DatabaseError, of batch: borrowing WriteBatch) {
        if error.kind == .io { noteChange(of: Set(batch.experimentNames)) }
    }

    /// Tells observers of a committed batch.
    func noteChange(of batch: borrowing WriteBatch, _ sequence: UInt64, _ engine: Engine) {
        guard !observers.isEmpty else { return }
        let schemas = engine.state.withLock { $0.schemas }
        let asked = batch.settings.identity.map { [$0] } ?? []
        let tags = schemas.participantTags.union(Identity.participantTags(asked))
        observers.notify(
            CommittedChange(batch, sequence: sequence, participantTags: tags) { experiment in
                // Rows replaced other rows, whose participants the batch need not name.
                let schema = schemas.named(experiment)
                return tags.contains { schema?.attribute($0.text) != nil }
            })
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

        /// Makes a change part of the next element.
        func putBack(_ change: CommittedChange) {
            switch source {
            case .subscription(let subscription): subscription.add(change)
            case .polling(let poll): poll.forget()
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
            var change: CommittedChange?
            if hasFirst {
                change = try await changes.next()
                if change == nil { return nil }
            }
            hasFirst = true
            do throws(DatabaseError) {
                return try await values.database.query(
                    values.text, parameters: values.parameters, options: values.options)
            } catch {
                // Another task may iterate, too.
                if let change { changes.putBack(change) }
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

    /// The state of the database that the observer knows.
    private struct Seen: Sendable {
        var position: LiveReader.Position
        /// The last log as it was; its time of change tells of commits that LOCK does not have.
        var log: (name: String, file: any File)?
        var sequence: UInt64
        /// Whether another commit may have come at the same time of change.
        var isRecent = true
    }

    private struct State {
        var seen: Seen?
        /// Changes with `seen`.
        var version = 0
        var nextPoll = ContinuousClock.now
    }

    private let database: Database
    private let reader: LiveReader
    private let state: Monitor<State>

    init(_ database: Database, _ reader: LiveReader) throws(DatabaseError) {
        self.database = database
        self.reader = reader
        let position = try reader.position()
        let log = try ChangePoll.lastLog(reader)
        let seen = Seen(position: position, log: log, sequence: try reader.snapshot().sequence)
        state = Monitor(State(seen: seen))
    }

    func next() async throws(DatabaseError) -> CommittedChange? {
        while !Task.isCancelled {
            let wait = state.withLock { state in
                let wait = state.nextPoll - .now
                if wait <= .zero { state.nextPoll = .now + ChangePoll.interval }
                return wait
            }
            if wait > .zero {
                try? await Task.sleep(for: wait)
                continue
            }
            let (seen, version) = state.withLock { ($0.seen, $0.version) }
            do throws(DatabaseError) {
                let (change, now) = try await database.queries.calls.run(isCancellable: true) {
                    () throws(DatabaseError) in try self.change(since: seen)
                }
                // Only now, so that no change is lost if the task was cancelled.
                let isOwn = state.withLock { state in
                    guard state.version == version else { return false }
                    state.seen = now
                    state.version += 1
                    return true
                }
                if isOwn, let change { return change }
            } catch {
                if error.kind == .closed || error.kind == .cancelled { return nil }
                throw error
            }
        }
        return nil
    }

    /// Makes the next element one, whatever happens until then.
    func forget() {
        state.withLock { state in
            state.seen = nil
            state.version += 1
        }
    }

    /// Returns the change since a state, if there is one, and the present state.
    private func change(since seen: Seen?) throws(DatabaseError) -> (CommittedChange?, Seen) {
        _ = try database.openStore()
        let position = try reader.position()
        let isSame =
            position == seen?.position
            && seen?.log.map { reader.directory.isUnchanged($0.name, since: $0.file) } ?? true
        if isSame, let seen, !seen.isRecent { return (nil, seen) }
        let log = try ChangePoll.lastLog(reader)
        let sequence = try reader.snapshot().sequence
        let now = Seen(position: position, log: log, sequence: sequence, isRecent: !isSame)
        // Without another manifest, only a commit changes what there is.
        let isChanged =
            position.generation != seen?.position.generation || sequence != seen?.sequence
        guard isChanged else { return (nil, now) }
        return (CommittedChange(sequence: sequence, experiments: nil), now)
    }

    private static func lastLog(
        _ reader: LiveReader
    ) throws(DatabaseError) -> (name: String, file: any File)? {
        guard let number = try reader.manifest().logs.last?.number else { return nil }
        let name = FileName.log(number).text
        // A log that is gone means another manifest, which the next look finds.
        return (try? reader.directory.openIfPresent(name)).flatMap { $0 }.map { (name, $0) }
    }
}
