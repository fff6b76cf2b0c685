// One answer, several ways to it: summaries of blocks, values of columns, whole rows, subqueries;
// from memory, from segments with overwritten and interleaved rows, after compaction.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite struct QueryAgreementTests {
    /// Writes batches that overlap in time and overwrite each other, some flushed.
    private func fill(_ database: Database, _ random: inout SeededRandom) throws {
        for round in 0..<4 {
            var batch = WriteBatch()
            for _ in 0..<800 {
                var fields: [String: FieldValue] = ["always": .integer(1)]
                if Bool.random(using: &random) {
                    fields["f"] = .float(Double(Int.random(in: -100...100, using: &random)) / 2)
                }
                if Bool.random(using: &random) {
                    fields["i"] = .integer(Int64.random(in: -50...50, using: &random))
                }
                if Int.random(in: 0..<3, using: &random) == 0 {
                    fields["s"] = .string("s\(Int.random(in: 0..<5, using: &random))")
                }
                let time = Int64.random(in: 0..<2000, using: &random) * 1_000_000_000
                try batch.add(
                    experiment: "m",
                    tags: [
                        "id_participant": "p\(Int.random(in: 0..<3, using: &random))",
                        "device": "d\(Int.random(in: 0..<2, using: &random))",
                    ], time: Timestamp(nanoseconds: time), fields: fields)
            }
            _ = try database.write(batch)
            if round % 2 == 0 { try database.flush() }
        }
    }

    private func statement(_ random: inout SeededRandom) -> (head: String, tail: String) {
        let calls = [
            "count(f)", "sum(f)", "mean(f)", "min(i)", "max(i)", "first(f)", "last(i)", "spread(i)",
            "median(f)", "count(s)", "first(s)", "mode(i)", "count(distinct i)",
            "percentile(f, 75)",
            "max(f)", "sum(i)", "mean(i)", "last(f)",
        ]
        var chosen: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            chosen.append(calls.randomElement(using: &random) ?? "count(f)")
        }
        let lower = Int.random(in: 0..<1000, using: &random)
        let upper = lower + Int.random(in: 1..<1500, using: &random)
        var tail = " time >= \(lower)s AND time < \(upper)s"
        let groups = ["", "id_participant", "time(100s)", "time(7s)", "time(1m), id_participant"]
        let group = groups.randomElement(using: &random) ?? ""
        if !group.isEmpty { tail += " GROUP BY " + group }
        if group.contains("time") {
            tail +=
                ["", " fill(none)", " fill(0)", " fill(previous)"].randomElement(using: &random)
                ?? ""
        }
        if Bool.random(using: &random) { tail += " ORDER BY time DESC" }
        return ("SELECT " + chosen.joined(separator: ", ") + " FROM m WHERE", tail)
    }

    @Test func `summaries, values, rows and subqueries agree`() throws {
        let seed = TestSeed.seed()
        print("agreement seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try fill(database, &random)
        let options = QueryOptions(now: Timestamp(nanoseconds: 5_000_000_000_000))
        func answer(_ text: String) throws -> String {
            try database.query(text, options: options).description
        }
        var before: [(text: String, answer: String)] = []
        for _ in 0..<400 {
            let (head, tail) = statement(&random)
            let plain = try answer(head + tail)
            before.append((head + tail, plain))
            let filtered = try answer(head + " always = 1 AND" + tail)
            #expect(plain == filtered, "seed \(seed): \(head)\(tail)")
            let inner = "(SELECT f, i, s FROM m GROUP BY id_participant)"
            let nested = try answer(head.replacing("FROM m", with: "FROM \(inner)") + tail)
            #expect(plain == nested, "seed \(seed): \(head)\(tail) over a subquery")
        }
        try database.flush()
        for (text, answer) in before {
            #expect(
                try database.query(text, options: options).description == answer, "\(seed) \(text)")
        }
        try database.compact()
        for (text, answer) in before {
            #expect(
                try database.query(text, options: options).description == answer, "\(seed) \(text)")
        }
    }

    @Test func `groups by attribute and field add up to the whole`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try fill(database, &random)
        let options = QueryOptions(now: Timestamp(nanoseconds: 5_000_000_000_000))
        func sum(_ text: String) throws -> Int64 {
            try database.query(text, options: options).series.reduce(0) { total, series in
                total + (series.column("sum")?.integers.compactMap { $0 }.reduce(0, +) ?? 0)
            }
        }
        let whole = try sum("SELECT sum(always) FROM m")
        for group in ["device", "s::field", "device, s::field", "id_participant, device, time(1m)"]
        {
            let parts = try sum("SELECT sum(always) FROM m WHERE time >= 0 GROUP BY \(group)")
            #expect(parts == whole, "seed \(seed): \(group)")
            let rows = try database.query(
                "SELECT always FROM m GROUP BY device, s::field", options: options)
            #expect(rows.series.reduce(0) { $0 + $1.rowCount } == Int(whole))
        }
    }
}
