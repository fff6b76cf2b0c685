// Calls that wait for a disk, a lock, or somebody who reads slowly. They must not occupy Swift's
// cooperative pool, nor the queues that Dispatch shares with it on Linux.

internal import Synchronization

/// Runs waiting calls for `async` functions, in the order in which they come, a limited number at
/// a time: with a thread for each of a thousand writers there would be none left for the flush
/// that they wait for.
final class WaitingCalls: Sendable {
    /// Opening databases; what waits there belongs to none yet.
    static let openings = WaitingCalls(threadCountMax: 64, waitingCountMax: .max)

    /// Where a call goes.
    private enum Place {
        case thread
        case queue(Int)
        case none
    }

    private struct State {
        var threadCount = 0
        /// Calls that wait for a thread, by number.
        var waiting: [Int: @Sendable () -> Void] = [:]
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

    /// Runs the body on another thread and waits for it without blocking one.
    ///
    /// - Parameter isCancellable: whether cancelling the task ends the wait at once, with
    ///   `cancelled`. A body that waits then never runs; one that runs should end soon, and what
    ///   it returns is dropped.
    /// - Throws: what the body throws; `limitExceeded` where too many calls wait already, or the
    ///   system has no thread left.
    func run<Value: Sendable>(
        isCancellable: Bool = false,
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let answer = CallAnswer<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.receive(continuation)
                start(answer) { answer.give(Result { () throws(DatabaseError) in try body() }) }
            }
        } onCancel: {
            guard isCancellable else { return }
            answer.give(.failure(DatabaseError(.cancelled, "the call was cancelled")))
            if let number = answer.number { forget(number) }
        }
        return try result.get()
    }

    private func start<Value: Sendable>(
        _ answer: CallAnswer<Value>, _ call: @escaping @Sendable () -> Void
    ) {
        let place: Place = state.withLock { state in
            if state.threadCount < threadCountMax {
                state.threadCount += 1
                return .thread
            }
            guard state.waiting.count < waitingCountMax else { return .none }
            state.waiting[state.next] = call
            state.next += 1
            return .queue(state.next - 1)
        }
        switch place {
        case .thread:
            let isStarted = OwnThread.start {
                call()
                self.runWaiting()
            }
            if isStarted { return }
            // Others may have come to wait for this thread; they are served by those that run.
            answer.give(.failure(WaitingCalls.noThread))
            failWaitingIfAlone()
        case .queue(let number):
            // Cancelled before it had a number: then nobody else takes it back.
            if answer.wait(as: number) { forget(number) }
        case .none:
            answer.give(
                .failure(
                    DatabaseError(
                        .limitExceeded,
                        "\(waitingCountMax) calls wait already (waitingCallCountMax); wait until "
                            + "some of them have returned")))
        }
    }

    private static let noThread = DatabaseError(
        .limitExceeded, "the system has no thread left; end some, or raise its limit")

    private func forget(_ number: Int) {
        state.withLock { _ = $0.waiting.removeValue(forKey: number) }
    }

    /// Runs what waits, until nothing does.
    private func runWaiting() {
        while true {
            let call: (@Sendable () -> Void)? = state.withLock { state in
                while state.first < state.next {
                    state.first += 1
                    if let call = state.waiting.removeValue(forKey: state.first - 1) {
                        return call
                    }
                }
                state.threadCount -= 1
                return nil
            }
            guard let call else { return }
            call()
        }
    }

    /// Gives a thread back that could not be started. Where it was the only one, the calling thread
    /// runs what came to wait meanwhile.
    private func failWaitingIfAlone() {
        let isAlone = state.withLock { state in
            if state.threadCount == 1, !state.waiting.isEmpty { return true }
            state.threadCount -= 1
            return false
        }
        if isAlone { runWaiting() }
    }
}

/// The answer of one call: whoever gives it first is heard.
private final class CallAnswer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Value, DatabaseError>, Never>?
        var early: Result<Value, DatabaseError>?
        var isGiven = false
        var number: Int?
    }

    private let state = Mutex(State())

    /// The number that it waits as; nil where it does not.
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

    /// Remembers the number in the queue; whether the answer was given before.
    func wait(as number: Int) -> Bool {
        state.withLock { state in
            state.number = number
            return state.isGiven
        }
    }
}
