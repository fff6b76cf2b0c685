// Work that waits for one of a limited number of threads.

/// Runs work on a limited number of threads, in the order of its arrival.
final class WorkerQueue: Sendable {
    private struct State {
        var threadCount = 0
        var waiting: [@Sendable () -> Void] = []
        /// The work that is next, the oldest last.
        var next: [@Sendable () -> Void] = []

        mutating func take() -> (@Sendable () -> Void)? {
            if next.isEmpty {
                next = waiting.reversed()
                waiting = []
            }
            return next.popLast()
        }
    }

    private let threadCountMax: Int
    private let state = Monitor(State())
    private let process = ProcessGuard()

    init(threadCountMax: Int) {
        self.threadCountMax = threadCountMax
    }

    /// Runs the work on a thread, as soon as there is one. Returns false if none runs, and the
    /// system has none left.
    func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        // A child process made by `fork` has none of the threads, and may have a locked mutex.
        guard process.isSameProcess else { return WorkerThreads.start(work) }
        let isWaiting = state.withLock { state in
            if state.threadCount < threadCountMax {
                state.threadCount += 1
                return false
            }
            state.waiting.append(work)
            return true
        }
        if isWaiting { return true }
        // The thread gives it up when it is done, and goes on with other work.
        let first = Monitor<(@Sendable () -> Void)?>(work)
        if WorkerThreads.start({ self.run(first) }) { return true }
        let isTaken = state.withLock { state in
            guard state.threadCount > 1 else { return false }
            // One of the other threads takes it.
            state.threadCount -= 1
            state.waiting.append(work)
            return true
        }
        // Others may have left their work to this one.
        if !isTaken { run(Monitor(nil)) }
        return isTaken
    }

    private func run(_ first: Monitor<(@Sendable () -> Void)?>) {
        var next = first.withLock { $0.take() }
        repeat { runNext(&next) } while next != nil
    }

    /// Runs the work and replaces it by the next. What it captures is released in between.
    @inline(never)
    private func runNext(_ work: inout (@Sendable () -> Void)?) {
        work.take()?()
        work = state.withLock { state in
            let next = state.take()
            if next == nil { state.threadCount -= 1 }
            return next
        }
    }
}
