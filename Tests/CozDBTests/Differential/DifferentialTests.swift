// The engine against the naive executor: random statements over random databases, answers compared
// whole. COZDB_DIFFERENTIAL=100000 asks that many statements, COZDB_SEED=... one database again.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB

@Suite struct DifferentialTests {
    static let environment = ProcessInfo.processInfo.environment
    static let statementCount = environment["COZDB_DIFFERENTIAL"].flatMap { Int($0) } ?? 2000
    static let statementsPerDatabase = 40

    /// What one statement's two answers differ in.
    struct Difference {
        var statement: String
        var problem: String
        var engine: String
        var naive: String
    }

    @Test func `the engine answers what the naive executor answers`() throws {
        try forSeeds(statementCount: Self.statementCount) { seed in
            try ask(seed: seed, count: Self.statementsPerDatabase)
        }
    }

    @Test func `an answer is the same when everything is merged, NaN among it`() throws {
        try forSeeds(statementCount: Self.statementCount / 2) { seed in
            try askMerged(seed: seed)
        }
    }

    /// A seed for each database.
    private func forSeeds(
        statementCount: Int, function: String = #function, _ body: (UInt64) throws -> Void
    ) throws {
        if let seed = Self.environment["COZDB_SEED"].flatMap({ UInt64($0) }) {
            return try body(seed)
        }
        let seed = TestSeed.seed()
        print("\(function): seed \(seed), \(statementCount) statements")
        var random = SeededRandom(seed: seed)
        for _ in 0..<((statementCount - 1) / Self.statementsPerDatabase + 1) {
            try body(random.next())
        }
    }

    /// Makes a database with NaN, and asks it the same before and after a merge.
    private func askMerged(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "/db", access: .readWrite, options: options, on: FaultyFileSystem())
        defer { try? database.close() }
        let made = try RandomDatabase(&random, in: database, rows: 60, storesNaN: true)
        guard !made.experiments.isEmpty else { return }
        func answers(_ statements: [(text: String, now: Int64)]) -> [[QueryResult.Series]?] {
            statements.map { text, now in
                try? database.query(
                    text, options: QueryOptions(now: Timestamp(nanoseconds: now))
                ).series
            }
        }
        let statements = (0..<Self.statementsPerDatabase).map { _ in
            var statement = RandomStatement(made, &random)
            let text = statement.statement()
            return (text: text, now: statement.now)
        }
        let before = answers(statements)
        try database.compact()
        for (index, after) in answers(statements).enumerated() {
            let known = before[index]?.map { NaiveComparison.answer($0) }
            let found = after?.map { NaiveComparison.answer($0).text } ?? ["refused"]
            let expected = known?.map(\.text) ?? ["refused"]
            let problem =
                if let known, let after {
                    NaiveComparison.difference(after, known)
                } else {
                    (known == nil) == (after == nil) ? nil : "refused once"
                }
            guard let problem else { continue }
            Issue.record(
                """
                COZDB_SEED=\(seed): \(problem)
                \(statements[index].text)
                merged:
                \(found.joined(separator: "\n"))
                before:
                \(expected.joined(separator: "\n"))
                """)
        }
    }

    /// Makes a database and asks it.
    private func ask(seed: UInt64, count: Int) throws {
        var random = SeededRandom(seed: seed)
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "/db", access: .readWrite, options: options, on: FaultyFileSystem())
        defer { try? database.close() }
        let rows = Int.random(in: 0..<40, using: &random) == 0 ? 1500 : 60
        let made = try RandomDatabase(&random, in: database, rows: rows)
        guard !made.experiments.isEmpty else { return }
        for index in 0..<(rows > 100 ? count / 4 : count) {
            var statement = RandomStatement(made, &random)
            let text = statement.statement()
            guard let found = difference(text, now: statement.now, database, made.reference) else {
                continue
            }
            let isReplay = Self.environment["COZDB_SEED"] != nil
            let data =
                isReplay ? made.script.joined(separator: "\n") : "COZDB_SEED=\(seed) shows it"
            Issue.record(
                """
                seed \(seed), statement \(index): \(found.problem)
                \(text)
                engine:
                \(found.engine)
                naive:
                \(found.naive)
                data:
                \(data)
                """)
        }
    }

    private func difference(
        _ text: String, now: Int64, _ database: Database, _ reference: NaiveDatabase
    ) -> Difference? {
        let options = QueryOptions(now: Timestamp(nanoseconds: now))
        var naive: [NaiveAnswer] = []
        do {
            guard case .select(let statement)? = try Parser.parse(text, options: options).first
            else { return nil }
            naive = try NaiveQuery.run(statement, reference, now: now).answers
        } catch {
            return Difference(
                statement: text, problem: "the naive executor: \(error)", engine: "", naive: "")
        }
        let shown = naive.map(\.text).joined(separator: "\n")
        do {
            let series = try database.query(text, options: options).series
            guard let problem = NaiveComparison.difference(series, naive) else { return nil }
            return Difference(
                statement: text, problem: problem,
                engine: series.map { NaiveComparison.answer($0).text }.joined(separator: "\n"),
                naive: shown)
        } catch {
            return Difference(
                statement: text, problem: "refused", engine: error.message, naive: shown)
        }
    }
}

extension NaiveAnswer {
    var text: String {
        let head = name + " " + tags.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        let table = rows.prefix(60).map { time, values in
            "  \(time) " + values.map { $0.map { "\($0)" } ?? "-" }.joined(separator: "  ")
        }
        return ([head, "  time " + columns.joined(separator: "  ")] + table)
            .joined(separator: "\n")
    }
}

enum NaiveComparison {
    static func answer(_ series: QueryResult.Series) -> NaiveAnswer {
        let rows = (0..<series.rowCount).map { row in
            (
                time: series.times[row].nanoseconds,
                values: series.columns.dropFirst().map { $0.value(row) }
            )
        }
        return NaiveAnswer(
            name: series.name, tags: series.header.tags,
            columns: series.header.columns.dropFirst().map(\.name), rows: rows)
    }

    /// What differs first, in words; nil where nothing does.
    static func difference(_ series: [QueryResult.Series], _ naive: [NaiveAnswer]) -> String? {
        if series.count != naive.count { return "\(series.count) series, not \(naive.count)" }
        for (index, pair) in zip(series, naive).enumerated() {
            let (got, wanted) = (answer(pair.0), pair.1)
            if got.name != wanted.name { return "series \(index) is \(got.name)" }
            let tags = NaiveKey(got.tags.flatMap { [$0.name, $0.value] })
            if tags != NaiveKey(wanted.tags.flatMap { [$0.name, $0.value] }) {
                return "series \(index) has other tags"
            }
            if got.columns != wanted.columns { return "series \(index): columns \(got.columns)" }
            if got.rows.count != wanted.rows.count {
                return "series \(index): \(got.rows.count) rows, not \(wanted.rows.count)"
            }
            for (row, cells) in zip(got.rows, wanted.rows).enumerated() {
                if cells.0.time != cells.1.time { return "series \(index), row \(row): time" }
                for (column, values) in zip(cells.0.values, cells.1.values).enumerated()
                where !isSame(values.0, values.1) {
                    return "series \(index), row \(row), \(got.columns[column])"
                }
            }
        }
        return nil
    }

    /// Floats may differ in the last digits.
    private static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (.float(let a)?, .float(let b)?):
            a == b || abs(a - b) <= 1e-9 * max(1, abs(a), abs(b)) || (a.isNaN && b.isNaN)
        case (let left?, let right?): left.type == right.type && NaiveValue.isSame(left, right)
        default: false
        }
    }
}
