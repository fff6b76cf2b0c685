// Work on all cores. The caller works, too, and never waits for a thread to begin: where none is
// free, or the system has none left, it does all of it.

internal import Glibc
internal import Synchronization

/// Threads that help callers, one fewer than there are cores, for all databases of the process.
/// They are started when they are first of use, and stay.
package enum Cores {
    /// How many there are.
    static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    private static let helpers = Helpers()
    private static let process = OwnProcess()

    /// Runs the body for each index below `iterations`, on this thread and on those that are free.
    package static func perform(iterations: Int, _ body: @Sendable (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            let work = SharedWork(body, iterations: iterations)
            offer(iterations - 1) { work.help() }
            work.run(body)
            work.end()
        }
    }

    /// Offers work to threads that are free now or soon, at most so many; perhaps none takes it.
    static func offer(_ threadCount: Int, _ work: @escaping @Sendable () -> Void) {
        // A child by fork has none of the threads.
        guard count > 1, threadCount > 0, process.isThisOne else { return }
        helpers.offer(min(threadCount, count - 1), work)
    }
}

/// The threads of `Cores`.
///
/// Unchecked: the semaphore is made for threads, and never moves.
@safe private final class Helpers: @unchecked Sendable {
    private struct State {
        var offers: [@Sendable () -> Void] = []
        var threadCount = 0
        /// Threads that wait, or are about to.
        var idleCount = 0
    }

    private let state = Mutex(State())
    private let offered = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private let threadCountMax = Cores.count - 1
    /// More than that wait only where threads have long had other work.
    private let offerCountMax = 4 * Cores.count

    init() { unsafe sem_init(offered, 0, 0) }

    func offer(_ count: Int, _ work: @escaping @Sendable () -> Void) {
        let (offeredCount, missingCount) = state.withLock { state in
            let offeredCount = min(count, offerCountMax - state.offers.count)
            for _ in 0..<offeredCount { state.offers.append(work) }
            let missingCount = min(
                state.offers.count - state.idleCount, threadCountMax - state.threadCount)
            state.threadCount += max(0, missingCount)
            state.idleCount += max(0, missingCount)
            return (offeredCount, missingCount)
        }
        for _ in 0..<offeredCount { unsafe sem_post(offered) }
        guard missingCount > 0 else { return }
        for index in 0..<missingCount where !OwnThread.start({ self.serve() }) {
            let lostCount = missingCount - index
            return state.withLock { state in
                state.threadCount -= lostCount
                state.idleCount -= lostCount
            }
        }
    }

    private func serve() {
        while true {
            while unsafe sem_wait(offered) != 0 {}
            let work = state.withLock { state in
                state.idleCount -= 1
                return state.offers.isEmpty ? nil : state.offers.removeFirst()
            }
            work?()
            state.withLock { $0.idleCount += 1 }
        }
    }
}

/// Indices that several threads take one after the other.
private final class SharedWork: Sendable {
    private struct State {
        /// Nil when all is done: who comes later has nothing to do.
        var body: (@Sendable (Int) -> Void)?
        /// Threads besides the caller's that run it.
        var helperCount = 0
    }

    private let state: Monitor<State>
    private let next = Atomic(0)
    private let iterations: Int

    init(_ body: @escaping @Sendable (Int) -> Void, iterations: Int) {
        state = Monitor(State(body: body))
        self.iterations = iterations
    }

    func run(_ body: @Sendable (Int) -> Void) {
        while true {
            let index = next.add(1, ordering: .relaxed).oldValue
            guard index < iterations else { return }
            body(index)
        }
    }

    /// Runs some of it.
    func help() {
        // The body must not be held any more when the caller is told: it does not escape.
        if enterAndRun() { state.withLock { $0.helperCount -= 1 } }
    }

    @inline(never)
    private func enterAndRun() -> Bool {
        let entered = state.withLock { state in
            if state.body != nil { state.helperCount += 1 }
            return state.body
        }
        guard let entered else { return false }
        run(entered)
        return true
    }

    /// Returns when nobody runs it any more.
    func end() {
        state.withLock { $0.body = nil }
        state.withLock(when: { $0.helperCount == 0 }) { _ in }
    }
}
