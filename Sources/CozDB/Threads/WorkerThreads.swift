// Threads for calls that may block. A thread that has ended its work waits a moment for more: the
// system lets a new thread wait behind busy ones, which takes longer than a small query. So does a
// thread that is woken. Work therefore belongs to no thread: whichever is ready first takes it.

/// Runs pieces of work, each on a thread of its own.
enum WorkerThreads {
    typealias Work = @Sendable () -> Void

    private struct State {
        /// Work that waits for a thread, by number. For each piece a thread was started or woken.
        var waiting: [Int: Work] = [:]
        /// The number of the oldest piece, and of the next.
        var first = 0
        var next = 0
        /// The gates of the threads that wait. The last one has waited the shortest.
        var idle: [Gate] = []

        mutating func append(_ work: @escaping Work) -> Int {
            defer { next += 1 }
            waiting[next] = work
            return next
        }

        mutating func take() -> Work? {
            while first < next {
                defer { first += 1 }
                if let work = waiting.removeValue(forKey: first) { return work }
            }
            return nil
        }
    }

    private static let idleTime = Duration.milliseconds(100)
    private static let state = Monitor(State())
    private static let process = ProcessGuard()

    /// Runs the work on a thread. Returns false if the system has no thread left.
    static func start(_ work: @escaping Work) -> Bool {
        // A child process made by `fork` has no threads, and may have a locked mutex.
        guard process.isSameProcess else { return DetachedThread.start(work) }
        let (number, idle) = state.withLock { ($0.append(work), $0.idle.popLast()) }
        if let idle {
            idle.open()
            return true
        }
        if DetachedThread.start(serve) { return true }
        // Unless another thread has taken it.
        return state.withLock { $0.waiting.removeValue(forKey: number) == nil }
    }

    /// Lets work that waits for a thread go first. Returns whether there is any: then the rest of
    /// the caller's work is put behind it, and the caller must return at once.
    static func giveWay(_ rest: @escaping Work) -> Bool {
        guard process.isSameProcess else { return false }
        return state.withLock { state in
            guard !state.waiting.isEmpty else { return false }
            _ = state.append(rest)
            return true
        }
    }

    private static func serve() {
        while process.isSameProcess {
            guard let gate = runNext() else { continue }
            if gate.wait(atMost: idleTime) { continue }
            let isLeft = state.withLock { state in
                let index = state.idle.firstIndex { $0 === gate }
                if let index { state.idle.remove(at: index) }
                return index != nil
            }
            if isLeft { return }
        }
    }

    /// Runs the oldest work. If none waits, returns a gate that opens when some comes.
    /// Nothing that the work captures stays alive.
    @inline(never)
    private static func runNext() -> Gate? {
        let (work, gate): (Work?, Gate?) = state.withLock { state in
            if let work = state.take() { return (work, nil) }
            let gate = Gate()
            state.idle.append(gate)
            return (nil, gate)
        }
        work?()
        return gate
    }
}
