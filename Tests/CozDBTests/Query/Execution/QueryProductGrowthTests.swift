// Whether a statement costs the product of two lists that input chooses: every statement that can
// be long, over everything that a database can have much of.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite(.serialized) struct QueryProductGrowthTests {
    /// A statement with n items.
    struct Template: CustomTestStringConvertible, Sendable {
        var name: String
        var statement: @Sendable (Int) -> String
        var testDescription: String { name }

        init(_ name: String, _ statement: @escaping @Sendable (Int) -> String) {
            (self.name, self.statement) = (name, statement)
        }

        var changes: Bool { name.hasPrefix("DELETE") || name.hasPrefix("DROP") }
    }

    private static func list(
        _ separator: String = ", ", _ item: @escaping @Sendable (Int) -> String,
        _ statement: @escaping @Sendable (String) -> String
    ) -> @Sendable (Int) -> String {
        { count in statement((0..<count).map(item).joined(separator: separator)) }
    }

    /// What an item of a list can be.
    private static let items: [(name: String, text: @Sendable (Int) -> String)] = [
        ("fields", { "f\($0)" }), ("tags", { "t\($0)" }), ("attributes", { "a\($0)" }),
        ("one field", { _ in "f" }), ("one attribute", { _ in "a" }),
        ("participants", { _ in "id_participant" }), ("patterns", { "/zz\($0)/" }),
        ("wildcards", { _ in "*" }),
    ]

    private static let conditions: [(name: String, text: @Sendable (Int) -> String)] = [
        ("participants", { "id_participant = 'p\($0)'" }),
        ("participant patterns", { "id_participant =~ /^p\($0)$/" }),
        ("other participants", { "id_participant != 'p\($0)'" }),
        ("fields", { "f\($0) = 1" }), ("one field", { "f = \($0)" }),
        ("tags", { "t\($0) = 'v'" }), ("attributes", { "a\($0) = 'v'" }),
        ("other attributes", { "a\($0) != 'w'" }), ("attribute", { "a = 'a\($0)'" }),
        ("texts", { "s = 'text \($0)'" }), ("text patterns", { "s =~ /text \($0)$/" }),
        ("fields of fields", { "f\($0) > f\($0 + 1)" }),
        ("times", { "time = \($0)" }),
        ("hours", { "hour_of_day(time) = \($0)" }),
        ("lists of both", { "id_participant IN ('p\($0)', 1)" }),
        ("lists of neither", { "id_participant NOT IN (\($0), true)" }),
        ("numbers of participants", { "id_participant = \($0)" }),
        ("coalesced", { "coalesce(t1::tag, id_participant) = 'p\($0)'" }),
        ("pairs", { "(s = 'text \($0)' AND f = \($0))" }),
    ]

    private static let calls: [(name: String, text: @Sendable (Int) -> String)] = [
        ("count", { "count(f\($0))" }), ("median", { "median(f\($0))" }),
        ("last", { "last(f\($0))" }), ("percentile", { "percentile(f, \($0 % 100))" }),
        ("mean over", { "mean(f\($0)) OVER (1s BEFORE f\($0 + 1))" }),
        ("previous", { "previous(f\($0))" }), ("derivative", { "derivative(f\($0))" }),
        ("coalesce", { "coalesce(f\($0), f\($0 + 1))" }), ("count of all", { _ in "count(*)" }),
        ("count of patterns", { "count(/zz\($0)/)" }),
        ("valid votes", { "valid_votes(f\($0), 1h)" }),
        ("cast", { "f\($0)::integer AS x\($0)" }), ("texts", { "t\($0)::tag" }),
        ("count of one", { "count(f) + \($0)" }),
    ]

    static let templates: [Template] = {
        var all: [Template] = []
        for (name, item) in items {
            all += [
                Template("SELECT \(name)", list(", ", item) { "SELECT f, \($0) FROM m" }),
                Template("GROUP BY \(name)", list(", ", item) { "SELECT f FROM m GROUP BY \($0)" }),
                Template(
                    "count GROUP BY \(name)",
                    list(", ", item) { "SELECT count(f) FROM m GROUP BY \($0)" }),
                Template(
                    "outer \(name)", list(", ", item) { "SELECT f, \($0) FROM (SELECT * FROM m)" }),
                Template("top \(name)", list(", ", item) { "SELECT top(f, \($0), 3) FROM m" }),
                Template(
                    "SHOW TAG VALUES \(name)",
                    list(", ", item) { "SHOW TAG VALUES WITH KEY IN (\($0))" }),
                Template("DELETE \(name)", list(", ", item) { "DELETE \($0) FROM m" }),
                Template(
                    "DELETE \(name) WHERE",
                    list(", ", item) { "DELETE \($0) FROM m WHERE time > 5" }),
            ]
        }
        for (name, item) in conditions {
            for (word, separator) in [("OR", " OR "), ("AND", " AND ")] {
                all += [
                    Template(
                        "\(word) of \(name)",
                        list(separator, item) { "SELECT f FROM m WHERE \($0)" }),
                    Template(
                        "count \(word) of \(name)",
                        list(separator, item) { "SELECT count(f) FROM m WHERE \($0) GROUP BY *" }),
                    Template(
                        "outer \(word) of \(name)",
                        list(separator, item) { "SELECT f FROM (SELECT * FROM m) WHERE \($0)" }),
                    Template(
                        "SHOW MEASUREMENTS \(word) of \(name)",
                        list(separator, item) { "SHOW MEASUREMENTS WHERE \($0)" }),
                    Template(
                        "SHOW SERIES \(word) of \(name)",
                        list(separator, item) { "SHOW SERIES WHERE \($0)" }),
                    Template(
                        "SHOW TAG VALUES \(word) of \(name)",
                        list(separator, item) { "SHOW TAG VALUES WITH KEY = a WHERE \($0)" }),
                    Template(
                        "DELETE \(word) of \(name)",
                        list(separator, item) { "DELETE WHERE \($0)" }),
                ]
            }
        }
        for (name, item) in calls {
            all += [
                Template("SELECT \(name)", list(", ", item) { "SELECT \($0) FROM m" }),
                Template(
                    "SELECT \(name) GROUP BY *",
                    list(", ", item) { "SELECT \($0) FROM m GROUP BY *" }),
                Template("sum of \(name)", list(" + ", item) { "SELECT \($0) FROM m" }),
                Template(
                    "times of \(name)",
                    list(", ", item) {
                        "SELECT \($0) FROM m WHERE time < 1000 GROUP BY time(10ns) fill(none)"
                    }),
            ]
        }
        for (name, item): (String, @Sendable (Int) -> String) in [
            ("experiments", { "m\($0)" }), ("one experiment", { _ in "m" }),
            ("patterns", { "/m\($0)/" }),
        ] {
            all += [
                Template("FROM \(name)", list(", ", item) { "SELECT f FROM \($0)" }),
                Template(
                    "all FROM \(name)", list(", ", item) { "SELECT count(*) FROM \($0) GROUP BY *" }
                ),
                Template("SHOW FROM \(name)", list(", ", item) { "SHOW FIELDS FROM \($0)" }),
                Template("SHOW SERIES FROM \(name)", list(", ", item) { "SHOW SERIES FROM \($0)" }),
                Template(
                    "DELETE FROM \(name)", list(", ", item) { "DELETE FROM \($0) WHERE time < 5" }),
            ]
        }
        for (name, item): (String, @Sendable (Int) -> String) in [
            ("texts", { "'text \($0)'" }), ("numbers", { "\($0)" }),
            ("participants", { "'p\($0)'" }),
        ] {
            for column in ["f", "s", "a", "id_participant", "time"] {
                all.append(
                    Template(
                        "\(column) IN \(name)",
                        list(", ", item) { "SELECT f FROM m WHERE \(column) IN (\($0))" }))
                all.append(
                    Template(
                        "DELETE \(column) IN \(name)",
                        list(", ", item) { "DELETE FROM m WHERE \(column) IN (\($0))" }))
            }
        }
        return all
    }()

    /// Counts the cells of an answer, which cost something each, and ends a long answer: what is
    /// asked for may be a product.
    private struct CellCounter: QueryResultSink {
        let cellCountMax: Int
        var cellCount = 0

        init(cellCountMax: Int) { self.cellCountMax = cellCountMax }

        mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
        mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
            cellCount += series.columns.count
        }
        mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
            cellCount += batch.count * batch.columns.count
            if cellCount > cellCountMax { throw DatabaseError(.cancelled, "a long answer") }
        }
        mutating func endSeries() throws(DatabaseError) {}
        mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
    }

    /// Runs a statement, which may be refused.
    ///
    /// - Returns: its seconds without those that the cells of its answer may take.
    private static func cost(
        of statement: String, in database: Database, cells: Int, isCompatible: Bool
    ) -> Double {
        var options = QueryOptions(now: Timestamp(nanoseconds: 1 << 20))
        options.influxCompatible = isCompatible
        options.isGenerated = true
        var sink = CellCounter(cellCountMax: cells)
        let start = Growth.seconds()
        _ = try? database.execute(statement, options: options, into: &sink)
        return Growth.seconds() - start - Double(sink.cellCount) * 1e-6
    }

    @Test(
        .enabled(if: Growth.isMeasured, "measures time; see Tools/nightly"),
        arguments: QueryGrowthTests.Shape.allCases)
    func `no statement costs a product`(_ shape: QueryGrowthTests.Shape) throws {
        // The last is above `wideColumnCountMin`.
        let sizes = [300, 600, 1200]
        let databases = try sizes.map { try QueryGrowthTests.database(shape, $0) }
        for template in QueryProductGrowthTests.templates {
            for isCompatible in template.changes ? [true] : [true, false] {
                var costs = [Double](repeating: .infinity, count: sizes.count)
                // A cost is the least of several if it stands out.
                for _ in 0..<3 where isProduct(costs) {
                    for (index, size) in sizes.enumerated() {
                        let cost = QueryProductGrowthTests.cost(
                            of: template.statement(size),
                            in: template.changes
                                ? try QueryGrowthTests.database(shape, size) : databases[index],
                            cells: 50 * size,
                            isCompatible: isCompatible)
                        costs[index] = min(costs[index], cost)
                    }
                }
                #expect(
                    !isProduct(costs), "\(template.name), compatible \(isCompatible): \(costs)")
            }
        }
    }

    /// Whether costs for n, 2n and 4n grow as the number of pairs. A pair takes 30 ns or more.
    private func isProduct(_ costs: [Double]) -> Bool {
        costs[2] > 0.04 && !(costs[2] < 2.9 * max(0.01, costs[1]))
    }
}
