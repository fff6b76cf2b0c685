// Who observes a database in the process that writes it, and what they have not seen yet.

internal import Synchronization

/// The observers of one database. Writers tell them what they changed.
final class ChangeObservers: Sendable {
    private struct State {
        var subscriptions: [ObjectIdentifier: WeakSubscription] = [:]
        var isFinished = false
    }

    private struct WeakSubscription: Sendable {
        weak let subscription: ChangeSubscription?
    }

    private let state = Monitor(State())
    /// The number of subscriptions. Writers look at it after each commit.
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// Subscribes to the changes of some experiments; nil stands for all.
    func subscribe(_ experiments: Set<String>?) -> ChangeSubscription {
        let made = ChangeSubscription(experiments, self)
        let isFinished = state.withLock { state in
            if state.isFinished { return true }
            state.subscriptions[ObjectIdentifier(made)] = WeakSubscription(subscription: made)
            count.store(state.subscriptions.count, ordering: .releasing)
            return false
        }
        if isFinished { made.finish() }
        return made
    }

    fileprivate func remove(_ id: ObjectIdentifier) {
        state.withLock { state in
            state.subscriptions[id] = nil
            count.store(state.subscriptions.count, ordering: .releasing)
        }
    }

    func notify(_ change: CommittedChange) {
        for one in all() { one.add(change) }
    }

    /// Ends all subscriptions, because the database is closed.
    func finish() {
        state.withLock { $0.isFinished = true }
        for one in all() { one.finish() }
    }

    private func all() -> [ChangeSubscription] {
        state.withLock { $0.subscriptions.values.compactMap(\.subscription) }
    }
}

/// The changes that one observer has not seen yet, merged into one.
final class ChangeSubscription: Sendable {
    private struct State {
        var pending: CommittedChange?
        var isFinished = false
        /// That of the last element. Writers tell of their commits in any order.
        var sequence: UInt64 = 0
        /// Tasks that wait, by number.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextNumber = 0
    }

    private let experiments: Set<String>?
    private let observers: ChangeObservers
    private let state = Monitor(State())

    fileprivate init(_ experiments: Set<String>?, _ observers: ChangeObservers) {
        self.experiments = experiments
        self.observers = observers
    }

    deinit { observers.remove(ObjectIdentifier(self)) }

    func add(_ change: CommittedChange) {
        guard change.concerns(experiments) else { return }
        update { state in
            if state.pending?.merge(change) == nil { state.pending = change }
        }
    }

    fileprivate func finish() { update { $0.isFinished = true } }

    /// Changes the state and wakes all waiting tasks.
    private func update(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits for a change. Returns nil when the database is closed or the task is cancelled.
    func next() async -> CommittedChange? {
        while !Task.isCancelled {
            let (change, isFinished) = state.withLock { state in
                var change = state.pending.take()
                state.sequence = max(state.sequence, change?.sequence ?? 0)
                change?.sequence = state.sequence
                return (change, state.isFinished)
            }
            if let change { return change }
            if isFinished { return nil }
            await wait()
        }
        return nil
    }

    private func wait() async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.pending != nil || state.isFinished || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}
