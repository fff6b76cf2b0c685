// Presence vectors that are parts of others.

import CozTestSupport
import Testing

@testable import CozDB

struct PresenceSharingTests {
    private let files = SegmentTests()

    @Test(arguments: UInt64(1)...4)
    func `rows that are among those of another field read back`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // The last rows are in a second chunk.
        let rowCount = seed == 1 ? 66_000 : Int.random(in: 1...3000, using: &random)
        let phone = (0..<rowCount).map { _ in random.next() % 3 == 0 }
        let watch = phone.enumerated().map { $1 && $0 / 50 % 2 == 0 }
        let inside = watch.enumerated().map { $1 && $0 / 7 % 3 > 0 }
        let other = (0..<rowCount).map { _ in random.next() % 9 == 0 }
        let all = [Bool](repeating: true, count: rowCount)
        let presence = [watch, other, phone, inside, all]
        let schema = files.schema(presence.indices.map { ("field \($0)", .integer) })
        let info = try files.write(
            schema, [(key: [], times: (0..<rowCount).map { Int64($0) })]
        ) { _, row, column in presence[column][row] ? UInt64(row) : nil }
        let view = try files.view(info, schema)
        let read = try files.everything(view)
        for (column, rows) in presence.enumerated() {
            let expected = rows.indices.filter { rows[$0] }
            let found = read[0].values["field \(column)", default: []]
            #expect(found.map(\.time) == expected.map { Int64($0) }, "seed \(seed), \(column)")
            #expect(found.map(\.value) == expected.map { .integer(Int64($0)) }, "seed \(seed)")
        }
        guard case .segment(let reader) = view.sources[0] else { return }
        #expect(try files.problems(of: reader).isEmpty, "seed \(seed)")
        guard rowCount > 1000 else { return }
        let vector = try reader.presence(ofField: 0)
        #expect(vector.chunks[0].whole == reader.footer.fields[2].group)
        #expect(try reader.presence(ofField: 2).chunks[0].whole == nil)
    }

    @Test(arguments: UInt64(1)...20) func `damaged parts never trap`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let whole = (0..<500).map { _ in UInt32(random.next() % 5000) }.sorted()
        var writer = ByteWriter()
        writer.append(PresenceVector.partForm)
        writer.appendVarint(3)
        let positions = (0..<200).map { UInt16($0 * 2) }
        Presence.encode(positions.span, rowCount: 500, into: &writer)
        for _ in 0..<50 {
            let damaged = Damage.random(writer.bytes, using: &random)
            var vector = ByteWriter()
            vector.appendVarint(0)
            vector.appendVarint(200)
            vector.appendBlob(damaged)
            let parsed = try PresenceVector(vector.bytes, rowCount: 5000)
            if let rows = try? parsed.rows(ofChunk: 0, of: whole) { #expect(rows.count == 200) }
        }
    }
}
