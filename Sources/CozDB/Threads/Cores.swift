// Parallel loops on all cores. The caller always takes part and never waits for a thread to start:
// if no thread is available, it does all the work.

internal import CozKernels
internal import CozPlatform
internal import Synchronization

/// A process-wide pool of helper threads, one fewer than there are cores. Threads start on first
/// use and never exit.
package enum Cores {
    static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    private static let helpers = Helpers()
    private static let process = ProcessGuard()

    /// Runs the body for each index below `iterations`, on this thread and on idle helpers.
    package static func perform(iterations: Int, _ body: @Sendable (Int) -> Void) {
        withoutActuallyEscaping(body) { body in
            let work = SharedWork(body, iterations: iterations)
            offer(iterations - 1) { work.help() }
            work.run(body)
            work.end()
        }
    }

    /// Offers work to at most `threadCount` helpers. There is no guarantee that any runs it.
    static func offer(_ threadCount: Int, _ work: @escaping @Sendable () -> Void) {
        // A child process made by `fork` has no helper threads.
        guard count > 1, threadCount > 0, process.isSameProcess else { return }
        helpers.offer(min(threadCount, count - 1), work)
    }
}

/// The helper threads of `Cores`.
///
/// Unchecked: only atomic calls access the semaphore, which never moves.
@safe private final class Helpers: @unchecked Sendable {
    private struct State {
        var offers: [@Sendable () -> Void] = []
        var threadCount = 0
        /// Threads that wait or are about to.
        var idleCount = 0
    }

    private let state = Monitor(State())
    private let offered = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private let threadCountMax = Cores.count - 1
    /// Limits the queue. It fills up only when all helpers have been busy for long.
    private let offerCountMax = 4 * Cores.count

    init() { unsafe offered.initialize(to: 0) }

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
        for _ in 0..<offeredCount { unsafe coz_semaphore_post(offered) }
        guard missingCount > 0 else { return }
        for index in 0..<missingCount where !DetachedThread.start({ self.serve() }) {
            let lostCount = missingCount - index
            return state.withLock { state in
                state.threadCount -= lostCount
                state.idleCount -= lostCount
            }
        }
    }

    private func serve() {
        while true {
            unsafe coz_semaphore_wait(offered)
            let work = state.withLock { state in
                state.idleCount -= 1
                return state.offers.isEmpty ? nil : state.offers.removeFirst()
            }
            work?()
            state.withLock { $0.idleCount += 1 }
        }
    }
}

/// Indices handed out to several threads.
private final class SharedWork: Sendable {
    private struct State {
        /// nil when all work is done, for helpers that arrive late.
        var body: (@Sendable (Int) -> Void)?
        /// Helper threads that run the body.
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

    /// Runs a share of the work.
    func help() {
        // The reference to the body must be released before the caller returns, because the closure
        // does not escape. Hence the separate function.
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

    /// Waits until no helper runs the body.
    func end() {
        state.withLock { $0.body = nil }
        state.withLock(when: { $0.helperCount == 0 }) { _ in }
    }
}
