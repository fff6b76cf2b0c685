// Which rows are present: every form, every small chunk, damaged bytes.

import CozTestSupport
import Testing

@testable import CozDB

struct PresenceTests {
    @Test
    func `every set of rows of a chunk of ten comes back`() throws {
        for rowCount in 0...10 {
            for set in 0..<(1 << rowCount) {
                let rows = (0..<rowCount).filter { set >> $0 & 1 == 1 }.map { UInt16($0) }
                #expect(try decoded(encoded(rows, rowCount), rowCount) == rows)
            }
        }
    }

    @Test(arguments: UInt64(1)...40)
    func `random rows come back from any base`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rowCount = Int.random(in: 1...65_536, using: &random)
        let rows = sample(rowCount, using: &random)
        let bytes = encoded(rows, rowCount)
        #expect(bytes.count <= 1 + (rowCount + 7) / 8)
        var found: [UInt32] = [9]
        try Presence.decode(bytes.span, rowCount: rowCount, appendTo: &found, base: 1 << 20)
        #expect(found == [9] + rows.map { 1 << 20 + UInt32($0) }, "seed \(seed)")
    }

    @Test
    func `each form is taken where it is smallest`() {
        let rowCount = 65_536
        let all = (0..<rowCount).map { UInt16($0) }
        #expect(encoded(all, rowCount) == [0])
        let runs = encoded(Array(all[100..<9000]) + Array(all[20_000..<31_234]), rowCount)
        #expect(runs[0] == 1 && runs.count < 16)
        let everyTenth = encoded(all.filter { $0 % 10 == 3 }, rowCount)
        #expect(everyTenth.count < 12)
        var random = SeededRandom(seed: 5)
        let few = encoded(all.filter { _ in random.next() % 100 == 0 }, rowCount)
        #expect(few[0] == 2)
        let half = encoded(all.filter { _ in random.next() % 2 == 0 }, rowCount)
        #expect(half[0] == 3 && half.count == 8193)
    }

    @Test(arguments: UInt64(1)...40)
    func `damaged presence gives ascending rows of the chunk or an error`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rowCount = Int.random(in: 1...2000, using: &random)
        let bytes = encoded(sample(rowCount, using: &random), rowCount)
        for _ in 0..<60 {
            let damaged = Damage.random(bytes, using: &random)
            let count = Damage.count(rowCount, using: &random)
            var found: [UInt32] = []
            do {
                try Presence.decode(damaged.span, rowCount: count, appendTo: &found, base: 7)
                #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed)")
                #expect(found.allSatisfy { $0 >= 7 && $0 < 7 + count }, "seed \(seed)")
            } catch {
                #expect(found.isEmpty, "seed \(seed)")
            }
        }
    }

    /// Rows of one of the shapes that fields have.
    private func sample(_ rowCount: Int, using random: inout SeededRandom) -> [UInt16] {
        let divisor = UInt64.random(in: 1...200, using: &random)
        let kind = Int.random(in: 0..<3, using: &random)
        var isPresent = false
        return (0..<rowCount).filter { row in
            let hit = random.next() % divisor == 0
            switch kind {
            case 0: return hit
            case 1: return UInt64(row) % divisor == 0
            default:
                if hit { isPresent.toggle() }
                return isPresent
            }
        }.map { UInt16($0) }
    }

    private func encoded(_ rows: [UInt16], _ rowCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        Presence.encode(rows.span, rowCount: rowCount, into: &writer)
        return writer.bytes
    }

    private func decoded(_ bytes: [UInt8], _ rowCount: Int) throws -> [UInt16] {
        var found: [UInt32] = []
        try Presence.decode(bytes.span, rowCount: rowCount, appendTo: &found, base: 0)
        return found.map { UInt16($0) }
    }
}
