// Work in the background, one piece after the other: flushes, merges, commits of an import.

/// Runs pieces of work one at a time, in the order in which they come, on a thread that lives as
/// long as there are some.
///
/// Where the system has no thread left, the caller runs them: slower, but it never waits for a
/// thread that does not come.
package final class SerialQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Monitor(State())

    package init() {}

    /// Has it run later. Call without locks that the work takes.
    package func async(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { runInBackground() }
    }

    /// Runs something on this thread when all that came before is done, and nothing meanwhile.
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
        if !OwnThread.start({ self.runWaiting() }) { runWaiting() }
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
