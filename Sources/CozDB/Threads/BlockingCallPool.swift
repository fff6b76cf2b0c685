// A thread pool for blocking calls: disk, locks, slow consumers. They must not block Swift's
// cooperative pool, nor the Dispatch queues that share its threads on Linux.

/// Runs blocking calls for `async` functions in FIFO order, on a limited number of threads. Without
/// a limit, a thousand writers could take all threads and leave none for the flush they wait for.
///
/// A brief call computes, and leaves waiting to others: a commit that another thread syncs. A few
/// threads run all brief calls, however many are in progress. More would only wait for each other,
/// and for them everybody else.
final class BlockingCallPool: Sendable {
    /// The pool that opens databases, which do not have pools yet.
    static let openings = BlockingCallPool(callCountMax: 64, waitingCountMax: .max)

    /// Runs a body and returns the step that hands over its result; nil if another thread does. The
    /// thread takes its next call, or gives back its slot, in between: who has the result finds the
    /// slot free.
    private typealias Body = @Sendable () -> (@Sendable () -> Void)?

    private struct Call: Sendable {
        var isBrief: Bool
        var body: Body
        /// Refuses the call, because the system has no thread left.
        var refuse: @Sendable () -> Void
    }

    private enum Admission {
        case thread
        case queue(Int)
        case busy
        case closed
    }

    /// Calls that wait for a thread, by number.
    private struct Queue {
        private var calls: [Int: Call] = [:]
        private var numbers: [Int] = []
        private var used = 0

        var count: Int { calls.count }

        mutating func append(_ call: Call, _ number: Int) {
            calls[number] = call
            numbers.append(number)
        }

        mutating func remove(_ number: Int) { calls[number] = nil }

        /// The number of the first call; nil if there is none.
        mutating func first() -> Int? {
            while used < numbers.count, calls[numbers[used]] == nil { used += 1 }
            if used == numbers.count {
                numbers.removeAll(keepingCapacity: true)
                used = 0
            } else if used > 1024, used * 2 > numbers.count {
                numbers.removeFirst(used)
                used = 0
            }
            return numbers.isEmpty ? nil : numbers[used]
        }

        mutating func take(_ number: Int) -> Call? { calls.removeValue(forKey: number) }
    }

    private struct State {
        /// Threads that run calls, and those of them that run brief ones.
        var threadCount = 0
        var briefThreadCount = 0
        /// Brief calls whose results another thread hands over.
        var leftCount = 0
        var brief = Queue()
        var others = Queue()
        /// The number of the next call that waits.
        var next = 0
        /// Whether further calls are refused.
        var isEnded = false
        /// Called when no call is left.
        var whenIdle: [@Sendable () -> Void] = []

        /// The calls in progress and those that wait.
        var callCount: Int { threadCount + leftCount + brief.count + others.count }

        /// Removes and returns what is called when no call is left, if so.
        mutating func takeWhenIdle() -> [@Sendable () -> Void] {
            guard isEnded, callCount == 0 else { return [] }
            defer { whenIdle = [] }
            return whenIdle
        }
    }

    /// As many threads as have work, while one writes to the disk and one waits for its turn.
    private static let briefThreadCountMax = Cores.count + 2

    private let callCountMax: Int
    private let waitingCountMax: Int
    private let state = Monitor(State())

    /// - Parameters:
    ///   - callCountMax: The most calls in progress.
    ///   - waitingCountMax: The most calls that wait.
    init(callCountMax: Int, waitingCountMax: Int) {
        self.callCountMax = callCountMax
        self.waitingCountMax = waitingCountMax
    }

    /// Runs the body on another thread and awaits it.
    ///
    /// - Parameters:
    ///   - isCancellable: Whether cancelling the task ends the wait at once with `cancelled`. A
    ///     body still in the queue never runs. A running body should end soon; its result is
    ///     discarded.
    /// - Throws: What the body throws; `busy` if too many calls are waiting or the system
    ///   has no thread left; `closed` after `end`.
    func run<Value: Sendable>(
        isCancellable: Bool = false,
        _ body: @escaping @Sendable () throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let answer = CallResult<Value>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.receive(continuation)
                let made: Body = {
                    let result = Result { () throws(DatabaseError) in try body() }
                    return { answer.give(result) }
                }
                start(false, made, answer)
            }
        } onCancel: {
            guard isCancellable else { return }
            answer.give(.failure(DatabaseError(.cancelled, "the call was cancelled")))
            if let number = answer.number { forget(number) }
        }
        return try result.get()
    }

    /// Runs a body that can be cancelled, and awaits it.
    ///
    /// - Parameters:
    ///   - isCancellable: As for `run`.
    ///   - isCancelled: The caller's own check; nil if there is none.
    ///   - body: Receives a check that also knows whether the task was cancelled.
    /// - Throws: As `run`.
    func run<Value: Sendable>(
        isCancellable: Bool = false, watching isCancelled: (@Sendable () -> Bool)?,
        _ body:
            @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool)
            throws(DatabaseError) -> Value
    ) async throws(DatabaseError) -> Value {
        let flag = CancellationFlag()
        let result: Result<Value, DatabaseError> = await withTaskCancellationHandler {
            do throws(DatabaseError) {
                return .success(
                    try await run(isCancellable: isCancellable) { () throws(DatabaseError) in
                        try body { flag.isRaised || isCancelled?() == true }
                    })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            flag.raise()
        }
        return try result.get()
    }

    /// Runs a brief call on another thread and awaits its result.
    ///
    /// - Parameter body: Returns the result; or nil, and another thread gives it, perhaps before.
    /// - Throws: As `run`.
    func runBriefly<Value: Sendable>(
        _ body:
            @escaping @Sendable (
                _ give: @escaping @Sendable (Result<Value, DatabaseError>) -> Void
            ) -> Result<Value, DatabaseError>?
    ) async throws(DatabaseError) -> Value {
        let answer = CallResult<Value>()
        let made: Body = {
            let found = body { result in
                self.endLeftCall()
                answer.give(result)
            }
            guard let found else { return nil }
            return { answer.give(found) }
        }
        let result: Result<Value, DatabaseError> = await withCheckedContinuation { continuation in
            answer.receive(continuation)
            start(true, made, answer)
        }
        return try result.get()
    }

    /// The calls in progress and those that wait.
    var callCount: Int { state.withLock { $0.callCount } }

    /// Whether further calls are refused.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Refuses further calls, and calls `whenIdle` when none is left: no running one, and none that
    /// waits.
    func end(_ whenIdle: @escaping @Sendable () -> Void) {
        let idle = state.withLock { state in
            state.isEnded = true
            state.whenIdle.append(whenIdle)
            return state.takeWhenIdle()
        }
        for call in idle { call() }
    }

    private func start<Value: Sendable>(
        _ isBrief: Bool, _ body: @escaping Body, _ answer: CallResult<Value>
    ) {
        let call = Call(isBrief: isBrief, body: body) {
            answer.give(.failure(BlockingCallPool.noThread))
        }
        let admission: Admission = state.withLock { state in
            if state.isEnded { return .closed }
            if hasRoom(state, for: call.isBrief) {
                state.threadCount += 1
                if call.isBrief { state.briefThreadCount += 1 }
                return .thread
            }
            guard state.callCount - callCountMax < waitingCountMax else { return .busy }
            let number = state.next
            state.next += 1
            if call.isBrief {
                state.brief.append(call, number)
            } else {
                state.others.append(call, number)
            }
            return .queue(number)
        }
        switch admission {
        case .thread:
            let isStarted = WorkerThreads.start { self.work(from: call) }
            if isStarted { return }
            // Other calls may have queued for this thread; running threads will serve them.
            call.refuse()
            failWaitingIfAlone(call)
        case .queue(let number):
            // Cancelled before it had a number, so `onCancel` could not remove it.
            if answer.wait(as: number) { forget(number) }
        case .closed: answer.give(.failure(.databaseClosed))
        case .busy:
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

    private func hasRoom(_ state: State, for isBrief: Bool) -> Bool {
        state.threadCount + state.leftCount < callCountMax
            && !(isBrief && state.briefThreadCount >= BlockingCallPool.briefThreadCountMax)
    }

    private func forget(_ number: Int) {
        let idle = state.withLock { state in
            state.brief.remove(number)
            state.others.remove(number)
            return state.takeWhenIdle()
        }
        for call in idle { call() }
    }

    /// Runs a call, then queued calls until there are none. Calls of other pools go in between: a
    /// thread that is woken for a query would wait behind those that encode commits.
    private func work(from first: Call) {
        var call = first as Call?
        while call != nil {
            let handOver = runNext(&call)
            handOver?()
            if let next = call, WorkerThreads.giveWay({ self.work(from: next) }) { return }
        }
    }

    /// Runs a call and replaces it by the next one. What its body captures is released before its
    /// result is handed over: who has the result may be done with the database.
    @inline(never)
    private func runNext(_ call: inout Call?) -> (@Sendable () -> Void)? {
        guard let own = call.take() else { return nil }
        let handOver = own.body()
        let isLeft = handOver == nil
        let idle: [@Sendable () -> Void]
        (call, idle) = state.withLock { state in
            giveBack(own, &state)
            if isLeft { state.leftCount += 1 }
            return (next(&state), state.takeWhenIdle())
        }
        for call in idle { call() }
        return handOver
    }

    /// Takes the oldest waiting call that has room, and its slot.
    private func next(_ state: inout State) -> Call? {
        guard state.threadCount + state.leftCount < callCountMax else { return nil }
        let number = state.others.first()
        if hasRoom(state, for: true), let brief = state.brief.first(), brief < number ?? .max {
            state.briefThreadCount += 1
            state.threadCount += 1
            return state.brief.take(brief)
        }
        guard let number else { return nil }
        state.threadCount += 1
        return state.others.take(number)
    }

    /// Another thread has handed over the result of a call.
    private func endLeftCall() {
        var (taken, idle) = state.withLock { state in
            state.leftCount -= 1
            return (next(&state), state.takeWhenIdle())
        }
        for call in idle { call() }
        // This thread must not run it: it has the log, for which the call may wait.
        while let call = taken {
            let isStarted = WorkerThreads.start { self.work(from: call) }
            if isStarted { return }
            call.refuse()
            (taken, idle) = state.withLock { state in
                giveBack(call, &state)
                return (next(&state), state.takeWhenIdle())
            }
            for call in idle { call() }
        }
    }

    private func giveBack(_ call: Call, _ state: inout State) {
        state.threadCount -= 1
        if call.isBrief { state.briefThreadCount -= 1 }
    }

    /// Gives back the slot of a thread that could not start. If it was the only one, the calling
    /// thread runs the queued calls.
    private func failWaitingIfAlone(_ call: Call) {
        let (next, idle) = state.withLock { state in
            giveBack(call, &state)
            let isAlone = state.threadCount + state.leftCount == 0
            return (isAlone ? self.next(&state) : nil, state.takeWhenIdle())
        }
        for call in idle { call() }
        // Not by `work`: this thread is the caller's, so nothing may be left for it to take.
        var call = next
        while call != nil { runNext(&call)?() }
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

    private let state = Monitor(State())

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
