// Deletions against the naive reference: random batches, flushes, merges and reopening, with
// DELETE and DROP of every kind in between, leave the same rows and report the same counts.

import CozTestSupport
import Testing

@testable import CozDB

struct DeletionReferenceTests {
    typealias Row = (ReferenceDatabase.RowKey, [String: FieldValue])

    /// A statement, and what it means to the reference.
    struct Statement {
        var text: String
        /// Fields that go; empty where rows do.
        var fields: [String] = []
        /// Fields that WHERE names, which must be known.
        var conditions: [String] = []
        var experiment: String?
        var isMeant: (Row) -> Bool
    }

    /// What a random statement names.
    struct Terms {
        let experiment: String
        let participant: String
        let first: Int64
        let last: Int64
        let attributes: [ReferenceDatabase.RowKey: String]

        init(_ work: inout ReferenceTests.Workload) {
            experiment = ["dev", "other"].randomElement(using: &work.random)!
            participant = "p\(Int.random(in: 1...4, using: &work.random))"
            first = Int64.random(in: 0..<400, using: &work.random) * 1_000_000
            last = first + Int64.random(in: 0..<150, using: &work.random) * 1_000_000
            attributes = work.attributes
        }

        var inTime: String { "time >= \(first) AND time < \(last)" }

        func isHere(_ row: Row) -> Bool { row.0.experiment == experiment }

        func isInTime(_ row: Row) -> Bool {
            isHere(row) && row.0.time >= first && row.0.time < last
        }

        static func heart(_ row: Row) -> Double? {
            if case .float(let value)? = row.1["heart"] { value } else { nil }
        }
    }

    /// A random statement; tags and times mean what the workload of `ReferenceTests` writes.
    static func statement(_ work: inout ReferenceTests.Workload) -> Statement {
        let terms = Terms(&work)
        let kind = Int.random(in: 0..<13, using: &work.random)
        return kind < 6 ? rows(terms, kind) : others(terms, kind)
    }

    /// Rows by time, tags and fields.
    private static func rows(_ terms: Terms, _ kind: Int) -> Statement {
        let delete = "DELETE FROM \(terms.experiment) WHERE \(terms.inTime)"
        switch kind {
        case 0:
            return Statement(
                text: delete, experiment: terms.experiment, isMeant: terms.isInTime)
        case 1:
            return Statement(
                text: delete + " AND id_participant = '\(terms.participant)'",
                experiment: terms.experiment
            ) { terms.isInTime($0) && $0.0.participant == terms.participant }
        case 2:
            return Statement(
                text: delete + " AND heart > 5", conditions: ["heart"],
                experiment: terms.experiment
            ) { terms.isInTime($0) && (Terms.heart($0) ?? 0) > 5 }
        case 3:
            return Statement(
                text: delete + " AND steps IS NULL", conditions: ["steps"],
                experiment: terms.experiment
            ) { terms.isInTime($0) && $0.1["steps"] == nil }
        case 4:
            return Statement(
                text: delete + " AND id_device = 'd1'", experiment: terms.experiment
            ) { terms.isInTime($0) && terms.attributes[$0.0] == "d1" }
        default:
            return Statement(
                text: delete + " AND moved = true AND heart < 0", conditions: ["moved", "heart"],
                experiment: terms.experiment
            ) { row in
                terms.isInTime(row) && (Terms.heart(row) ?? 0) < 0
                    && row.1["moved"] == .boolean(true)
            }
        }
    }

    /// Single fields, series, experiments.
    private static func others(_ terms: Terms, _ kind: Int) -> Statement {
        let experiment = terms.experiment
        switch kind {
        case 6, 7:
            return Statement(
                text: "DELETE mood, rare FROM \(experiment) WHERE \(terms.inTime)",
                fields: ["mood", "rare"], experiment: experiment, isMeant: terms.isInTime)
        case 8:
            return Statement(
                text: "DELETE heart FROM \(experiment) WHERE mood = 'Warmer'", fields: ["heart"],
                conditions: ["mood"], experiment: experiment
            ) { terms.isHere($0) && $0.1["mood"] == .string("Warmer") }
        case 9:
            return Statement(
                text: "DELETE note FROM \(experiment)", fields: ["note"], experiment: experiment,
                isMeant: terms.isHere)
        case 10:
            let participant = terms.participant
            return Statement(
                text: "DROP SERIES FROM \(experiment) WHERE id_participant = '\(participant)'",
                experiment: experiment
            ) { terms.isHere($0) && $0.0.participant == participant }
        case 11:
            return Statement(text: "DELETE WHERE id_participant = '\(terms.participant)'") {
                $0.0.participant == terms.participant
            }
        default:
            return Statement(
                text: terms.first % 3 > 0
                    ? "DELETE FROM \(experiment)" : "DROP MEASUREMENT \(experiment)",
                experiment: experiment, isMeant: terms.isHere)
        }
    }

    @Test(arguments: 1...14)
    func `deletions among random writes leave what the reference has`(seed: UInt64) throws {
        var work = ReferenceTests.Workload(random: SeededRandom(seed: seed))
        let directory = TemporaryDirectory()
        var options = DatabaseOptions()
        options.memtableSizeBytesMax = 1 << 20
        options.compactsInBackground = Bool.random(using: &work.random)
        options.compactionSegmentCount = 2
        var database = try Database.open(directory.path, options: options)
        let reader = try Database.open(directory.path, access: .readOnly)
        let tests = ReferenceTests()
        for _ in 0..<60 {
            switch Int.random(in: 0..<12, using: &work.random) {
            case 0, 1: try database.flush()
            case 2: try database.compact()
            case 3:
                try database.close()
                database = try Database.open(directory.path, options: options)
            case 4, 5, 6: try delete(Self.statement(&work), &work, database, reader, seed)
            default: _ = try database.write(work.batch())
            }
        }
        try tests.compare(database, work, seed)
        try tests.compare(reader, work, seed)
        try database.compact()
        try tests.compare(database, work, seed)
        try database.close()
        database = try Database.open(directory.path, options: options)
        try tests.compare(database, work, seed)
        try tests.compare(reader, work, seed)
        try database.close()
        var findings: [CheckFinding] = []
        _ = try Database.check(directory.path) { findings.append($0) }
        #expect(findings.isEmpty, "seed \(seed): \(findings)")
    }

    private func delete(
        _ statement: Statement, _ work: inout ReferenceTests.Workload, _ database: Database,
        _ reader: Database, _ seed: UInt64
    ) throws {
        let schemas = try database.schemas()
        if let experiment = statement.experiment {
            guard let schema = schemas.first(where: { $0.name == experiment }) else { return }
            let names = statement.fields + statement.conditions
            guard names.allSatisfy({ schema.field($0) != nil }) else { return }
        }
        let context: Comment = "seed \(seed), \(statement.text)"
        var options = QueryOptions(now: Timestamp(nanoseconds: 0))
        options.isDryRun = true
        let shown = try reader.query(statement.text, options: options)
        let gone = work.reference.delete(fields: statement.fields) { statement.isMeant(($0, $1)) }
        #expect(sum(shown, "rows") == gone.rows, context)
        #expect(sum(shown, "values", onlyTotals: true) == gone.values, context)
        let done = try database.execute(statement.text)
        #expect(sum(done, "rows") == gone.rows, context)
        #expect(sum(done, "values") == gone.values, context)
        try ReferenceTests().compare(database, work, seed)
        try ReferenceTests().compare(reader, work, seed)
    }

    private func sum(_ result: QueryResult, _ column: String, onlyTotals: Bool = false) -> Int {
        var sum = 0
        for series in result.series {
            let fields = onlyTotals ? series.column("field")?.texts : nil
            for (row, value) in (series.column(column)?.integers ?? []).enumerated()
            where fields?[row] == nil {
                sum += Int(value ?? 0)
            }
        }
        return sum
    }
}
