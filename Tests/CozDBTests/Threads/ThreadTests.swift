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
}
