// Monitors under contention: one thread at a time, no wake-up lost, no lock kept by an error.

internal import CozDB
internal import CozTestSupport
internal import Glibc
internal import Testing

struct MonitorTests {
    private struct Refusal: Error {}

    @Test func `one thread at a time has the lock`() {
        let monitor = Monitor((sum: 0, isHeld: false, overlaps: 0))
        onThreads(8) { _ in
            for round in 0..<20_000 {
                monitor.withLock { state in
                    if state.isHeld { state.overlaps += 1 }
                    state.isHeld = true
                    // Now and then long enough for the others to fall asleep.
                    if round % 2_000 == 0 { usleep(200) }
                    state.sum += 1
                    state.isHeld = false
                }
            }
        }
        let state = monitor.withLock { $0 }
        #expect(state.sum == 160_000)
        #expect(state.overlaps == 0)
    }

    @Test func `each change wakes the thread that waits for it`() {
        let threadCount = 6
        let turn = Monitor(0)
        onThreads(threadCount) { number in
            for round in 0..<3_000 {
                let mine = round * threadCount + number
                turn.withLock(when: { $0 == mine }, { $0 += 1 })
            }
        }
        #expect(turn.withLock { $0 } == 18_000)
    }

    @Test func `a bounded queue of many writers and readers loses nothing`() {
        let count = 5_000
        let queue = Monitor((items: [Int](), taken: 0, sum: 0))
        onThreads(8) { number in
            for item in 0..<count {
                if number % 2 == 0 {
                    queue.withLock(when: { $0.items.count < 3 }, { $0.items.append(item) })
                } else {
                    queue.withLock(
                        when: { !$0.items.isEmpty },
                        { state in
                            state.taken += 1
                            state.sum += state.items.removeLast()
                        })
                }
            }
        }
        let (items, taken, sum) = queue.withLock { $0 }
        #expect(items.isEmpty)
        #expect(taken == 4 * count)
        #expect(sum == 4 * count * (count - 1) / 2)
    }

    @Test func `an error gives the lock back`() {
        let monitor = Monitor(1)
        #expect(throws: Refusal.self) {
            try monitor.withLock { (_: inout Int) throws(Refusal) in throw Refusal() }
        }
        #expect(throws: Refusal.self) {
            try monitor.withLock(
                when: { $0 == 1 }, { (_: inout Int) throws(Refusal) in throw Refusal() })
        }
        #expect(monitor.withLock { $0 } == 1)
    }
}
