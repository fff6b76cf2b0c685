// The order of a memtable's rows is the same whether it is kept up or made anew.

internal import CozTestSupport
@testable internal import CozDB
internal import Testing

struct MemtableViewTests {
    @Test(arguments: 0..<20)
    func `kept up over many views it is the order made at once`(round: Int) throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        guard case .writer(let engine) = database.store else { return }
        var older: [MemtableView] = []
        for _ in 0..<30 {
            var batch = WriteBatch()
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let participant = Int.random(in: 0..<(5 + 10 * (round % 3)), using: &random)
                let host = Int.random(in: 0..<4, using: &random)
                try batch.add(
                    experiment: "dev",
                    tags: ["id_participant": "p\(participant)", "host": "h\(host)"],
                    time: Timestamp(nanoseconds: Int64.random(in: 0..<40, using: &random)),
                    fields: ["f\(Int.random(in: 0..<5, using: &random))": .float(1)])
            }
            _ = try database.write(batch)
            let view = try #require(
                engine.state.withLock { state in
                    state.memtable.tables.values.first.map {
                        MemtableView($0, strings: state.memtable.strings)
                    }
                })
            older.append(view)
            // Not every view is read, and some are read late.
            if Bool.random(using: &random) {
                check(view, seed)
            }
        }
        for view in older.shuffled(using: &random) { check(view, seed) }
        try database.close()
    }

    @Test(arguments: [1, 30, 400, 5000])
    func `the first and the last value are found from the ends`(timeCount: Int64) throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        var values: [Int64: Int64] = [:]
        for step in 0..<12 {
            var batch = WriteBatch()
            for row in 0..<200 {
                let time = Int64.random(in: 0..<timeCount, using: &random)
                let hasValue = Int.random(in: 0..<100, using: &random) < [50, 3][step % 2]
                let value = Int64(step * 1000 + row)
                if hasValue { values[time] = value }
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: time),
                    fields: [hasValue ? "v" : "w": .integer(value)])
            }
            _ = try database.write(batch)
            for _ in 0..<20 {
                let lower = Int64.random(in: 0..<timeCount, using: &random)
                let upper = Int64.random(in: lower...timeCount, using: &random)
                let found = values.filter { (lower..<upper).contains($0.key) }
                    .sorted { $0.key < $1.key }
                let range = "WHERE time >= \(lower) AND time < \(upper)"
                for (function, expected) in [("first", found.first), ("last", found.last)] {
                    let answer = try database.query("SELECT \(function)(v) FROM m \(range)")
                    let series = answer.series.first
                    #expect(
                        series?.column(function)?.integers == expected.map { [$0.value] },
                        "\(function) \(range), seed \(seed)")
                    #expect(series?.times.first?.nanoseconds == expected?.key)
                }
            }
        }
        try database.close()
    }

    private func check(_ view: MemtableView, _ seed: UInt64) {
        let kept = view.order()
        let made = MemtableOrder(view, from: MemtableOrder())
        #expect(kept.rows == made.rows, "seed \(seed)")
        #expect(kept.series == made.series, "seed \(seed)")
        #expect(kept.ends == made.ends, "seed \(seed)")
        #expect(kept.rows.count == view.rows.count)
        let order = kept.series.indices.flatMap { place in
            kept.range(place).map { (kept.series[place], view.rows[Int(kept.rows[$0])]) }
        }
        for (series, row) in order { #expect(row.series == series) }
        let lists = view.lists()
        for row in order {
            #expect(!lists.layouts.range(row.1.layout).isEmpty)
            #expect(lists.attributes.range(row.1.attributes).count == 1)
        }
    }
}
