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

    /// A random statement; tags and times mean what the workload of `ReferenceTests` writes.
    static func statement(_ work: inout ReferenceTests.Workload) -> Statement {
        func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &work.random) }
        let attributes = work.attributes
        let experiment = ["dev", "other"][random(0..<2)]
        let participant = "p\(random(1..<5))"
        let first = Int64(random(0..<400)) * 1_000_000
        let last = first + Int64(random(0..<150)) * 1_000_000
        func isHere(_ row: Row) -> Bool { row.0.experiment == experiment }
        func isInTime(_ row: Row) -> Bool {
            isHere(row) && row.0.time >= first && row.0.time < last
        }
        let inTime = "time >= \(first) AND time < \(last)"
        switch random(0..<12) {
        case 0:
            return Statement(
                text: "DELETE FROM \(experiment) WHERE \(inTime)", experiment: experiment,
                isMeant: isInTime)
        case 1:
            return Statement(
                text: "DELETE FROM \(experiment) "
                    + "WHERE \(inTime) AND id_participant = '\(participant)'",
                experiment: experiment
            ) { isInTime($0) && $0.0.participant == participant }
        case 2:
            return Statement(
                text: "DELETE FROM \(experiment) WHERE heart > 5 AND \(inTime)",
                conditions: ["heart"], experiment: experiment
            ) { row in
                guard case .float(let value)? = row.1["heart"] else { return false }
                return isInTime(row) && value > 5
            }
        case 3:
            return Statement(
                text: "DELETE FROM \(experiment) WHERE steps IS NULL AND \(inTime)",
                conditions: ["steps"], experiment: experiment
            ) { isInTime($0) && $0.1["steps"] == nil }
        case 4:
            return Statement(
                text: "DELETE mood, rare FROM \(experiment) WHERE \(inTime)",
                fields: ["mood", "rare"], experiment: experiment, isMeant: isInTime)
        case 5:
            return Statement(
                text: "DELETE heart FROM \(experiment) WHERE mood = 'Warmer'", fields: ["heart"],
                conditions: ["mood"], experiment: experiment
            ) { isHere($0) && $0.1["mood"] == .string("Warmer") }
        case 6:
            return Statement(
                text: "DELETE note FROM \(experiment)", fields: ["note"], experiment: experiment,
                isMeant: isHere)
        case 7:
            return Statement(
                text: "DELETE FROM \(experiment) WHERE id_device = 'd1' AND \(inTime)",
                experiment: experiment
            ) { isInTime($0) && attributes[$0.0] == "d1" }
        case 8:
            return Statement(
                text: "DELETE FROM \(experiment) WHERE moved = true AND heart < 0 AND \(inTime)",
                conditions: ["moved", "heart"], experiment: experiment
            ) { row in
                guard case .float(let value)? = row.1["heart"] else { return false }
                return isInTime(row) && value < 0 && row.1["moved"] == .boolean(true)
            }
        case 9:
            return Statement(
                text: "DROP SERIES FROM \(experiment) WHERE id_participant = '\(participant)'",
                experiment: experiment
            ) { isHere($0) && $0.0.participant == participant }
        case 10:
            return Statement(text: "DELETE WHERE id_participant = '\(participant)'") {
                $0.0.participant == participant
            }
        default:
            return Statement(
                text: random(0..<3) > 0
                    ? "DELETE FROM \(experiment)" : "DROP MEASUREMENT \(experiment)",
                experiment: experiment, isMeant: isHere)
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
            default: try database.write(work.batch())
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
        let done = try database.query(statement.text)
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
