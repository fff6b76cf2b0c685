// Credential columns are masked where values leave storage: no statement reveals one.

import CozTestSupport
import Testing

@testable import CozDB

struct RedactionTests {
    private static let secrets = ["S3cr3tA", "S3cr3tB", "K3yOne", "K3yTwo", "4711.5", "2029-03-04"]

    /// Rows with secrets of all types, as tag and as field.
    private func write(_ database: Database, _ identity: Identity, round: Int) throws {
        var batch = WriteBatch()
        batch.settings.identity = identity
        for row in 0..<20 {
            let isFirst = row % 2 == 0
            try batch.add(
                experiment: "dev",
                tags: [
                    "id_participant": isFirst ? "p1" : "p2",
                    "id_password": isFirst ? "S3cr3tA" : "S3cr3tB",
                ],
                time: Timestamp(nanoseconds: Int64(row * 10 + round)),
                fields: [
                    "api_read_key": .string(isFirst ? "K3yOne" : "K3yTwo"),
                    "api_write_key": .float(4711.5),
                    "api_time_key": .string("2029-03-04T05:06:07Z"),
                    "heart": .integer(Int64(60 + row)),
                ])
        }
        _ = try database.write(batch)
    }

    private static let statements = [
        "SELECT * FROM dev", "SELECT * FROM dev ORDER BY time DESC",
        "SELECT api_read_key AS x FROM dev",
        "SELECT first(api_read_key), last(api_write_key) FROM dev",
        "SELECT last(*) FROM dev GROUP BY *", "SELECT distinct(api_read_key) FROM dev",
        "SELECT mode(api_write_key) FROM dev GROUP BY time(50ns)",
        "SELECT count(heart) FROM dev GROUP BY id_password",
        "SELECT /api/ FROM dev WHERE heart > 65",
        "SELECT x FROM (SELECT api_write_key AS x, id_password FROM dev) WHERE x != ''",
        "SELECT last(x) FROM (SELECT api_time_key AS x FROM dev) GROUP BY id_password",
        "SELECT coalesce(api_read_key, api_time_key) FROM dev", "SHOW SERIES", "SHOW TAG KEYS",
        "SELECT heart FROM dev GROUP BY /pass/", "SHOW TAG VALUES WITH KEY = id_password",
        "SHOW TAG VALUES WITH KEY =~ /./", "SELECT id_password::tag, heart FROM dev LIMIT 3",
        "SELECT sample(api_read_key, 3) FROM dev", "EXPLAIN ANALYZE SELECT api_read_key FROM dev",
    ]

    @Test(arguments: [Identity.standard, .allTags, .tags(["id_password"])])
    func `no answer has a secret`(identity: Identity) throws {
        let directory = TemporaryDirectory()
        var open = DatabaseOptions()
        open.compactsInBackground = false
        let database = try Database.open(directory.path, options: open)
        var options = QueryOptions(now: Timestamp(nanoseconds: 1_000))
        options.redactsSecrets = true
        // In memory, in a segment, in both, in two, in one again.
        for step in 0..<5 {
            if step != 1, step < 4 { try write(database, identity, round: step) }
            if step == 1 || step == 3 { try database.flush() }
            if step == 4 { try database.compact() }
            var masked = 0
            for statement in Self.statements {
                let answer: QueryResult
                do throws(DatabaseError) {
                    answer = try database.query(statement, options: options)
                } catch {
                    #expect(error.kind == .usage, "\(statement): \(error)")
                    continue
                }
                let text = "\(answer.statements.flatMap(\.series).map(Self.text))"
                if text.contains(CredentialColumns.mask) { masked += 1 }
                for secret in Self.secrets {
                    #expect(!text.contains(secret), "\(statement), step \(step)")
                }
            }
            #expect(masked > 12)
            let counts = "SELECT count(heart), sum(heart) FROM dev"
            let plain = try database.query(counts).series[0]
            let redacted = try database.query(counts, options: options).series[0]
            #expect(Self.text(plain) == Self.text(redacted))
        }
        for statement in [
            "SELECT heart FROM dev WHERE id_password = 'x'",
            "SELECT count(*) FROM (SELECT * FROM dev WHERE abs(api_write_key) > 1)",
            "SELECT * FROM dev WHERE heart > 1 AND (heart < 9 OR api_read_key =~ /x/)",
            "SHOW SERIES WHERE id_password != ''", "DROP MEASUREMENT dev",
            "ALTER EXPERIMENT dev FIELD heart TYPE string",
        ] {
            #expect(throws: DatabaseError.self) {
                try database.query(statement, options: options)
            }
            #expect(throws: DatabaseError.self) {
                try database.snapshot().redacted.query(statement)
            }
        }
        #expect(
            try database.snapshot().redacted.query("SELECT api_read_key FROM dev LIMIT 1")
                .series[0].columns[1].texts == [CredentialColumns.mask])
        try database.close()
    }

    @Test func `a statement on one experiment does not mask the others`() throws {
        let growth = try Growth(
            from: 200, prepare: { try QueryGrowthTests.database(.experiments, $0) },
            { database in
                let snapshot = try database.snapshot().redacted
                for schema in snapshot.schemas {
                    _ = try snapshot.query("SELECT f FROM \(schema.name)")
                }
            })
        #expect(growth.isLinear, "\(growth)")
    }

    private static func text(_ series: QueryResult.Series) -> String {
        var text = series.header.name + "\(series.header.tags)"
        for (index, column) in series.columns.enumerated() {
            text += series.header.columns[index].name
            for row in 0..<series.rowCount { text += " \(column.value(row).map { "\($0)" } ?? "")" }
        }
        return text
    }
}
