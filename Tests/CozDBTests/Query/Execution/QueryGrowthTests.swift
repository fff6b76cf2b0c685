// What a statement costs grows with what it looks at, whatever there is much of: columns, rows,
// series, experiments, values of a list.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

/// Takes an answer and keeps nothing.
struct ForgetfulSink: QueryResultSink {
    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {}
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

/// One for each run of a statement.
private final class Databases {
    let statement: String
    var left: [Database]

    init(_ databases: [Database], _ statement: String) {
        (left, self.statement) = (databases, statement)
    }
}

@Suite(.serialized) struct QueryGrowthTests {
    /// What there is n of.
    enum Shape: String, CaseIterable, Sendable {
        /// A row of so many fields.
        case columns
        /// The same, in memory.
        case columnsInMemory
        /// As many rows of one series, each with a field `f`, a text `s` and an attribute `a`.
        case rows
        /// As many rows of one series with a field `f`, and one row of another with `s`.
        case rowsWithoutAnchor
        /// As many series of a row.
        case series
        /// As many series, each with a field of its own.
        case sparseSeries
        /// The same, in memory.
        case sparseSeriesInMemory
        /// As many experiments of a row.
        case experiments
        /// A row with so many tags, all of them identity.
        case tags
        /// A row with so many attributes.
        case attributes
        /// As many rows of one series, each with an attribute of its own.
        case sparseAttributes
        /// The same, each with a field of its own, too, and another value of the attribute `a`.
        case sparseRows
        /// As many series of a row, each with an attribute of its own.
        case attributePerSeries
        /// As many series of a row, each with a tag of its own in its identity.
        case tagPerSeries
    }

    static func database(_ shape: Shape, _ count: Int) throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        if shape == .tags || shape == .tagPerSeries { batch.settings.identity = .allTags }
        try add(shape, count) { experiment, tags, time, fields in
            try batch.add(
                experiment: experiment, tags: tags, time: Timestamp(nanoseconds: Int64(time)),
                fields: fields)
        }
        _ = try database.write(batch)
        if shape != .columnsInMemory, shape != .sparseSeriesInMemory { try database.flush() }
        return database
    }

    private static func add(
        _ shape: Shape, _ count: Int,
        _ add: (
            _ experiment: String, _ tags: [String: String], _ time: Int,
            _ fields: [String: FieldValue]
        ) throws -> Void
    ) throws {
        let person = ["id_participant": "p"]
        switch shape {
        case .columns, .columnsInMemory:
            let fields = (0..<count).map { ("f\($0)", FieldValue.float(Double($0))) }
            for time in 0..<2 {
                try add("m", person, time, Dictionary(uniqueKeysWithValues: fields))
            }
        case .rows:
            for row in 0..<count {
                try add(
                    "m", ["id_participant": "p", "a": "a\(row)"], row * 1_000_000_000,
                    [
                        "f": .float(Double(row * 7919 % count)), "s": .string("text \(row)"),
                        "i": .integer(Int64(row)), "b": .boolean(row % 2 == 0),
                    ])
            }
        case .rowsWithoutAnchor:
            for row in 0..<count { try add("m", person, row, ["f": .float(Double(row))]) }
            try add("m", ["id_participant": "q"], 0, ["s": .float(1)])
        case .series:
            for row in 0..<count {
                try add(
                    "m", ["id_participant": "p\(row)", "a": "a\(row)"], row,
                    ["f": .float(Double(row)), "i": .integer(1)])
            }
        case .sparseSeries, .sparseSeriesInMemory:
            for row in 0..<count {
                try add("m", ["id_participant": "p\(row)"], row, ["f\(row)": .float(1)])
            }
        case .experiments:
            for row in 0..<count {
                try add("m\(row)", person, 0, ["f": .float(1), "g": .integer(1)])
            }
        case .sparseAttributes:
            for row in 0..<count {
                try add(
                    "m", ["id_participant": "p", "a\(row)": "v"], row, ["f": .float(Double(row))])
            }
        case .sparseRows:
            for row in 0..<count {
                try add(
                    "m", ["id_participant": "p", "a": "v\(row)"], row,
                    ["f\(row)": .float(1), "k": .integer(Int64(row))])
            }
        case .attributePerSeries:
            for row in 0..<count {
                try add(
                    "m", ["id_participant": "p\(row)", "a\(row)": "v"], row,
                    ["f": .float(Double(row))])
            }
        case .tagPerSeries:
            for row in 0..<count { try add("m", ["t\(row)": "v"], row, ["f": .float(1)]) }
        case .tags, .attributes:
            let tags = (0..<count).map { ("t\($0)", "v\($0)") } + [("id_participant", "p")]
            for time in 0..<2 {
                try add("m", Dictionary(uniqueKeysWithValues: tags), time, ["f": .float(1)])
            }
        }
    }

    struct Axis: CustomTestStringConvertible, Sendable {
        var shape: Shape
        var count: Int
        var statement: @Sendable (Int) -> String
        var name: String
        var testDescription: String { "\(name) of \(shape)" }

        init(
            _ shape: Shape, _ count: Int, _ name: String,
            _ statement: (@Sendable (Int) -> String)? = nil
        ) {
            (self.shape, self.count, self.name) = (shape, count, name)
            self.statement = statement ?? { _ in name }
        }
    }

    static func list(_ count: Int, _ separator: String, _ item: (Int) -> String) -> String {
        (0..<count).map(item).joined(separator: separator)
    }

    static let wide: [Axis] = [Shape.columns, .columnsInMemory].flatMap { shape in
        [
            "SELECT count(*) FROM m", "SELECT mean(*), max(*) FROM m",
            "SELECT count(*) FROM m GROUP BY time(1s)", "SELECT median(*) FROM m",
            "SELECT last(*) FROM m", "SELECT count(*) FROM m WHERE f1 >= 0",
            "SELECT last(*) FROM m WHERE f1 >= 0", "SELECT first(f1), * FROM m",
            "SELECT * FROM m", "SELECT *, * FROM m", "SELECT * FROM m ORDER BY time DESC",
            "SELECT * FROM m WHERE f1 >= 0", "SELECT * FROM m LIMIT 1",
            "SELECT * FROM (SELECT * FROM m)", "SELECT count(*) FROM (SELECT * FROM m)",
            "SELECT * FROM (SELECT mean(*) FROM m)", "SELECT /f.*1/ FROM m",
            "SELECT * FROM m GROUP BY *",
            "SELECT derivative(*) FROM m", "SELECT previous(f1), * FROM m",
            "SHOW FIELD KEYS", "SHOW FIELDS", "SHOW FIELD KEY CARDINALITY", "SHOW TAG KEYS",
            "EXPLAIN SELECT * FROM m", "EXPLAIN ANALYZE SELECT count(*) FROM m GROUP BY time(1s)",
        ].map { Axis(shape, 500, $0) } + [
            Axis(shape, 500, "names") { "SELECT " + list($0, ",") { "f\($0)" } + " FROM m" },
            Axis(shape, 120, "sums") { "SELECT " + list($0, "+") { "f\($0)" } + " FROM m" },
            Axis(shape, 120, "OR") {
                "SELECT f1 FROM m WHERE " + list($0, " OR ") { "f\($0) > \($0)" }
            },
            Axis(shape, 120, "AND") {
                "SELECT f1 FROM m WHERE " + list($0, " AND ") { "f\($0) >= 0" }
            },
            Axis(shape, 300, "calls") {
                "SELECT " + list($0, ",") { "count(f\($0)) + \($0)" } + " FROM m"
            },
            Axis(shape, 300, "calls of one") {
                "SELECT " + list($0, ",") { "percentile(f1, \(Double($0) / 100))" } + " FROM m"
            },
            Axis(shape, 300, "bins") {
                "SELECT count(f1) FROM m GROUP BY " + list($0, ",") { "bin(f\($0), 2)" }
            },
        ]
    }

    static let long: [Axis] =
        [
            Axis(.rows, 500, "IN texts") {
                "SELECT count(f) FROM m WHERE s IN (" + list($0, ",") { "'text \($0)'" } + ")"
            },
            Axis(.rows, 500, "IN numbers") {
                "SELECT count(f) FROM m WHERE f IN (" + list($0, ",") { "\($0)" } + ")"
            },
            Axis(.rows, 2000, "IN both") {
                "SELECT count(f) FROM m WHERE s IN (" + list($0, ",") { "'text \($0)'" }
                    + ") OR f IN (" + list($0, ",") { "\($0)" } + ")"
            },
            Axis(.rows, 500, "top") { "SELECT top(f, \($0)) FROM m" },
            Axis(.rows, 500, "top by") { "SELECT top(f, a, \($0)) FROM m" },
            Axis(.rows, 500, "bottom") { "SELECT bottom(f, \($0)) FROM m" },
            Axis(.rows, 500, "sample") { "SELECT sample(f, \($0)) FROM m" },
            Axis(.rows, 500, "moving average") { "SELECT moving_average(f, \($0 / 2)) FROM m" },
            Axis(.rows, 500, "hours") {
                "SELECT mean(f) FROM m WHERE time < 1s GROUP BY "
                    + list($0, ",") { _ in "hour_of_day(time)" }
            },
            // Too long to be kept with its plan, from the first depth on.
            Axis(.rows, 50, "nested coalesce") { depth in
                let call = "coalesce(" + list(98, ",") { _ in "f::field" } + ","
                let start = String(repeating: call, count: depth)
                return "SELECT f FROM m WHERE time < 1s AND \(start) f"
                    + String(repeating: ")", count: depth) + " > 0"
            },
            Axis(.rows, 500, "windows") {
                "SELECT " + list($0, ",") { "mean(f) OVER (\($0 + 1)m BEFORE i)" }
                    + " FROM m WHERE time < 1s LIMIT 1"
            },
        ]
        + [
            "SELECT mode(f) FROM m", "SELECT mode(s) FROM m", "SELECT distinct(s) FROM m",
            "SELECT median(f), percentile(f, 90) FROM m", "SELECT spread(f), stddev(f) FROM m",
            "SELECT * FROM m ORDER BY time DESC", "SELECT count(f) FROM m WHERE s =~ /7$/",
            "SELECT count(f) FROM m GROUP BY a", "SELECT f FROM m GROUP BY a",
            "SELECT count(f) FROM m GROUP BY time(1s)", "SHOW TAG VALUES WITH KEY = a",
            "SELECT mode(f) OVER (100s BEFORE s) FROM m", "SELECT integral(f) FROM m",
        ].map { Axis(.rows, 500, $0) }
        + [
            "SELECT * FROM m", "SELECT count(*) FROM m GROUP BY *", "SELECT * FROM m GROUP BY *",
            "SHOW SERIES", "SHOW TAG VALUES WITH KEY =~ /./",
            "SHOW FIELDS", "SHOW SERIES CARDINALITY", "SELECT * FROM m ORDER BY time DESC",
            "SELECT top(f, id_participant, 3) FROM m", "SELECT mean(f) FROM m GROUP BY a",
        ].map { Axis(.series, 500, $0) }
        // Enough for several threads from the first size on.
        + [Axis(.series, 4000, "SELECT count(*) FROM m")]
        + [Axis(.sparseSeries, 1000, "SELECT count(f1) FROM m")]
        + [
            "SELECT valid_votes(f, 1h), mean(f) OVER (1s BEFORE s) FROM m",
            "SELECT mean(f) OVER (1s BEFORE s) FROM (SELECT f, s FROM m)",
        ].map { Axis(.rowsWithoutAnchor, 4000, $0) }
        + [
            Axis(.series, 120, "OR of participants") {
                "SELECT f FROM m WHERE " + list($0, " OR ") { "id_participant = 'p\($0)'" }
            },
            Axis(.series, 500, "IN of participants") {
                "SELECT f FROM m WHERE id_participant IN (" + list($0, ",") { "'p\($0)'" } + ")"
            },
        ]
        + [
            "SELECT count(*) FROM m", "SHOW FIELDS", "SELECT last(*) FROM m",
            "SELECT count(*) FROM m GROUP BY * SLIMIT 3", "SELECT median(*) FROM m",
            "SELECT f1 FROM m",
            "SELECT f1 FROM m WHERE f1 > 0", "SELECT f1 FROM m GROUP BY *",
            "SELECT max(*) FROM m WHERE f0 > 0", "SELECT * FROM m LIMIT 5", "SHOW SERIES",
            "EXPLAIN SELECT * FROM m",
            "EXPLAIN SELECT count(*) FROM m",
        ].map { Axis(.sparseSeries, 250, $0) }
        + [
            "SELECT count(*) FROM (SELECT * FROM m)",
            "SELECT sum(*) FROM (SELECT sum(*) FROM m GROUP BY time(1d)) WHERE time > 0",
        ].map { Axis(.columns, 2000, $0) }
        // From the count of columns on from which nobody looks at each pair.
        + [
            "SELECT count(*) FROM (SELECT * FROM m)",
            "SELECT count(f1) FROM (SELECT *, previous(f1) FROM m)",
            "SELECT count(*) FROM (SELECT elapsed(*) FROM m GROUP BY id_participant)",
            "SELECT count(*) FROM (SELECT max(*) FROM m GROUP BY time(1d), id_participant)",
        ].map { Axis(.sparseSeries, 1000, $0) }
        + [Axis(.sparseRows, 1000, "SELECT count(*) FROM (SELECT max(*) FROM m GROUP BY a)")]
        + [
            "SELECT f FROM m GROUP BY * SLIMIT 1", "SELECT count(f) FROM m GROUP BY * SLIMIT 1",
            "SELECT count(f) FROM (SELECT f FROM m GROUP BY *)",
            "SELECT count(f) FROM (SELECT f, previous(f) FROM m GROUP BY *)",
        ].map { Axis(.attributePerSeries, 1000, $0) }
        + [
            "SHOW TAG VALUES WITH KEY =~ /./", "SHOW TAG KEYS", "SELECT * FROM m",
            "SELECT count(f) FROM m GROUP BY *",
        ].map { Axis(.attributes, 250, $0) }
        + [
            "SELECT f FROM m GROUP BY * LIMIT 1 SLIMIT 3",
            "SELECT count(f) FROM m GROUP BY * SLIMIT 3",
            "SELECT count(f) FROM (SELECT f FROM m GROUP BY *)",
            "SELECT count(f) FROM m GROUP BY /9/ SLIMIT 1", "SELECT * FROM m LIMIT 5",
        ].map { Axis(.sparseAttributes, 1000, $0) }
        + [
            "SELECT count(*) FROM m GROUP BY a SLIMIT 1", "SELECT * FROM m GROUP BY a SLIMIT 1",
            "SELECT median(*) FROM m GROUP BY a SLIMIT 1",
            "SELECT count(*) FROM m GROUP BY time(1ns) fill(none) LIMIT 1",
            "SELECT derivative(*) FROM m LIMIT 1",
        ].map { Axis(.sparseRows, 500, $0) }
        + [
            "SELECT * FROM /./", "SELECT count(*) FROM /./", "SHOW FIELD KEYS", "SHOW FIELDS",
            "SHOW MEASUREMENTS", "SHOW SERIES", "SHOW TAG KEYS", "SHOW TAG VALUES WITH KEY =~ /./",
        ].map { Axis(.experiments, 100, $0) }
        + [
            Axis(.experiments, 100, "experiments of FROM") {
                "SELECT f FROM " + list($0, ",") { "m\($0)" }
            },
            Axis(.experiments, 50, "subqueries of FROM") {
                "SELECT f FROM " + list($0, ",") { "(SELECT f FROM m\($0))" }
            },
        ]
        + [
            "SELECT * FROM m", "SELECT f FROM m GROUP BY *", "SHOW TAG KEYS", "SHOW SERIES",
            "SHOW TAG VALUES WITH KEY =~ /./", "SELECT count(f) FROM m GROUP BY /./",
        ].map { Axis(.tags, 250, $0) }
        + [
            Axis(.tags, 120, "tags of WHERE") {
                "SELECT f FROM m WHERE " + list($0, " AND ") { "t\($0) = 'v\($0)'" }
            },
            Axis(.columns, 500, "windows over different fields") {
                "SELECT " + list($0, ",") { "mean(f\($0)) OVER (1s BEFORE f0)" } + " FROM m"
            },
            Axis(.tagPerSeries, 1500, "SELECT * FROM m"),
            Axis(.tagPerSeries, 1500, "SELECT * FROM m ORDER BY time DESC LIMIT 1"),
            Axis(.tagPerSeries, 1500, "SELECT * FROM (SELECT * FROM m)"),
            Axis(.attributes, 500, "nested GROUP BY *") { _ in
                "SELECT count(f) FROM (SELECT f FROM m GROUP BY *) GROUP BY *"
            },
            Axis(.attributes, 1000, "keys of SHOW") {
                "SHOW TAG VALUES WITH KEY IN (" + list($0, ",") { "t\($0)" } + ")"
            },
            Axis(.tags, 250, "tags of GROUP BY") {
                "SELECT f FROM m GROUP BY " + list($0, ",") { "t\($0)" }
            },
        ]

    @Test(
        .enabled(if: Growth.isMeasured, "measures time; see Tools/nightly"),
        arguments: wide + long)
    func `a statement costs what it looks at`(_ axis: Axis) throws {
        let growth = try Growth(
            from: axis.count,
            prepare: {
                (try QueryGrowthTests.database(axis.shape, $0), axis.statement($0))
            },
            { database, statement in
                var sink = ForgetfulSink()
                var options = QueryOptions(now: Timestamp(nanoseconds: 1 << 20))
                options.limits = QueryLimits()
                options.limits?.textSizeBytesMax = 1 << 26
                try database.query(statement, options: options, into: &sink)
            })
        // Less than a few milliseconds say nothing of how they grow.
        #expect(growth.isLinear || growth.costs[2].seconds < 0.01, "\(axis): \(growth)")
    }

    /// Statements whose reads are counted, from few of what there is n of.
    static let counted: [Axis] =
        long.filter { $0.name.hasPrefix("IN ") }.map { Axis($0.shape, 50, $0.name, $0.statement) }
        + [
            (.sparseRows, "SELECT * FROM m"), (.sparseRows, "SELECT * FROM m WHERE k >= 0"),
            (.sparseRows, "SELECT f1 FROM m GROUP BY a"), (.sparseAttributes, "SELECT * FROM m"),
            (.sparseRows, "SELECT count(*) FROM m GROUP BY a"),
            (.sparseSeries, "SELECT * FROM m"), (.sparseSeries, "SELECT count(*) FROM m"),
            (.sparseSeries, "SELECT last(*) FROM m GROUP BY *"),
            (.sparseSeries, "SELECT median(*) FROM m"),
        ].map { Axis($0, 50, $1) }
        // From the count of columns on from which nobody looks at each pair.
        + [Axis(.sparseSeriesInMemory, 1000, "SELECT max(*) FROM m")]

    @Test(arguments: counted)
    func `a statement reads what it looks at`(_ axis: Axis) throws {
        let counts = try (axis.count < 1000 ? [1, 2, 4] : [1, 2]).map { factor in
            let count = factor * axis.count
            let database = try QueryGrowthTests.database(axis.shape, count)
            var sink = ForgetfulSink()
            let counters = try database.query(
                axis.statement(count), options: QueryOptions(now: Timestamp(nanoseconds: 1 << 20)),
                into: &sink)
            // No bytes: an answer of n rows of n columns has as many cells, most of them empty.
            return [
                counters.rowsRead, counters.blocksRead, counters.blocksInRange,
                counters.blocksSkipped, counters.blocksSummarized, counters.blocksOutOfRange,
                counters.storedBytesRead, counters.rowsReturned,
            ]
        }
        #expect(counts[0].reduce(0, +) > 0)
        for index in counts.indices.dropFirst() {
            for (before, after) in zip(counts[index - 1], counts[index]) {
                #expect(Double(after) <= 2.2 * Double(before) + 8, "\(axis): \(counts)")
            }
        }
    }

    @Test(
        .enabled(if: Growth.isMeasured, "measures time; see Tools/nightly"),
        arguments: Shape.allCases)
    func `information costs what it looks at`(_ shape: Shape) throws {
        let growth = try Growth(
            from: 500, prepare: { try QueryGrowthTests.database(shape, $0) },
            { database in
                _ = try database.info()
                _ = try database.valueCount()
            })
        #expect(growth.isLinear || growth.costs[2].seconds < 0.01, "\(shape): \(growth)")
    }

    @Test(
        .enabled(if: Growth.isMeasured, "measures time; see Tools/nightly"),
        arguments: [Shape.columns, .series, .sparseSeries, .experiments],
        [
            "DROP MEASUREMENT m", "DELETE FROM m WHERE id_participant =~ /[02468]$/",
            "DELETE FROM m WHERE time < 100", "DELETE FROM m WHERE time > 10",
            "DELETE WHERE id_participant = 'p'", "DELETE (half of the fields) FROM m",
        ])
    func `a deletion costs what it looks at`(_ shape: Shape, _ statement: String) throws {
        let growth = try Growth(
            from: 250,
            // It can be run once.
            prepare: { count in
                let half = QueryGrowthTests.list(count / 2, ", ") { "f\(2 * $0)" }
                let parts = statement.split(separator: "(half of the fields)")
                return Databases(
                    try (0..<5).map { _ in try QueryGrowthTests.database(shape, count) },
                    parts.joined(separator: half))
            },
            { databases in
                let database = databases.left.removeLast()
                if shape == .experiments, !statement.hasPrefix("DELETE WHERE") { return }
                if shape == .series, statement.hasPrefix("DELETE (") { return }
                _ = try database.query(databases.statement)
            })
        #expect(
            growth.isLinear || growth.costs[2].seconds < 0.01, "\(shape) \(statement): \(growth)")
    }
}
