// A thread pool for blocking calls: disk, locks, slow consumers. They must not block Swift's
// cooperative pool, nor the Dispatch queues that share its threads on Linux.

internal import Synchronization

/// Runs blocking calls for `async` functions in FIFO order, on a limited number of threads. Without
/// a limit, a thousand writers could take all threads and leave none for the flush they wait for.
final class BlockingCallPool: Sendable {
    /// The pool that opens databases, which do not have pools yet.
    static let openings = BlockingCallPool(threadCountMax: 64, waitingCountMax: .max)

    /// Runs a body and returns the step that hands over its result. The thread takes its next call,
    /// or gives back its slot, in between: who has the result finds the slot free.
    private typealias Call = @Sendable () -> @Sendable () -> Void

    private enum Admission {
        case thread
        case queue(Int)
        case none
    }

    private struct State {
        var threadCount = 0
        /// Calls that wait for a thread, by number.
        var waiting: [Int: Call] = [:]
        /// The lowest number that may be waiting, and the number of the next call.
        var first = 0
        var next = 0
    }

    private let threadCountMax: Int
    private let waitingCountMax: Int
    private let state = Mutex(State())

    init(threadCountMax: Int, waitingCountMax: Int) {
        self.threadCountMax = threadCountMax
        self.waitingCountMax = waitingCountMax
    }

    /// Runs the body on another thread and awaits it.
    ///
    /// - Parameters:
    ///   - isCancellable: Whether cancelling the task ends the wait at once with `cancelled`. A
    ///     body still in the queue never runs. A running body should end soon; its result is
    ///     discarded.
    ///   - isLimited: Whether the call is refused if too many calls are waiting.
    /// - Throws: What the body throws; `busy` if too many calls are waiting or the system
    ///   has no thread left.
    func run<Value: Sendable>(
        isCancellable: Bool = false, isLimited: Bool = true,
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let answer = CallResult<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.receive(continuation)
                start(answer, isLimited) {
                    let result = Result { () throws(DatabaseError) in try body() }
                    return { answer.give(result) }
                }
            }
        } onCancel: {
            guard isCancellable else { return }
            answer.give(.failure(DatabaseError(.cancelled, "the call was cancelled")))
            if let number = answer.number { forget(number) }
        }
        return try result.get()
    }

    private func start<Value: Sendable>(
        _ answer: CallResult<Value>, _ isLimited: Bool, _ call: @escaping Call
    ) {
        let admission: Admission = state.withLock { state in
            if state.threadCount < threadCountMax {
                state.threadCount += 1
                return .thread
            }
            guard !isLimited || state.waiting.count < waitingCountMax else { return .none }
            state.waiting[state.next] = call
            state.next += 1
            return .queue(state.next - 1)
        }
        switch admission {
        case .thread:
            let isStarted = DetachedThread.start { self.work(from: call) }
            if isStarted { return }
            // Other calls may have queued for this thread; running threads will serve them.
            answer.give(.failure(BlockingCallPool.noThread))
            failWaitingIfAlone()
        case .queue(let number):
            // Cancelled before it had a number, so `onCancel` could not remove it.
            if answer.wait(as: number) { forget(number) }
        case .none:
            answer.give(
                .failure(
                    DatabaseError(
                        .busy,
                        "\(waitingCountMax) calls are already waiting (waitingCallCountMax); wait "
                            + "until some have returned")))
        }
    }

    private static let noThread = DatabaseError(
        .busy,
        "cannot start a thread: the system limit is reached; end some threads, or raise the limit")

    private func forget(_ number: Int) {
        state.withLock { _ = $0.waiting.removeValue(forKey: number) }
    }

    /// Runs a call, then queued calls until there are none.
    private func work(from first: Call?) {
        var call = first
        var handOver: (@Sendable () -> Void)?
        while true {
            if call == nil { call = next() }
            handOver?()
            guard let own = call else { return }
            handOver = own()
            call = nil
        }
    }

    /// Takes a call from the queue. Gives back the thread's slot if there is none.
    private func next() -> Call? {
        state.withLock { state in
            while state.first < state.next {
                state.first += 1
                if let call = state.waiting.removeValue(forKey: state.first - 1) { return call }
            }
            state.threadCount -= 1
            return nil
        }
    }

    /// Gives back the slot of a thread that could not start. If it was the only one, the calling
    /// thread runs the queued calls.
    private func failWaitingIfAlone() {
        let isAlone = state.withLock { state in
            if state.threadCount == 1, !state.waiting.isEmpty { return true }
            state.threadCount -= 1
            return false
        }
        if isAlone { work(from: nil) }
    }
}

/// The result of a call. The first one given wins.
private final class CallResult<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, DatabaseError>, Never>?
        var early: Result<Value, DatabaseError>?
        var isGiven = false
        var number: Int?
    }

    private let state = Mutex(State())

    /// The call's number in the queue; nil if it is not queued.
    var number: Int? { state.withLock { $0.number } }

    func receive(_ continuation: CheckedContinuation<Result<Value, DatabaseError>, Never>) {
        let early = state.withLock { state in
            if state.early == nil { state.continuation = continuation }
            return state.early
        }
        if let early { continuation.resume(returning: early) }
    }

    func give(_ result: Result<Value, DatabaseError>) {
        let continuation: CheckedContinuation<Result<Value, DatabaseError>, Never>? =
            state.withLock { state in
                if state.isGiven { return nil }
                state.isGiven = true
                if state.continuation == nil { state.early = result }
                defer { state.continuation = nil }
                return state.continuation
            }
        continuation?.resume(returning: result)
    }

    /// Stores the number in the queue. Returns whether a result was already given.
    func wait(as number: Int) -> Bool {
        state.withLock { state in
            state.number = number
            return state.isGiven
        }
    }
}
