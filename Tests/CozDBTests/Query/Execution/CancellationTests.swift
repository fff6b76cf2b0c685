// A statement that shall end ends soon, whatever it is doing: how long it works between two
// questions whether to go on is measured over whole runs, and runs are cancelled at random moments.

internal import CozTestSupport
internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import CozDB

/// The longest that a thread worked without asking, in its processor time: what others do on a busy
/// machine does not count.
private final class GapMeter: Sendable {
    private struct State {
        var lastByThread: [UInt: Double] = [:]
        var longest = 0.0
        var count = 0
    }

    private let state = Mutex(State())

    func ask() {
        let now = Growth.seconds()
        let thread = UInt(pthread_self())
        state.withLock { state in
            if let last = state.lastByThread.updateValue(now, forKey: thread) {
                state.longest = max(state.longest, now - last)
            }
            state.count += 1
        }
    }

    var longest: Double { state.withLock { $0.longest } }
    var count: Int { state.withLock { $0.count } }
}

@Suite(.serialized) struct CancellationTests {
    /// What takes long of so many rows of a series, beside a wide row.
    static let statements: [String] = plain + made

    private static let plain: [String] = [
        "SELECT count(f) FROM m WHERE s =~ /(?i)(\\p{Han}|\\pL){300}$/",
        "SELECT count(f) FROM m WHERE s =~ /(x|[a-z ]*y)*z$/",
        "SELECT mode(s) FROM m",
        "SELECT mode(f) FROM m",
        "SELECT distinct(s) FROM m",
        "SELECT median(f), percentile(f, 99) FROM m",
        "SELECT top(f, 20000) FROM m",
        "SELECT top(f, a, 20000) FROM m",
        "SELECT sample(f, 20000) FROM m",
        "SELECT integral(f) FROM m",
        "SELECT mode(f) OVER (5000s BEFORE i), stddev(f) OVER (5000s BEFORE i) FROM m",
        "SELECT moving_average(f, 5000) FROM m",
        "SELECT f FROM m GROUP BY a",
        "SELECT count(f) FROM m GROUP BY a",
        "SELECT count(f) FROM m GROUP BY time(1s)",
        "SELECT max(f), * FROM m",
        "SELECT * FROM m ORDER BY time DESC",
        "SELECT distance(f, i), previous(f) FROM m",
        "SELECT * FROM w",
        "SELECT count(*), mean(*) FROM w",
        "SELECT median(*) FROM w",
        "SELECT * FROM w ORDER BY time DESC",
        "SELECT * FROM (SELECT * FROM w)",
        "SELECT count(*) FROM w GROUP BY time(1s)",
        "SHOW FIELDS",
        "SHOW SERIES",
        "SHOW TAG VALUES WITH KEY = a",
        "EXPLAIN ANALYZE SELECT * FROM w",
        "SELECT mean(f) FROM p GROUP BY *",
        "SELECT f FROM p",
        "SELECT * FROM p WHERE f > 3",
        "SELECT top(f, id_participant, 10) FROM p",
        "DELETE FROM m WHERE s =~ /7$/",
    ]

    private static let made: [String] = {
        let numbers = (0..<300).map { (number: Int) -> String in String(number) }
        let texts = (0..<20_000).map { (number: Int) -> String in "'text " + String(number) + "'" }
        let many: String = texts.joined(separator: ",")
        let chain: String = numbers.map { "f + " + $0 + " > 0" }.joined(separator: " AND ")
        let calls: String = numbers.map { "percentile(f, 0." + $0 + "1)" }.joined(separator: ", ")
        var made: [String] = []
        made.append("SELECT count(f) FROM m WHERE s IN (" + many + ")")
        made.append("SELECT count(f) FROM m WHERE " + chain)
        made.append("SELECT " + calls + " FROM m")
        return made
    }()

    static let rowCount = 20_000

    static func database() throws -> Database {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        var batch = WriteBatch()
        let person = ["id_participant": "p"]
        let filler = String(repeating: "xy ", count: 60)
        for row in 0..<rowCount {
            let number = Double(row * 7919 % rowCount)
            let text = "text \(row)" + filler
            try batch.add(
                experiment: "m", tags: ["id_participant": "p", "a": "a\(row)"],
                time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                fields: [
                    "f": .float(number), "i": .integer(Int64(row)), "s": .string(text),
                ])
            if row % 4 == 0 {
                try batch.add(
                    experiment: "p", tags: ["id_participant": "p\(row)"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: ["f": .float(Double(row))])
            }
        }
        let fields = (0..<4000).map { ("f\($0)", FieldValue.float(Double($0))) }
        for time in 0..<4 {
            try batch.add(
                experiment: "w", tags: person, time: Timestamp(nanoseconds: Int64(time)),
                fields: Dictionary(uniqueKeysWithValues: fields))
        }
        _ = try database.write(batch)
        try database.flush()
        return database
    }

    private static func options(_ ask: @escaping @Sendable () -> Bool) -> QueryOptions {
        var options = QueryOptions(now: Timestamp(nanoseconds: 20_000_000_000_000))
        options.isDryRun = true
        options.isCancelled = ask
        return options
    }

    /// A regular expression may take long for each name, so each match asks.
    @Test func `matching names with patterns can be cancelled`() throws {
        let database = try Database.inMemory()
        var batch = WriteBatch()
        batch.settings.identity = .allTags
        let tags = (0..<100).map { ("tag\($0)", "x") }
        let fields = (0..<100).map { ("f\($0)", FieldValue.float(1)) }
        for number in 0..<100 {
            try batch.add(
                experiment: "e\(number)",
                tags: Dictionary(uniqueKeysWithValues: number == 0 ? tags : [("a", "x")]),
                time: Timestamp(nanoseconds: 0),
                fields: Dictionary(uniqueKeysWithValues: number == 0 ? fields : [("f0", 1)]))
        }
        _ = try database.write(batch)
        let patterns = (0..<20).map { "/zz\($0)/" }.joined(separator: ", ")
        for statement in [
            "SELECT count(f0) FROM e0 GROUP BY \(patterns)",
            "SELECT f0 FROM (SELECT f0 FROM e0 GROUP BY *) GROUP BY \(patterns)",
            "SELECT f0, \(patterns) FROM e0", "SELECT f0 FROM e0, \(patterns)",
        ] {
            let asked = Atomic<Int>(0)
            var options = QueryOptions()
            options.isCancelled = { asked.add(1, ordering: .relaxed).newValue > 1500 }
            let error = #expect(throws: DatabaseError.self, "\(statement.prefix(60))") {
                try database.query(statement, options: options)
            }
            #expect(error?.kind == .cancelled, "\(statement.prefix(60))")
        }
    }

    @Test(.enabled(if: Growth.isMeasured, "takes minutes; see Tools/nightly"))
    func `no statement works long without asking whether to go on`() throws {
        let database = try CancellationTests.database()
        for statement in CancellationTests.statements {
            let meter = GapMeter()
            // Enough is seen of a statement that goes on for long.
            let end = ContinuousClock.now + .seconds(8)
            meter.ask()
            var sink = ForgetfulSink()
            do throws(DatabaseError) {
                try database.query(
                    statement,
                    options: CancellationTests.options {
                        meter.ask()
                        return ContinuousClock.now > end
                    }, into: &sink)
            } catch {
                #expect(error.kind == .cancelled, "\(statement.prefix(100)): \(error)")
            }
            meter.ask()
            #expect(
                meter.longest < 1,
                "\(meter.longest) s without asking: \(statement.prefix(100))")
        }
    }

    /// What `cozbench cancel` cancels, the slowest to end first, among so many rows and fields.
    private static let slowest: [String] =
        [
            "SELECT count(f) FROM m WHERE s =~ /(?i)(\\p{Han}|\\pL){900}$/",
            "SELECT * FROM w ORDER BY time DESC", "SELECT median(*) FROM w",
            "SELECT count(*), mean(*) FROM w", "SELECT count(*) FROM w GROUP BY time(1s)",
            "SELECT top(f, a, 20000) FROM m", "SELECT distinct(s) FROM m",
            "SELECT moving_average(f, 5000) FROM m", "SELECT f FROM m GROUP BY a",
            "SELECT count(f) FROM m GROUP BY a", "SELECT * FROM w", "SHOW FIELDS",
            "SELECT max(f), * FROM m", "SELECT mean(f) FROM p GROUP BY *",
        ]

    #if DEBUG
    /// Without optimization a pattern of 900 classes of letters takes half a second.
    private static let secondsMax = 1.0
    #else
    private static let secondsMax = 0.1
    #endif

    @Test(.enabled(if: Growth.isMeasured, "a clock tells little beside other tests"))
    func `wherever the slowest statements are cancelled, they end soon`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try CancellationTests.database()
        for statement in CancellationTests.slowest {
            // How long a whole run takes, as far as anybody cancels it.
            let whole = try lateness(of: statement, in: database, after: 2)
            let length = whole.isOver ? whole.seconds : 2
            var late: [Double] = []
            for _ in 0..<10 {
                let moment = Double.random(in: 0..<length, using: &random)
                let run = try lateness(of: statement, in: database, after: moment)
                late.append(max(0, run.seconds - moment))
            }
            let longest = late.max() ?? 0
            #expect(
                longest < CancellationTests.secondsMax,
                "seed \(seed): \(longest) s late: \(statement)")
        }
    }

    /// Cancels a statement after so many seconds of the processor: others take none of them.
    private func lateness(
        of statement: String, in database: Database, after moment: Double
    ) throws -> (seconds: Double, isOver: Bool) {
        let start = Growth.seconds()
        var sink = ForgetfulSink()
        do throws(DatabaseError) {
            try database.query(
                statement,
                options: CancellationTests.options { Growth.seconds() - start >= moment },
                into: &sink)
        } catch {
            #expect(error.kind == .cancelled, "\(statement): \(error)")
            return (Growth.seconds() - start, false)
        }
        return (Growth.seconds() - start, true)
    }

    @Test func `a statement that is cancelled at a random moment ends soon`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        let database = try CancellationTests.database()
        for _ in 0..<30 {
            let index = Int.random(in: 0..<CancellationTests.statements.count, using: &random)
            let statement = CancellationTests.statements[index]
            let moment =
                ContinuousClock.now + .milliseconds(Int.random(in: 0...300, using: &random))
            var sink = ForgetfulSink()
            do throws(DatabaseError) {
                try database.query(
                    statement,
                    options: CancellationTests.options { ContinuousClock.now >= moment },
                    into: &sink)
            } catch {
                #expect(error.kind == .cancelled, "seed \(seed): \(error)")
            }
            let late = ContinuousClock.now - moment
            // Beside other tests a thread may wait for its turn.
            let bound = Duration.seconds(Growth.isMeasured ? 1 : 20)
            #expect(late < bound, "seed \(seed): \(late) late: \(statement.prefix(100))")
        }
    }
}
