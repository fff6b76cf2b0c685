// Statements that nobody would write: soups of words, valid statements with bytes flipped, nesting,
// numbers and lists beyond all reason. Whatever comes, the answer is rows or an error that says
// something, soon. COZDB_FUZZ=100000 asks that many, COZDB_SEED=... repeats a run.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB

@Suite struct StatementFuzzTests {
    static let environment = ProcessInfo.processInfo.environment
    static let statementCount = environment["COZDB_FUZZ"].flatMap { Int($0) } ?? 2500
    /// Far above what any statement takes on an idle machine.
    static let secondsMax = 20.0

    @Test func `no statement crashes or hangs, and every error says something`() throws {
        let seed =
            TestSeed.seed()
        print("statement fuzz seed \(seed), \(Self.statementCount) statements")
        var random = SeededRandom(seed: seed)
        var left = Self.statementCount
        while left > 0 {
            let count = min(left, 250)
            try ask(count, seed: seed, &random)
            left -= count
        }
    }

    @Test(arguments: StatementFuzz.extremes.indices)
    func `what is beyond all reason is answered or refused`(_ index: Int) throws {
        let database = try Database.open(
            "/db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        defer { try? database.close() }
        var batch = WriteBatch()
        let times = [Int64.min + 2, Int64.max - 1] + (0..<50).map { Int64($0) * 7_000_000_000 }
        for (row, time) in times.enumerated() {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(row % 3)", "host": "h\(row % 2)"],
                time: Timestamp(nanoseconds: time),
                fields: [
                    "f": .float(row % 5 == 0 ? .greatestFiniteMagnitude : Double(row)),
                    "i": .integer(row % 7 == 0 ? .min : Int64(row)),
                    "s": .string(String(repeating: "a", count: row)),
                ])
        }
        _ = try database.write(batch)
        let extreme = StatementFuzz.extremes[index]
        _ = check(extreme.text, database, extreme.name)
    }

    private func database(_ random: inout SeededRandom) throws -> (Database, RandomDatabase) {
        let database = try Database.open(
            "/db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        return (database, try RandomDatabase(&random, in: database, rows: 40))
    }

    private func ask(_ count: Int, seed: UInt64, _ random: inout SeededRandom) throws {
        let (database, made) = try database(&random)
        defer { try? database.close() }
        var fuzz = StatementFuzz(made, SeededRandom(seed: random.next()))
        var answers = 0
        for _ in 0..<count where check(fuzz.statement(), database, "seed \(seed)") { answers += 1 }
        #expect(answers > count / 20, "seed \(seed): nearly everything is refused")
    }

    /// Whether there was an answer.
    private func check(_ text: String, _ database: Database, _ name: String) -> Bool {
        var options = QueryOptions(now: Timestamp(nanoseconds: 650_000_000_000))
        options.influxCompatible = text.utf8.count % 2 == 0
        options.bucketCountMax = 10_000
        options.rowCountMax = 100_000
        options.groupCountMax = 1000
        options.parameters = ["p": .value(.integer(.min)), "name": .identifier("f\" or")]
        let start = Date()
        options.isCancelled = { Date().timeIntervalSince(start) > Self.secondsMax }
        let shown = text.utf8.count > 2000 ? String(text.prefix(2000)) + " ..." : text
        var isAnswered = false
        do {
            _ = try database.execute(text, options: options)
            isAnswered = true
        } catch {
            let kinds: [DatabaseError.Kind] = [.usage, .notFound, .limitExceeded]
            #expect(kinds.contains(error.kind), "\(name): \(error.kind): \(shown)")
            #expect(!error.message.isEmpty, "\(name): \(shown)")
            if let offset = error.offset {
                #expect(
                    (0...text.utf8.count).contains(offset), "\(name): offset \(offset): \(shown)")
            }
        }
        let seconds = Date().timeIntervalSince(start)
        #expect(seconds < Self.secondsMax, "\(name): \(seconds) s: \(shown)")
        if Self.environment["COZDB_FUZZ_TIMES"] != nil, seconds > 0.5 {
            print("\(seconds) s: \(name): \(isAnswered)")
        }
        return isAnswered
    }
}

/// Makes statements.
struct StatementFuzz {
    private let made: RandomDatabase
    private var random: SeededRandom

    init(_ made: RandomDatabase, _ random: SeededRandom) {
        self.made = made
        self.random = random
    }

    mutating func statement() -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return soup(Int.random(in: 1...30, using: &random))
        case 2:
            return "SELECT " + soup(Int.random(in: 1...12, using: &random)) + " FROM m "
                + soup(Int.random(in: 0...8, using: &random))
        case 3:
            return String(decoding: bytes(Int.random(in: 0...60, using: &random)), as: UTF8.self)
        default:
            guard !made.experiments.isEmpty else { return "" }
            var statement = RandomStatement(made, &random)
            let text = statement.statement()
            return mutated(Int.random(in: 0..<4, using: &random) == 0 ? numbered(text) : text)
        }
    }

    private mutating func soup(_ count: Int) -> String {
        (0..<count).map { _ in
            Self.words.randomElement(using: &random) ?? ""
        }.joined(separator: Int.random(in: 0..<6, using: &random) == 0 ? "" : " ")
    }

    private mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// Another number for each number.
    private mutating func numbered(_ text: String) -> String {
        var result = ""
        var isInNumber = false
        for character in text {
            let isDigit = character.isASCII && character.isNumber
            if isDigit, !isInNumber, Bool.random(using: &random) {
                result += Self.numbers.randomElement(using: &random) ?? ""
            } else if !isDigit || !isInNumber {
                result.append(character)
            }
            isInNumber = isDigit
        }
        return result
    }

    private mutating func mutated(_ text: String) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes.removeSubrange(place..<end)
            case 1 where place < bytes.count:
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
            case 3 where Int.random(in: 0..<4, using: &random) == 0:
                bytes.removeSubrange(place...)
            case 4:
                let count = Int.random(in: 2...40, using: &random)
                let piece = Array(bytes[place..<end])
                for _ in 0..<count { bytes.insert(contentsOf: piece, at: place) }
            default:
                let word = Self.words.randomElement(using: &random) ?? ""
                bytes.insert(contentsOf: Array(" \(word) ".utf8), at: place)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let numbers = [
        "0", "-1", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e308",
        "1e999", "0.0000000000000000000001", "99999999999999999999999999", "4294967296",
        "2147483648",
    ]

    private static let words =
        """
        SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET SLIMIT SOFFSET AND OR AS ASC DESC fill tz \
        time \
        ( ) ( ) , ; * * / + - % & | ^ = != <> < <= > >= =~ !~ :: . :: $p $name $none "" '' " ' \\ \
        m n "other\u{20}one" f g d n i k s t b host id_device x id_participant nosuch v_1 \
        mean( sum( count( count(distinct distinct( distinct top( bottom( first( last( min( max( \
        percentile( stddev( spread( median( mode( integral( sample( derivative( difference( \
        non_negative_derivative( non_negative_difference( elapsed( moving_average( cumulative_sum( \
        holt_winters( holt_winters_with_fit( exponential_moving_average( relative_strength_index( \
        kaufmans_adaptive_moving_average( chande_momentum_oscillator( \
        triple_exponential_derivative( abs( pow( atan2( log( coalesce( now( now() round( sqrt( \
        time( time(10s) time(1ns) time(1h,-3s) time(9223372036854775807ns) time(1w,now()) \
        fill(previous) fill(linear) fill(none) fill(1e300) fill(-9223372036854775808) \
        IS NULL NOT NULL IN IN( ('a') ::field ::tag ::float ::integer ::string ::boolean true \
        false \
        1 0 2.5 -1 9223372036854775807 -9223372036854775808 9223372036854775808 1e400 .5 5. 0x1 \
        1s 10m 1h30m 1ns 1w 106751d 9223372036854775807ns 99999999999w 1µ 1u 3y \
        '1970-01-01' '1677-09-21T00:12:43.145224194Z' '2262-04-11T23:47:16.854775806Z' \
        '9999-99-99' '0000-00-00T00:00:00Z' '2025-13-01' 'a' 'é' 'tz' /a/ /./ /.*/ /(/ /[/ \
        /\\/ /a{99999}/ \
        /(?i)A/ /\\p{L}/ tz('Europe/Helsinki') tz('nowhere') tz('../../etc/passwd') \
        SHOW MEASUREMENTS FIELD TAG KEYS VALUES SERIES CARDINALITY EXACT WITH KEY ON DATABASES \
        DELETE DROP MEASUREMENT ALTER EXPERIMENT TYPE float string EXPLAIN ANALYZE INTO VERBOSE \
        -- /* */ \u{0} é \u{1F600} \u{202E} ( ) AND time > time < time = OR WHERE
        """.split(separator: " ").map { String($0) }

    // MARK: Beyond all reason

    struct Extreme: Sendable {
        var name: String
        var make: @Sendable () -> String
        var text: String { make() }
    }

    static let extremes: [Extreme] = {
        @Sendable func times(_ count: Int, _ text: String) -> String {
            String(repeating: text, count: count)
        }
        @Sendable func nested(_ count: Int) -> String {
            times(count, "SELECT * FROM (") + "SELECT f FROM m" + times(count, ")")
        }
        @Sendable func list(_ count: Int) -> String {
            (0..<count).map(String.init).joined(separator: ", ")
        }
        let texts: [(String, @Sendable () -> String)] = [
            ("parentheses", { "SELECT " + times(499, "(") + "f" + times(499, ")") + " FROM m" }),
            ("too many parentheses", { "SELECT " + times(100_000, "(") + "f FROM m" }),
            (
                "parentheses in WHERE",
                {
                    "SELECT f FROM m WHERE " + times(490, "(") + "f > 1" + times(490, ")")
                }
            ),
            ("subqueries", { nested(120) }), ("many subqueries", { nested(499) }),
            ("too many subqueries", { nested(20_000) }),
            (
                "aggregated subqueries",
                {
                    times(200, "SELECT mean(mean) AS mean FROM (") + "SELECT mean(f) FROM m"
                        + times(200, ")")
                }
            ),
            ("a long sum", { "SELECT f" + times(490, " + f") + " FROM m" }),
            ("too long a sum", { "SELECT f" + times(100_000, " + f") + " FROM m" }),
            ("a long AND", { "SELECT f FROM m WHERE f > 0" + times(480, " AND f > 0") }),
            (
                "a long OR of times",
                { "SELECT f FROM m WHERE time > 0" + times(480, " OR time > 0") }
            ),
            ("signs", { "SELECT " + times(498, "-") + "f FROM m" }),
            ("too many signs", { "SELECT " + times(100_000, "- ") + "f FROM m" }),
            ("NOTs", { "SELECT f FROM m WHERE f IS" + times(10_000, " NOT") + " NULL" }),
            (
                "nested calls",
                {
                    "SELECT " + times(400, "abs(") + "f" + times(400, ")") + " FROM m"
                }
            ),
            (
                "nested transformations",
                {
                    "SELECT " + times(100, "difference(") + "mean(f)" + times(100, ")")
                        + " FROM m WHERE time > 0 AND time < 1m GROUP BY time(10s)"
                }
            ),
            ("a long IN", { "SELECT f FROM m WHERE f IN (\(list(100_000)))" }),
            (
                "a long NOT IN of texts",
                {
                    let texts = (0..<50_000).map { "'t\($0)'" }.joined(separator: ",")
                    return "SELECT f FROM m WHERE host NOT IN (\(texts))"
                }
            ),
            ("many fields", { "SELECT " + times(20_000, "f, ") + "f FROM m" }),
            (
                "many calls",
                {
                    "SELECT " + (0..<2000).map { "percentile(f, \($0))" }.joined(separator: ",")
                        + " FROM m"
                }
            ),
            ("many groups", { "SELECT f FROM m GROUP BY " + times(5000, "host, ") + "host" }),
            ("many sources", { "SELECT f FROM " + times(5000, "m, ") + "m" }),
            ("many statements", { times(20_000, "SELECT f FROM nosuch;") }),
            ("a long name", { "SELECT \"" + times(500_000, "x") + "\" FROM m" }),
            ("a long text", { "SELECT f FROM m WHERE s = '" + times(500_000, "é") + "'" }),
            ("longer than allowed", { "SELECT f FROM m -- " + times(1 << 20, "x") }),
            ("repetitions", { "SELECT f FROM m WHERE s =~ /((a{1,100}){1,100}){1,100}/" }),
            ("repetitions that could be", { "SELECT f FROM m WHERE s =~ /(a{0,30}){0,30}/" }),
            ("stars", { "SELECT f FROM m WHERE s =~ /" + times(200, "(a*)*") + "b/" }),
            (
                "nested stars",
                {
                    "SELECT f FROM m WHERE s =~ /" + times(400, "(") + "a" + times(400, ")*") + "/"
                }
            ),
            (
                "too many nested stars",
                {
                    "SELECT f FROM m WHERE s =~ /" + times(100_000, "(") + "a"
                        + times(100_000, ")*")
                        + "/"
                }
            ),
            ("alternatives", { "SELECT f FROM m WHERE s =~ /" + times(50_000, "a|") + "b/" }),
            ("classes", { "SELECT f FROM m WHERE s =~ /" + times(2000, "[\\pL\\d]+") + "/" }),
            (
                "fine buckets",
                {
                    "SELECT count(f) FROM m WHERE time > 0 AND time < 9e18 GROUP BY time(1ns)"
                }
            ),
            ("all buckets", { "SELECT count(f) FROM m GROUP BY time(1ns)" }),
            ("one bucket", { "SELECT mean(f) FROM m GROUP BY time(9223372036854775807ns)" }),
            (
                "the ends of time",
                {
                    "SELECT derivative(mean(f)) FROM m WHERE time > -9223372036854775808 AND "
                        + "time < 9223372036854775807 GROUP BY time(106751d, -106751d)"
                }
            ),
            (
                "beyond the ends",
                {
                    "SELECT f FROM m WHERE time > now() + 9223372036854775807ns + 292y - 1w"
                }
            ),
            (
                "bounds that meet",
                {
                    "SELECT difference(sum(f)) FROM m WHERE time = 9223372036854775807 GROUP BY "
                        + "time(1w) ORDER BY time DESC"
                }
            ),
            (
                "limits",
                {
                    "SELECT f FROM m LIMIT 9223372036854775807 OFFSET 9223372036854775807 SLIMIT "
                        + "9223372036854775807 SOFFSET 9223372036854775807"
                }
            ),
            ("top", { "SELECT top(f, 9223372036854775807) FROM m" }),
            ("percentile", { "SELECT percentile(f, 1e308), percentile(f, -1e308) FROM m" }),
            ("sample", { "SELECT sample(f, 9223372036854775807) FROM m" }),
            ("moving average", { "SELECT moving_average(f, 9223372036854775807) FROM m" }),
            ("units", { "SELECT derivative(f, 9223372036854775807ns), elapsed(f, 1ns) FROM m" }),
            (
                "technical functions",
                {
                    "SELECT exponential_moving_average(f, 9223372036854775807), "
                        + "kaufmans_efficiency_ratio(f, 9223372036854775807) FROM m"
                }
            ),
            (
                "Holt-Winters",
                {
                    "SELECT holt_winters(mean(f), 9223372036854775807, 9223372036854775807) FROM m "
                        + "WHERE time > 0 AND time < 10m GROUP BY time(10s)"
                }
            ),
            (
                "Holt-Winters of many",
                {
                    "SELECT holt_winters_with_fit(mean(f), 100000, 4) FROM m WHERE time > 0 AND "
                        + "time < 10m GROUP BY time(10s)"
                }
            ),
            ("fills", { "SELECT count(f) FROM m GROUP BY time(1h) fill(1e308)" }),
            ("zeros", { "SELECT f % 0, f / 0, i % -1, i / -1 FROM m WHERE i / -1 > 0" }),
            (
                "shifts of the smallest",
                {
                    "SELECT -9223372036854775808 * i, abs(i - 9223372036854775807 - 2) FROM m"
                }
            ),
        ]
        return texts.map { Extreme(name: $0.0, make: $0.1) }
    }()
}
