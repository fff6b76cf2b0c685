// Threads for calls that wait: for a disk, a lock, or somebody who reads slowly. Such calls must
// occupy neither Swift's cooperative pool nor the queues that Dispatch shares with it on Linux.

internal import Dispatch
internal import Glibc
internal import Synchronization

/// A thread of its own for one piece of work.
enum OwnThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts the work; false where the system has no thread left.
    ///
    /// All signals are blocked in the thread: those of the process belong to its host.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var all = sigset_t()
        var before = sigset_t()
        var thread = pthread_t()
        // The sets are local; the work is retained here and released by the thread.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let work = unsafe Unmanaged.passRetained(Work(body))
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        guard status == 0 else {
            unsafe work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}

/// Runs waiting calls for `async` functions, in the order in which they come, a limited number at
/// a time: with a thread for each of a thousand writers there would be none left for the flush
/// that they wait for.
final class WaitingCalls: Sendable {
    /// Writing, flushing, opening, closing. Writers that wait together share a sync.
    static let changes = WaitingCalls(label: "cozdb.async.changes", countMax: 64)
    /// Apart from changes, so that long queries never keep writers waiting.
    static let queries = WaitingCalls(label: "cozdb.async.queries", countMax: 32)

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let label: String
    private let countMax: Int
    private let state = Mutex(State())

    init(label: String, countMax: Int) {
        self.label = label
        self.countMax = countMax
    }

    /// Runs the body on another thread and waits for it without blocking one.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, DatabaseError>, Never>) in
            start {
                continuation.resume(
                    returning: Result { () throws(DatabaseError) in try body() })
            }
        }
        return try result.get()
    }

    private func start(_ call: @escaping @Sendable () -> Void) {
        let isRoom = state.withLock { state in
            guard state.running < countMax else {
                state.waiting.append(call)
                return false
            }
            state.running += 1
            return true
        }
        guard isRoom else { return }
        // A serial queue gets a thread beyond those that Dispatch keeps per core.
        DispatchQueue(label: label).async {
            call()
            while let next = self.next() { next() }
        }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
