// Work that waits for one of a limited number of threads.

/// Runs work on a limited number of threads, in the order of its arrival.
final class WorkerQueue: Sendable {
    private struct State {
        var threadCount = 0
        var waiting: [@Sendable () -> Void] = []
        /// The work in `waiting` that has been taken.
        var takenCount = 0

        mutating func take() -> (@Sendable () -> Void)? {
            guard takenCount < waiting.count else {
                waiting.removeAll(keepingCapacity: true)
                takenCount = 0
                return nil
            }
            let work = waiting[takenCount]
            waiting[takenCount] = {}
            takenCount += 1
            if takenCount > 1024, takenCount * 2 > waiting.count {
                waiting.removeFirst(takenCount)
                takenCount = 0
            }
            return work
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
        return state.withLock { state in
            state.threadCount -= 1
            guard state.threadCount > 0 else { return false }
            // One of the other threads takes it.
            state.waiting.append(work)
            return true
        }
    }

    private func run(_ first: Monitor<(@Sendable () -> Void)?>) {
        var next = first.withLock { $0.take() }
        while next != nil { runNext(&next) }
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
