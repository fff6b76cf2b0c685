// The tables that grow: chunked arrays, arenas and pools keep what they were given, also for those
// who look at them from other threads while they grow.

import CozTestSupport
import Synchronization
import Testing

@testable import CozDB

struct StringPoolTests {
    func text(_ number: Int) -> [UInt8] {
        Array(String(repeating: "\(number) ", count: number % 50).utf8) + [UInt8(number & 0x7F)]
    }

    @Test func `a pool and an arena number distinct strings alike`() {
        var pool = BytePool()
        let arena = ByteArena()
        var random = SeededRandom(seed: 3)
        var known: [[UInt8]: Int] = [:]
        for _ in 0..<20_000 {
            let text = text(Int.random(in: 0..<3000, using: &random))
            let number = known[text] ?? known.count
            known[text] = number
            #expect(pool.intern(text) == number)
            #expect(arena.intern(text.span) == number)
        }
        let view = arena.view()
        #expect(view.count == known.count)
        for (text, number) in known {
            #expect(pool.copy(number) == text)
            #expect(view.copy(number) == text)
        }
        pool.removeAll()
        #expect(pool.count == 0)
        #expect(pool.intern([1]) == 0)
    }

    @Test func `an arena takes the empty string and one larger than its blocks`() {
        let arena = ByteArena()
        let large = [UInt8](repeating: 7, count: 1 << 20)
        #expect(arena.intern([UInt8]().span) == 0)
        #expect(arena.intern(large.span) == 1)
        #expect(arena.intern([UInt8]().span) == 0)
        #expect(arena.view().copy(1) == large)
        #expect(arena.view().copy(0).isEmpty)
        #expect(arena.sizeBytes > 1 << 20)
    }

    @Test func `a view of a chunked array keeps its elements while the array grows`() {
        let array = ChunkedArray<Int>()
        for number in 0..<5000 { array.append(number) }
        let view = array.view()
        let isDone = Atomic(false)
        onThreads(2) { thread in
            if thread == 0 {
                for number in 5000..<200_000 { array.append(number) }
                isDone.store(true, ordering: .releasing)
            } else {
                repeat {
                    for index in stride(from: 0, to: view.count, by: 97) where view[index] != index
                    {
                        Issue.record("element \(index) is \(view[index])")
                    }
                } while !isDone.load(ordering: .acquiring)
            }
        }
        #expect(view.count == 5000)
        #expect(array.count == 200_000)
        #expect(array[199_999] == 199_999)
    }
}
