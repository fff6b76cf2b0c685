// A serial background queue, for flushes, merges and the commits of an import.

/// Runs work items one at a time in FIFO order, on a thread that lives while there are any. If the
/// system has no thread left, the caller runs them.
package final class SerialQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Monitor(State())

    package init() {}

    /// Enqueues work. The caller must not hold a lock that the work takes.
    package func async(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { runInBackground() }
    }

    /// Runs the body on this thread after all earlier work. No other work runs meanwhile.
    package func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        state.withLock(when: { !$0.isRunning }) { $0.isRunning = true }
        defer {
            let isEmpty = state.withLock { state in
                state.isRunning = !state.waiting.isEmpty
                return state.waiting.isEmpty
            }
            if !isEmpty { runInBackground() }
        }
        return try body()
    }

    private func runInBackground() {
        if !DetachedThread.start({ self.runWaiting() }) { runWaiting() }
    }

    private func runWaiting() {
        while true {
            let works = state.withLock { state in
                defer { state.waiting = [] }
                state.isRunning = !state.waiting.isEmpty
                return state.waiting
            }
            if works.isEmpty { return }
            for work in works { work() }
        }
    }
}
