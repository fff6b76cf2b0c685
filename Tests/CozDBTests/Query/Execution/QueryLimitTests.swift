// What a statement may take, and that it can be stopped wherever it is.

internal import CozTestSupport
internal import Synchronization
internal import Testing

@testable internal import CozDB

/// Says yes from the so many-th question on.
private final class Stop: Sendable {
    private let questions = Atomic<Int>(0)
    private let limit: Int

    init(after limit: Int) { self.limit = limit }

    var count: Int { questions.load(ordering: .relaxed) }

    var isRaised: Bool { questions.add(1, ordering: .relaxed).newValue > limit }
}

@Suite struct QueryLimitTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        var options = DatabaseOptions()
        options.queryLimits.rowCountMax = 5000
        database = try Database.open(directory.path, options: options)
        var batch = WriteBatch()
        for row in 0..<6000 {
            try batch.add(
                experiment: "m",
                tags: ["id_participant": "p\(row % 3)", "device": "d\(row % 700)"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                fields: ["v": .integer(Int64(row * 7919 % 6000)), "s": .string("text \(row)")])
        }
        for number in 0..<1500 {
            try batch.add(
                experiment: "many", tags: ["id_participant": "q\(number)"],
                time: Timestamp(nanoseconds: Int64(number)), fields: ["v": .integer(1)])
        }
        _ = try database.write(batch)
        try database.flush()
    }

    private var options: QueryOptions {
        QueryOptions(now: Timestamp(nanoseconds: 1_000_000_000_000_000))
    }

    private func failure(
        _ text: String, _ change: (inout QueryLimits) -> Void
    ) -> DatabaseError? {
        var options = options
        var limits = QueryLimits()
        change(&limits)
        options.limits = limits
        do {
            _ = try database.query(text, options: options)
            return nil
        } catch {
            return error
        }
    }

    // MARK: Limits

    @Test func `a database's limits hold where a query names none`() throws {
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT v FROM m", options: options)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("more than 5000 rows (rowCountMax)") == true)
        #expect(throws: DatabaseError.self) {
            try database.snapshot().query("SELECT v FROM m", options: options)
        }
        #expect(throws: DatabaseError.self) {
            let cursor = try database.cursor("SELECT v FROM m", options: options)
            while try cursor.next() != nil {}
        }
        #expect(failure("SELECT v FROM m") { $0.rowCountMax = 6000 } == nil)
    }

    @Test(arguments: [
        "SELECT median(v) FROM m", "SELECT distinct(s) FROM m", "SELECT top(v, 3) FROM m",
        "SELECT mode(s) FROM m GROUP BY id_participant", "SELECT v, s FROM m GROUP BY device",
        "SELECT count(v) FROM m GROUP BY device, id_participant",
        "SELECT max(v) FROM (SELECT v FROM m LIMIT 4000)",
        "SELECT count(v) FROM m WHERE time >= 0s AND time < 6000s GROUP BY time(1s)",
        "SELECT difference(v) FROM m", "SELECT first(v), s FROM m GROUP BY time(1s)",
        "SELECT v, s FROM m", "SELECT count(v) FROM many GROUP BY id_participant",
        "SELECT v, previous(s) FROM m", "SELECT mode(s) OVER (1w AROUND v) FROM m WHERE v = 1",
        "SELECT count(c) FROM (SELECT valid_votes(v, 0s) AS c FROM m) GROUP BY bin(c, 1000)",
    ])
    func `memory of a statement's buffers is bounded`(_ text: String) {
        let error = failure(text) { $0.memorySizeBytesMax = 50_000 }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("more than 50000 (memorySizeBytesMax)") == true)
        #expect(failure(text) { $0.memorySizeBytesMax = 50_000_000 } == nil)
    }

    @Test func `memory of a statement's columns is bounded`() {
        var text = "m"
        for _ in 0..<5 {
            text =
                "(SELECT sum(*), mean(*), median(*), min(*), max(*), first(*), last(*) "
                + "FROM \(text))"
        }
        text.removeFirst()
        text.removeLast()
        let error = failure(text) { $0.memorySizeBytesMax = 20_000_000 }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("more than 20000000 (memorySizeBytesMax)") == true)
        #expect(failure(text) { $0.memorySizeBytesMax = 200_000_000 } == nil)
    }

    @Test func `columns of nested subqueries are limited together`() throws {
        var batch = WriteBatch()
        let fields = (0..<30_000).map { ("f\($0)", FieldValue.integer(1)) }
        try batch.add(
            experiment: "wide", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 0),
            fields: Dictionary(uniqueKeysWithValues: fields))
        _ = try database.write(batch)
        var text = "wide"
        for _ in 0..<100 { text = "(SELECT * FROM \(text), wide)" }
        let error = failure("EXPLAIN " + text.dropFirst().dropLast()) { _ in }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("nest fewer subqueries") == true)
    }

    @Test func `what is open of a merge counts as memory`() throws {
        var batch = WriteBatch()
        for row in 0..<3 {
            let fields = (0..<1000).map { ("f\($0)", FieldValue.integer(1)) }
            try batch.add(
                experiment: "open", tags: ["id_participant": "p\(row % 2)"],
                time: Timestamp(nanoseconds: Int64(row)),
                fields: Dictionary(uniqueKeysWithValues: fields))
        }
        _ = try database.write(batch)
        var text = "open"
        for _ in 0..<50 { text = "(SELECT * FROM \(text), open)" }
        // A subquery with LIMIT is no stored series, so rows are merged and not read in windows.
        let statement = "SELECT * FROM \(text), (SELECT f0 FROM open LIMIT 1)"
        let error = failure(statement) { $0.memorySizeBytesMax = 100_000_000 }
        #expect(error?.kind == .limitExceeded)
        #expect(failure(statement) { $0.memorySizeBytesMax = 2_000_000_000 } == nil)
    }

    @Test func `what is streamed needs no memory`() throws {
        for text in [
            "SELECT sum(v), max(v) FROM m", "SELECT count(v) FROM m WHERE s =~ /9$/",
            "SELECT v FROM m ORDER BY time DESC LIMIT 5",
            "SELECT max(v) FROM (SELECT v FROM m)", "SHOW FIELDS FROM m",
        ] {
            let error = failure(text) { $0.memorySizeBytesMax = 20_000 }
            #expect(error == nil, "\(text): \(error?.message ?? "")")
        }
    }

    @Test func `memory is given back between statements and groups`() throws {
        let text = Array(repeating: "SELECT median(v) FROM m", count: 20).joined(separator: "; ")
        #expect(failure(text) { $0.memorySizeBytesMax = 400_000 } == nil)
        let nested = "SELECT max(v) FROM (SELECT v FROM m LIMIT 4000)"
        let twenty = Array(repeating: nested, count: 20).joined(separator: "; ")
        #expect(failure(twenty) { $0.memorySizeBytesMax = 400_000 } == nil)
    }

    // MARK: Cancellation

    /// Statements, and how many questions each asks at least.
    private static let statements: [(text: String, questions: Int)] = [
        ("SELECT v, s FROM m", 4), ("SELECT v FROM m ORDER BY time DESC", 4),
        ("SELECT sum(v) FROM m", 6), ("SELECT median(v) FROM m", 6),
        ("SELECT last(*) FROM m GROUP BY id_participant", 6),
        ("SELECT count(v) FROM m WHERE s =~ /[0-9]+7$/", 6),
        ("SELECT count(v) FROM m GROUP BY device", 6), ("SELECT mode(v) FROM m", 8),
        ("SELECT top(v, 3) FROM m", 8), ("SELECT distinct(s) FROM m", 6),
        ("SELECT v FROM m GROUP BY device", 6),
        ("SELECT max(v) FROM (SELECT v FROM m LIMIT 4000)", 6),
        ("SELECT max(v) FROM (SELECT mean(v) AS v FROM m GROUP BY time(1m), id_participant)", 6),
        ("SELECT count(v) FROM m WHERE time >= 0s AND time < 200000s GROUP BY time(1s)", 60),
        ("SELECT count(v), max(v) FROM m WHERE time < 100000s GROUP BY time(1s)", 30),
        ("SELECT v FROM many", 1000), ("SELECT count(v) FROM many GROUP BY id_participant", 1000),
        ("SELECT v FROM many WHERE id_participant =~ /nobody/", 5),
        ("SHOW TAG VALUES WITH KEY = device", 5), ("SHOW SERIES", 5), ("SHOW FIELDS", 6),
        ("SHOW FIELDS WHERE device = 'd1'", 6),
        ("EXPLAIN SELECT count(v) FROM many", 5), ("EXPLAIN ANALYZE SELECT median(v) FROM m", 6),
    ]

    @Test(arguments: statements.indices)
    func `a statement can be stopped at every question it asks`(_ index: Int) throws {
        let (text, least) = Self.statements[index]
        var options = options
        options.limits = QueryLimits()
        // Reading and planning a text ask, too; later runs find it read and planned.
        _ = try database.query(text, options: options)
        let whole = Stop(after: .max)
        options.isCancelled = { whole.isRaised }
        _ = try database.query(text, options: options)
        #expect(whole.count >= least, "\(text) asks \(whole.count) times")
        let count = whole.count
        for limit in Set([0, 1, 2, 3, count / 3, count / 2, count - 2, count - 1]) {
            guard limit >= 0, limit < count else { continue }
            let stop = Stop(after: limit)
            options.isCancelled = { stop.isRaised }
            let error = #expect(throws: DatabaseError.self, "\(text) after \(limit)") {
                try database.query(text, options: options)
            }
            #expect(error?.kind == .cancelled)
        }
    }

    @Test func `a cancelled task ends its query`() async throws {
        var options = options
        options.limits = QueryLimits()
        let task = Mutex<Task<QueryResult, any Error>?>(nil)
        let started = Stop(after: 20)
        options.isCancelled = {
            if started.isRaised { task.withLock { $0?.cancel() } }
            return false
        }
        let (database, watched) = (database, options)
        let running = task.withLock { task in
            let running = Task {
                // More buckets than anybody waits for.
                try await database.query(
                    "SELECT count(v) FROM m WHERE time >= 0s AND time < 9000000s GROUP BY time(1s)",
                    options: watched)
            }
            task = running
            return running
        }
        let error = await #expect(throws: DatabaseError.self) { _ = try await running.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func `a builder that is asked for few of many texts keeps no list of them all`() {
        func table(_ prefix: String) -> StringTable {
            var heap: [UInt8] = []
            var ends: [Int] = []
            for number in 0..<10_000 {
                heap += Array("\(prefix)\(number)".utf8)
                ends.append(heap.count)
            }
            return StringTable(heap: heap, ends: ends)
        }
        let (first, second) = (table("a"), table("b"))
        var builder = VectorBuilder(type: .string)
        var codes: Set<UInt64> = []
        for number in 0..<10 {
            let code = builder.code(UInt64(number), in: number % 2 == 0 ? first : second)
            #expect(builder.text(code) == (number % 2 == 0 ? "a\(number)" : "b\(number)"))
            codes.insert(code)
        }
        #expect(codes.count == 10)
        #expect(builder.sizeBytes < 1000)
        // Asked for all, and again, it knows each once.
        for _ in 0..<2 {
            for number in 0..<10_000 {
                let code = builder.code(UInt64(number), in: first)
                #expect(builder.text(code) == "a\(number)")
                codes.insert(code)
            }
        }
        #expect(codes.count == 10_005)
    }
}

struct WideStatementTests {
    /// A database in memory. Participant `wide` has 1,500 fields of its own.
    private func database() throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        func add(_ tags: [String: String], _ time: Int64, _ fields: [String: FieldValue]) throws {
            try batch.add(
                experiment: "m", tags: tags, time: Timestamp(nanoseconds: time), fields: fields)
        }
        try add(["id_participant": "p", "dev": "a"], 1, ["f": .float(1)])
        try add(["id_participant": "p", "dev": "a"], 2, ["s": .string("x")])
        try add(["id_participant": "p", "dev": "b"], 3, ["f": .float(5)])
        try add(["id_participant": "p", "dev": "b"], 4, ["i": .integer(1)])
        let own = (0..<1500).map { ("w\($0)", FieldValue.float(1)) }
        try add(["id_participant": "wide"], 3, Dictionary(uniqueKeysWithValues: own))
        try add(["id_participant": "wide"], 1_000_000_000_000, ["w0": .float(2)])
        _ = try database.write(batch)
        return database
    }

    @Test(arguments: [0, 995, 1000])
    func `groups by an attribute do not depend on the number or order of calls`(
        _ count: Int
    ) throws {
        let database = try database()
        let calls = ["max(i) AS i", "sum(f) AS f", "count(s) AS s", "count(f) AS n"]
        let others = (0..<count).map { "count(w\($0))" }
        for turn in calls.indices {
            let list = calls[turn...] + calls[..<turn] + others
            let answer = try database.query(
                "SELECT \(list.joined(separator: ", ")) FROM m GROUP BY dev")
            for (dev, sum, rows) in [("a", 1.0, Int64(1)), ("b", 5.0, 1)] {
                let group = try #require(answer.series.first { $0.tag("dev") == dev })
                #expect(group.column("f")?.doubles == [sum])
                #expect(group.column("n")?.integers == [rows])
                #expect(group.column("i")?.integers == [dev == "b" ? 1 : nil])
            }
        }
    }

    @Test func `rows of many columns come in little memory, however far apart they are`() throws {
        let database = try database()
        var query = QueryOptions(now: Timestamp(nanoseconds: 10_000))
        query.limits = QueryLimits()
        // Room for one row at a time, but for two rows of one time.
        query.limits?.memorySizeBytesMax = 100_000
        for order in ["", " ORDER BY time DESC"] {
            let answer = try database.query("SELECT * FROM m" + order, options: query)
            #expect(answer.series[0].rowCount == 6)
        }
    }

    @Test func `rows joined from calls count as memory, if they are wanted`() throws {
        let database = try QueryGrowthTests.database(.sparseRows, 1000)
        var query = QueryOptions(now: Timestamp(nanoseconds: 10_000))
        query.limits = QueryLimits()
        query.limits?.memorySizeBytesMax = 6 << 20
        let statement = "SELECT cumulative_sum(*) FROM m"
        let error = #expect(throws: DatabaseError.self) {
            try database.query(statement, options: query)
        }
        #expect(error?.kind == .limitExceeded)
        let first = try database.query(statement + " LIMIT 1", options: query).series[0]
        #expect(first.rowCount == 1)
        query.limits?.memorySizeBytesMax = 64 << 20
        let all = try database.query(statement, options: query).series[0]
        #expect(all.rowCount == 1000)
        #expect(all.columns.map { $0.value(0) } == first.columns.map { $0.value(0) })
    }

    @Test func `names times experiments are limited before they are looked up`() throws {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        for number in 0..<2100 {
            try batch.add(
                experiment: "m\(number)", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: 1), fields: ["f\(number)": .integer(1)])
        }
        _ = try database.write(batch)
        let query = QueryOptions(now: Timestamp(nanoseconds: 10_000))
        let error = #expect(throws: DatabaseError.self) {
            try database.query("SELECT * FROM /./ WHERE f1 = 1", options: query)
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("in 2100 experiments") == true)
        let named = try database.query("SELECT f1 FROM /./ WHERE f1 = 1", options: query)
        #expect(named.series[0].rowCount == 1)
        // One experiment may have many columns.
        let one = try database.query("SELECT * FROM m7", options: query)
        #expect(one.series[0].rowCount == 1)
    }

    @Test func `patterns times names are limited before they are matched`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        var batch = WriteBatch()
        batch.settings.identity = .allTags
        let fields = (0..<5000).map { ("f\($0)", FieldValue.integer(1)) }
        let tags = (0..<5000).map { ("t\($0)", "v") }
        try batch.add(
            experiment: "m", tags: Dictionary(uniqueKeysWithValues: tags),
            time: Timestamp(nanoseconds: 0), fields: Dictionary(uniqueKeysWithValues: fields))
        for number in 0..<60 {
            try batch.add(
                experiment: "e\(number)", tags: [:], time: Timestamp(nanoseconds: 0),
                fields: ["x": .integer(1)])
        }
        _ = try database.write(batch)
        let few = [String](repeating: "/zz/", count: 900).joined(separator: ", ")
        let many = [String](repeating: "/z/", count: 80_000).joined(separator: ",")
        let names = [String](repeating: "f2", count: 101).joined(separator: ",")
        for statement in [
            "SELECT f1, \(few) FROM m", "SELECT f1 FROM m GROUP BY \(few)",
            "SELECT count(f1), "
                + [String](repeating: "count(*)", count: 900)
                .joined(separator: ", ") + " FROM m",
            "SELECT x FROM \(many)", "SELECT x FROM (SELECT x FROM \(many)) GROUP BY *",
            "SHOW FIELD KEYS FROM \(many)",
            "DELETE FROM \(many) WHERE time = 0",
            "DELETE \([String](repeating: "x", count: 80_000).joined(separator: ",")) FROM /./",
            "SELECT top(f1, \(names), 1) FROM m",
        ] {
            let error = #expect(throws: DatabaseError.self, "\(statement.prefix(40))") {
                try database.execute(statement)
            }
            #expect(error?.kind == .limitExceeded, "\(statement.prefix(40))")
        }
        let answer = try database.query("SELECT /^f1$/, /^f2$/, /zz/ FROM m GROUP BY /^t1$/, /zz/")
        #expect(answer.series.first?.columns.count == 3)
        try database.close()
    }
}

struct SubqueryMemoryTests {
    @Test func `columns of points are counted before there are many`() throws {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        let names = (0..<200).map { "f\($0)" }
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: ["id_participant": "p", "dev": "b"],
            time: Timestamp(nanoseconds: -1),
            fields: Dictionary(uniqueKeysWithValues: names.map { ($0, .float(1)) }))
        for row in 0..<20_000 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p", "dev": "a"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["g": .float(1)])
        }
        _ = try database.write(batch)
        let list = names.joined(separator: ", ")
        var query = QueryOptions(now: Timestamp(nanoseconds: 100_000))
        query.limits = QueryLimits()
        query.limits?.memorySizeBytesMax = 4 << 20
        let error = #expect(throws: DatabaseError.self) {
            try database.query(
                "SELECT top(g, 2), \(list) FROM (SELECT g, \(list) FROM m GROUP BY dev)",
                options: query)
        }
        #expect(error?.kind == .limitExceeded)
        // All rows at once would be 36 MB.
        let found = try #require(error?.message.split(separator: " ").compactMap { Int($0) }.first)
        #expect(found < 8 << 20)
    }

    @Test(arguments: [
        "SELECT previous(g), * FROM m",
        "SELECT * FROM (SELECT previous(g), * FROM m)",
        "SELECT * FROM (SELECT * FROM m LIMIT 30000) ORDER BY time DESC",
        "SELECT * FROM m GROUP BY dev ORDER BY time DESC",
    ])
    func `nulls of collected columns are counted`(_ statement: String) throws {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        let names = (0..<400).map { "f\($0)" }
        for row in 0..<20_000 {
            var fields: [String: FieldValue] = ["g": .float(1)]
            if row == 0 { for name in names { fields[name] = .float(1) } }
            try batch.add(
                experiment: "m", tags: ["id_participant": "p", "dev": "a"],
                time: Timestamp(nanoseconds: Int64(row)), fields: fields)
        }
        _ = try database.write(batch)
        var query = QueryOptions(now: Timestamp(nanoseconds: 100_000))
        query.limits = QueryLimits()
        query.limits?.memorySizeBytesMax = 16 << 20
        // All columns with their nulls take 72 MB.
        let error = #expect(throws: DatabaseError.self) {
            try database.query(statement, options: query)
        }
        #expect(error?.kind == .limitExceeded)
        query.limits?.memorySizeBytesMax = 512 << 20
        #expect(try database.query(statement, options: query).series.first?.times.count == 20_000)
    }

    @Test func `long strings of a subquery's series are counted`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        var batch = WriteBatch()
        for number in 0..<100 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(number)"],
                time: Timestamp(nanoseconds: 1),
                fields: ["s": .string(String(repeating: "\(number % 10)", count: 100_000))])
        }
        _ = try database.write(batch)
        let statement =
            "SELECT count(s) FROM (SELECT last(s) AS s FROM m GROUP BY id_participant)"
        let error = #expect(throws: DatabaseError.self) {
            try database.query(statement, options: SubqueryMemoryTests.limited(to: 4 << 20))
        }
        #expect(error?.kind == .limitExceeded)
        let answer = try database.query(
            statement, options: SubqueryMemoryTests.limited(to: 64 << 20))
        #expect(answer.series[0].column("count")?.integers == [100])
    }

    @Test func `the batches of the series of a merge are counted`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        let fields = Dictionary(
            uniqueKeysWithValues: (0..<40).map { ("f\($0)", FieldValue.float(1)) })
        var batch = WriteBatch()
        for number in 0..<300 {
            for row in 0..<20 {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(number)"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: fields)
            }
        }
        _ = try database.write(batch)
        // One row of each series takes 110 KB.
        let statement = "SELECT * FROM (SELECT * FROM m) LIMIT 2"
        let error = #expect(throws: DatabaseError.self) {
            try database.query(statement, options: SubqueryMemoryTests.limited(to: 64 << 10))
        }
        #expect(error?.kind == .limitExceeded)
        let answer = try database.query(
            statement, options: SubqueryMemoryTests.limited(to: 1 << 20))
        #expect(answer.series[0].times.count == 2)
    }

    @Test func `a subquery of many series keeps only columns with values`() throws {
        let database = try QueryGrowthTests.database(.sparseSeriesInMemory, 1000)
        // A place for each column of each series would be 32 MB.
        let answer = try database.query(
            "SELECT max(*) FROM (SELECT mean(*) FROM m GROUP BY id_participant)",
            options: SubqueryMemoryTests.limited(to: 4 << 20))
        #expect(answer.series[0].columns.count == 1_001)
    }

    @Test func `what a subquery keeps is counted`() throws {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        let fields = Dictionary(uniqueKeysWithValues: (0..<5).map { ("f\($0)", 1.0) })
        for participant in 0..<800 {
            for row in 0..<100 {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(participant)"],
                    time: Timestamp(nanoseconds: Int64(row)),
                    fields: fields.mapValues { .float($0) })
            }
        }
        _ = try database.write(batch)
        let inner =
            "SELECT mean(*) FROM m WHERE time >= 0 AND time < 100 "
            + "GROUP BY time(1ns), id_participant"
        let outer = "SELECT max(*) FROM (\(inner))"
        // One series of the answer takes 6 KB, all of them 5 MB.
        let limited = SubqueryMemoryTests.limited(to: 4 << 20)
        var sink = ForgetfulSink()
        try database.query(inner, options: limited, into: &sink)
        let error = #expect(throws: DatabaseError.self) {
            try database.query(outer, options: limited)
        }
        #expect(error?.kind == .limitExceeded)
        let answer = try database.query(outer, options: SubqueryMemoryTests.limited(to: 64 << 20))
        #expect(answer.series[0].columns.count == 6)
    }

    @Test func `filled buckets of many groups are counted, and kept for one group at a time`()
        throws
    {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        var batch = WriteBatch()
        for participant in 0..<64 {
            for time in [0, 1_000_000] {
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p\(participant)"],
                    time: Timestamp(nanoseconds: Int64(time)), fields: ["f": .float(1)])
            }
        }
        _ = try database.write(batch)
        func run(bucketCount: Int) throws {
            var sink = ForgetfulSink()
            try database.query(
                "SELECT mean(f) FROM m WHERE time >= 0 AND time < \(bucketCount) "
                    + "GROUP BY time(1ns), id_participant fill(linear)",
                options: SubqueryMemoryTests.limited(to: 8 << 20), into: &sink)
        }
        // Groups that are answered in parallel take 16 MB together.
        let error = #expect(throws: DatabaseError.self) { try run(bucketCount: 16_000) }
        #expect(error?.kind == .limitExceeded)
        // A group of more buckets takes 5 MB.
        try run(bucketCount: 100_000)
    }

    private static func limited(to sizeBytes: Int) -> QueryOptions {
        var options = QueryOptions(now: Timestamp(nanoseconds: 10_000))
        options.limits = QueryLimits()
        options.limits?.memorySizeBytesMax = sizeBytes
        return options
    }
}
