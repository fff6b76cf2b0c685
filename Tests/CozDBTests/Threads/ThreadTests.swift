// Work on other threads: all of it is done, once, in order where there is one.

internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import CozDB

struct ThreadTests {
    @Test func `each index is run once, from several threads, and inside of itself`() {
        let sums = Mutex([Int](repeating: 0, count: 4))
        Cores.perform(iterations: 4) { outer in
            for round in 0..<200 {
                let counts = Mutex([Int](repeating: 0, count: round))
                Cores.perform(iterations: round) { index in counts.withLock { $0[index] += 1 } }
                #expect(counts.withLock { $0.allSatisfy { $0 == 1 } })
                sums.withLock { $0[outer] += counts.withLock { $0.count } }
            }
        }
        #expect(sums.withLock { $0 } == [19_900, 19_900, 19_900, 19_900])
    }

    @Test func `work of a queue is done in order, and nothing beside sync`() {
        let queue = SerialQueue()
        let state = Mutex((order: [Int](), isAlone: true, isBusy: false))
        for number in 0..<500 {
            queue.async {
                state.withLock { state in
                    if state.isBusy { state.isAlone = false }
                    state.order.append(number)
                }
            }
            guard number % 50 == 49 else { continue }
            queue.sync {
                state.withLock { $0.isBusy = true }
                #expect(state.withLock { $0.order.count } == number + 1)
                // What comes meanwhile waits.
                queue.async { state.withLock { $0.order.append(-1) } }
                state.withLock { state in
                    state.order.removeAll { $0 < 0 }
                    state.isBusy = false
                }
            }
            queue.sync { state.withLock { $0.order.removeAll { $0 < 0 } } }
        }
        #expect(state.withLock { $0.order } == Array(0..<500))
        #expect(state.withLock { $0.isAlone })
    }

    @Test func `threads leave the host its signals, and do not block those of their own faults`() {
        @Sendable func blocked() -> [CInt] {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGINT, SIGTERM, SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE].filter {
                unsafe sigismember(&mask, $0) == 1
            }
        }
        let before = blocked()
        let found = Mutex<[CInt]?>(nil)
        #expect(DetachedThread.start { found.withLock { $0 = blocked() } })
        while found.withLock({ $0 == nil }) { usleep(500) }
        #expect(found.withLock { $0 } == [SIGINT, SIGTERM, SIGALRM])
        #expect(LargeStack.run(sizeBytes: 1 << 26) { blocked() } == [SIGINT, SIGTERM, SIGALRM])
        #expect(blocked() == before)
    }

    /// Runs work and returns the folder of its thread below `/proc`.
    private static func run(_ work: @escaping @Sendable () -> Void = {}) -> String? {
        let found = Mutex<String?>(nil)
        let isStarted = WorkerThreads.start {
            work()
            let folder = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 100) {
                buffer in
                let count = unsafe readlink("/proc/thread-self", buffer.baseAddress!, buffer.count)
                return unsafe String(
                    decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
                    as: UTF8.self)
            }
            found.withLock { $0 = folder }
        }
        guard isStarted else { return nil }
        while found.withLock({ $0 == nil }) { usleep(100) }
        return found.withLock { $0 }
    }

    @Test func `a thread that has ended its work takes more, and then ends`() throws {
        var threads: Set<String> = []
        for _ in 0..<200 { threads.insert(try #require(Self.run())) }
        #expect(threads.count < 100, "\(threads.count) threads")
        // Tests that run at the same time may use them further.
        for _ in 0..<6_000 where !threads.isEmpty {
            threads = threads.filter { unsafe access("/proc/\($0)", F_OK) == 0 }
            usleep(10_000)
        }
        #expect(threads.isEmpty)
    }

    @Test func `a thread that waits for work keeps nothing of its last alive`() throws {
        final class Flag: Sendable { let isSet = Mutex(false) }
        final class Token: Sendable {
            let flag: Flag
            init(_ flag: Flag) { self.flag = flag }
            deinit { flag.isSet.withLock { $0 = true } }
        }
        func use(_ token: Token) -> String? {
            Self.run { withExtendedLifetime(token) {} }
        }
        var checkedCount = 0
        for _ in 0..<1_000 where checkedCount < 10 {
            let flag = Flag()
            let first = use(Token(flag))
            let isReleased = Mutex(false)
            let second = Self.run {
                isReleased.withLock { $0 = flag.isSet.withLock { $0 } }
            }
            // Another thread says nothing about the first.
            guard first == second else { continue }
            #expect(isReleased.withLock { $0 })
            checkedCount += 1
        }
        #expect(checkedCount == 10)
    }

    @Test func `work is run once, also what gives way to other work`() throws {
        let counts = Mutex((runs: [Int](repeating: 0, count: 4_000), waysGiven: 0))
        /// Runs pieces one after the other, and lets others go first.
        @Sendable func run(_ pieces: Range<Int>) {
            for piece in pieces {
                counts.withLock { $0.runs[piece] += 1 }
                let rest = (piece + 1)..<pieces.upperBound
                guard !rest.isEmpty, WorkerThreads.giveWay({ run(rest) }) else { continue }
                counts.withLock { $0.waysGiven += 1 }
                return
            }
        }
        for start in stride(from: 0, to: 4_000, by: 20) {
            #expect(WorkerThreads.start { run(start..<(start + 20)) })
        }
        while counts.withLock({ $0.runs.reduce(0, +) }) < 4_000 { usleep(500) }
        #expect(counts.withLock { $0.runs.allSatisfy { $0 == 1 } })
        #expect(counts.withLock { $0.waysGiven } > 0)
    }

    @Test func `a queue runs work on a few threads, and keeps none of it`() throws {
        final class Token: Sendable {}
        let queue = WorkerQueue(threadCountMax: 2)
        let counts = Mutex((running: 0, most: 0, done: 0))
        let isOpen = Gate()
        // Keeps the threads in their loops.
        weak var first: Token?
        do {
            let token = Token()
            first = token
            #expect(
                queue.start { withExtendedLifetime(token) { counts.withLock { $0.done += 1 } } })
        }
        for _ in 0..<100 {
            let isStarted = queue.start {
                counts.withLock { counts in
                    counts.running += 1
                    counts.most = max(counts.most, counts.running)
                }
                isOpen.wait()
                counts.withLock { counts in
                    counts.running -= 1
                    counts.done += 1
                }
            }
            #expect(isStarted)
        }
        while counts.withLock({ $0.running }) < 2 { usleep(500) }
        #expect(first == nil, "the work that is done is kept")
        isOpen.open()
        while counts.withLock({ $0.done }) < 101 { usleep(500) }
        #expect(counts.withLock { $0.most } == 2)
    }
}
