// Many columns, each with a value in few rows; lists of many values: what is held and what is
// asked grows with what there is, not with the product.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

/// Counts the cells of batches.
private struct CellCounter: QueryResultSink {
    var cellsOfBatchMax = 0
    var rowCount = 0

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        cellsOfBatchMax = max(cellsOfBatchMax, batch.count * batch.columns.count)
        rowCount += batch.count
    }
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

@Suite struct WideRowsTests {
    @Test func `a batch of sparse rows has a limited number of cells`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        let count = 1200
        var batch = WriteBatch()
        for row in 0..<count {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["f\(row)": .integer(1)])
        }
        _ = try database.write(batch)
        try database.flush()
        var counter = CellCounter()
        try database.query(
            "SELECT * FROM m", options: QueryOptions(now: Timestamp(nanoseconds: 0)),
            into: &counter)
        #expect(counter.rowCount == count)
        // Beside the columns counted there are the time and the tag.
        #expect(counter.cellsOfBatchMax <= 1 << 19)
    }

    @Test func `a series shows its own tags among those of many`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        let count = 1100
        var batch = WriteBatch()
        batch.settings.identity = .allTags
        for row in 0..<count {
            try batch.add(
                experiment: "m", tags: ["t\(row)": "v\(row)", "odd": "\(row % 2)"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["f": .integer(Int64(row))])
        }
        _ = try database.write(batch)
        let options = QueryOptions(now: Timestamp(nanoseconds: 0))
        for statement in ["SELECT * FROM m", "SELECT * FROM (SELECT * FROM m)"] {
            let result = try database.query(statement, options: options)
            let series = try #require(result.series.first)
            #expect(result.series.count == 1 && series.rowCount == count)
            #expect(series.column("f")?.integers == (0..<count).map { Int64($0) })
            #expect(series.column("odd")?.texts == (0..<count).map { "\($0 % 2)" })
            for number in 0..<count {
                let texts = series.column("t\(number)")?.texts ?? []
                let isRight = texts.indices.allSatisfy {
                    texts[$0] == ($0 == number ? "v\(number)" : nil)
                }
                if texts.count != count || !isRight { Issue.record("\(statement), t\(number)") }
            }
        }
        let odd = try database.query(
            "SELECT count(f), sum(f) FROM m WHERE t7 = 'v7' OR odd = '0' GROUP BY odd",
            options: options)
        #expect(odd.series.map { $0.columns[1].integers[0] } == [550, 1])
    }

    // MARK: Many columns of many series

    /// What is stored: rows by participant and time.
    private typealias Rows = [String: [Int64: [String: Int64]]]

    /// Writes some rows of each series, with values of few columns, and of one column all.
    private func write(
        _ database: Database, _ rows: inout Rows, times: Range<Int64>, _ random: inout SeededRandom
    ) throws {
        var batch = WriteBatch()
        for series in 0..<40 {
            for time in times where Bool.random(using: &random) {
                var fields = ["f0": Int64.random(in: 0..<10, using: &random)]
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    fields["f\(Int.random(in: 1..<1100, using: &random))"] = time
                }
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(series)"],
                    time: Timestamp(nanoseconds: time),
                    fields: fields.mapValues { FieldValue.integer($0) })
                rows["p\(series)", default: [:]][time, default: [:]].merge(fields) { $1 }
            }
        }
        _ = try database.write(batch)
    }

    private func result(
        _ database: Database, _ statement: String
    ) throws -> [QueryResult.Series] {
        try database.query(statement, options: QueryOptions(now: Timestamp(nanoseconds: 0))).series
    }

    /// The rows of an answer of `SELECT *`.
    private func rows(_ series: [QueryResult.Series]) throws -> Rows {
        var rows: Rows = [:]
        for series in series {
            let participants = try #require(series.column("id_participant"))
            let names = series.header.columns.enumerated().filter { $1.name.hasPrefix("f") }
            for (row, time) in series.times.enumerated() {
                var fields: [String: Int64] = [:]
                for (index, column) in names {
                    guard case .integer(let value)? = series.columns[index].value(row) else {
                        continue
                    }
                    fields[column.name] = value
                }
                guard case .string(let participant)? = participants.value(row) else { continue }
                rows[participant, default: [:]][time.nanoseconds] = fields
            }
        }
        return rows
    }

    /// Deletes one field of so many, in most of the series that have few fields.
    private func deleteFields(_ database: Database, _ stored: inout Rows, every step: Int) throws {
        let names = stride(from: 1, to: 1100, by: step).map { "f\($0)" }
        _ = try database.execute("DELETE \(names.joined(separator: ", ")) FROM m")
        let deleted = Set(names)
        stored = stored.mapValues { rows in
            rows.mapValues { $0.filter { !deleted.contains($0.key) } }.filter { !$0.value.isEmpty }
        }.filter { !$0.value.isEmpty }
    }

    private func expectAnswers(_ database: Database, _ stored: Rows, seed: UInt64) throws {
        let all = try result(database, "SELECT * FROM m")
        #expect(try rows(all) == stored, "seed \(seed)")
        let times = all.flatMap { $0.times.map(\.nanoseconds) }
        #expect(times == times.sorted(), "seed \(seed)")
        #expect(
            try rows(result(database, "SELECT * FROM m ORDER BY time DESC")) == stored,
            "seed \(seed)")
        #expect(
            try rows(result(database, "SELECT *, f0 + f1 AS sum FROM m")) == stored,
            "seed \(seed)")
        let filtered = stored.mapValues { $0.filter { ($0.value["f0"] ?? 0) > 5 } }
            .filter { !$0.value.isEmpty }
        #expect(
            try rows(result(database, "SELECT * FROM m WHERE f0 > 5")) == filtered,
            "seed \(seed)")
        // Subqueries of very many columns are read in windows of time, as the series themselves.
        for (statement, expected) in [
            ("SELECT * FROM (SELECT * FROM m)", stored),
            ("SELECT * FROM (SELECT * FROM m) ORDER BY time DESC", stored),
            ("SELECT * FROM (SELECT * FROM (SELECT * FROM m)) WHERE f0 > 5", filtered),
            ("SELECT * FROM (SELECT * FROM m WHERE f0 > 5)", filtered),
            (
                "SELECT * FROM (SELECT * FROM m) WHERE time >= 3 AND time < 7",
                stored.mapValues { $0.filter { (3..<7).contains($0.key) } }
                    .filter { !$0.value.isEmpty }
            ),
        ] {
            #expect(try rows(result(database, statement)) == expected, "seed \(seed): \(statement)")
        }
        let firstTimes = try result(
            database, "SELECT f0 FROM (SELECT * FROM m) LIMIT 7 OFFSET 3"
        ).flatMap { $0.times.map(\.nanoseconds) }
        let allTimes = stored.values.flatMap { $0.filter { $0.value["f0"] != nil }.keys }.sorted()
        #expect(firstTimes == Array(allTimes.dropFirst(3).prefix(7)), "seed \(seed)")
        var counts: [String: Int64] = [:]
        for row in stored.values.flatMap(\.values) {
            for name in row.keys { counts["count_" + name, default: 0] += 1 }
        }
        for grouping in ["", " GROUP BY id_participant"] {
            var found: [String: Int64] = [:]
            for series in try result(database, "SELECT count(*) FROM m" + grouping) {
                for (index, column) in series.header.columns.enumerated() where !column.isTime {
                    guard case .integer(let count)? = series.columns[index].value(0), count > 0
                    else { continue }
                    found[column.name, default: 0] += count
                }
            }
            #expect(found == counts, "seed \(seed)\(grouping)")
        }
        let last = try result(database, "SELECT max(*) FROM m GROUP BY id_participant")
        for series in last {
            let rows = try #require(stored[series.tag("id_participant") ?? ""])
            #expect(
                series.column("max_f0")?.value(0)
                    == rows.values.compactMap { $0["f0"] }.max().map { .integer($0) },
                "seed \(seed)")
        }
    }

    @Test func `of many columns and series those are read that meet`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        // A row that has all columns, so that the schema does.
        var stored: Rows = ["p0": [100: [:]]]
        for number in 0..<1100 { stored["p0"]?[100]?["f\(number)"] = Int64(number) }
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p0"], time: Timestamp(nanoseconds: 100),
            fields: try #require(stored["p0"]?[100]).mapValues { .integer($0) })
        _ = try database.write(batch)
        for times in [0..<6, 4..<10, 2..<12] as [Range<Int64>] {
            try database.flush()
            try write(database, &stored, times: times, &random)
        }
        try expectAnswers(database, stored, seed: seed)
        try deleteFields(database, &stored, every: 7)
        try expectAnswers(database, stored, seed: seed)
        try database.flush()
        try database.compact()
        try expectAnswers(database, stored, seed: seed)
        try deleteFields(database, &stored, every: 5)
        try expectAnswers(database, stored, seed: seed)

        let view = try #require(try database.takeSnapshot().experiment("m"))
        let series = try view.series()
        let positions = try view.positions(of: view.schema.columns, in: series)
        // Where a block has a value for each series beside it, all of them may have one.
        var (surplus, all) = (0, 0)
        for (series, positions) in zip(series, positions) {
            let rows = try #require(stored[series.key.value(of: "id_participant") ?? ""])
            let names = Set(rows.values.flatMap(\.keys))
            let found = Set(positions.map { view.schema.columns[$0].name })
            #expect(found.isSuperset(of: names), "seed \(seed)")
            surplus += found.count - names.count
            all += names.count
        }
        #expect(surplus * 20 < all, "seed \(seed)")
    }

    @Test func `a list of values finds what comparing with each of them finds`() {
        let values: [FieldValue] = [
            .integer(1 << 53), .integer(7), .float(2.5), .float(0), .float(.nan), .string("a"),
            .boolean(true), .float(9_007_199_254_740_994),
        ]
        let set = ValueSet(values)
        let asked: [(FieldValue, Bool)] = [
            (.integer(1 << 53), true), (.integer(1 << 53 + 1), false), (.float(7), true),
            (.float(-0.0), true), (.integer(0), true), (.float(.nan), false), (.string("a"), true),
            (.string("b"), false), (.boolean(true), true), (.boolean(false), false),
            (.integer(2), false), (.integer(9_007_199_254_740_994), true),
            (.string("true"), false),
        ]
        for (value, isThere) in asked { #expect(set.contains(value) == isThere, "\(value)") }
    }
}
