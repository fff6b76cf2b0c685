// Statements as deep as they may be, on a thread with a stack of half a mebibyte.

internal import CozTestSupport
internal import Foundation
internal import Synchronization
internal import Testing

@testable internal import CozDB

@Suite struct DeepStatementTests {
    private let directory = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(directory.path)
        var batch = WriteBatch()
        for row in 0..<20 {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p\(row % 3)"],
                time: Timestamp(nanoseconds: Int64(row)),
                fields: ["f": .float(Double(row)), "b": .boolean(true)])
        }
        _ = try database.write(batch)
    }

    /// What nests, as a text of so many levels.
    private static let kinds: [String: @Sendable (Int) -> String] = [
        "parentheses in WHERE": { nested("SELECT f FROM m WHERE ", "(", "f > 1", ")", $0) },
        "parentheses in SELECT": { nested("SELECT ", "(", "f", ")", $0) + " FROM m" },
        "functions in SELECT": { nested("SELECT ", "abs(", "f", ")", $0) + " FROM m" },
        "functions in WHERE": { nested("SELECT f FROM m WHERE ", "abs(", "f", ") ", $0) + "> 1" },
        "functions of aggregates": { nested("SELECT ", "abs(", "mean(f)", ")", $0) + " FROM m" },
        "transformations": {
            nested("SELECT ", "cumulative_sum(", "max(f)", ")", $0)
                + " FROM m WHERE time >= 0 AND time < 20 GROUP BY time(10ns)"
        },
        "coalesce": { nested("SELECT ", "coalesce(", "f", ", f)", $0) + " FROM m" },
        "unary minus": { nested("SELECT ", "-(", "f", ")", $0) + " FROM m" },
        "arithmetic": { "SELECT " + chain("f", " + ", $0) + " FROM m" },
        "AND": { "SELECT f FROM m WHERE " + chain("f > 0", " AND ", $0) },
        "OR": { "SELECT f FROM m WHERE " + chain("f = 1", " OR ", $0) },
        "comparisons": { "SELECT f FROM m WHERE " + chain("b", " = ", $0 + 1) },
        "other comparisons": { "SELECT f FROM m WHERE b" + String(repeating: " != b", count: $0) },
        "comparisons in SHOW": {
            "SHOW SERIES WHERE id_participant"
                + String(repeating: " = id_participant", count: $0)
        },
        "IS NULL": { "SELECT f FROM m WHERE f" + String(repeating: " IS NULL", count: $0) },
        "subqueries": { nested("", "SELECT f FROM (", "SELECT f FROM m", ")", $0) },
        "subqueries with aggregates": {
            nested("", "SELECT max(f) AS f FROM (", "SELECT f FROM m", ")", $0)
        },
        "subqueries with WHERE": {
            nested("", "SELECT f FROM (", "SELECT f FROM m", ") WHERE f > 0", $0)
        },
        "regular expressions": {
            nested("SELECT f FROM m WHERE id_participant =~ /", "(", "p", ")", $0) + "/"
        },
        "EXPLAIN": { nested("EXPLAIN SELECT ", "abs(", "f", ")", $0) + " FROM m" },
        "SHOW": {
            nested(
                "SHOW TAG VALUES FROM m WITH KEY = id_participant WHERE ", "(",
                "id_participant = 'p1'", ")", $0)
        },
        "DELETE": { nested("DELETE FROM m WHERE ", "(", "f > 100", ")", $0) },
    ]

    private static func nested(
        _ head: String, _ open: String, _ inner: String, _ close: String, _ count: Int
    ) -> String {
        head + String(repeating: open, count: count) + inner
            + String(repeating: close, count: count)
    }

    private static func chain(_ part: String, _ symbol: String, _ count: Int) -> String {
        Array(repeating: part, count: count).joined(separator: symbol)
    }

    private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            body()
            done.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
    }

    @Test(arguments: kinds.keys.sorted())
    func `the deepest statement that is allowed runs on a small stack`(kind: String) throws {
        let text = try #require(Self.kinds[kind])
        let deepest = Atomic<Int>(0)
        let database = database
        onSmallStack {
            for depth in stride(from: 520, through: 20, by: -20) {
                var options = QueryOptions(now: Timestamp(nanoseconds: 0))
                options.isDryRun = kind == "DELETE"
                do throws(DatabaseError) {
                    _ = try database.query(text(depth), options: options)
                } catch {
                    // A regular expression that nests too deeply is a mistake, as in InfluxDB.
                    let isTooDeep = error.message.contains("nests too deeply")
                    if error.kind == .limitExceeded || isTooDeep { continue }
                    Issue.record("\(depth): \(error)")
                }
                deepest.store(depth, ordering: .relaxed)
                break
            }
            // The trees that the cache let go are taken apart here.
            for number in 0..<20 { _ = try? database.query("SELECT f FROM m LIMIT \(number + 1)") }
        }
        #expect(deepest.load(ordering: .relaxed) >= 180, "\(kind)")
    }

    @Test func `reading a text without running it needs no larger stack`() {
        let text = Self.nested("SELECT ", "abs(", "f", ")", 240) + " FROM m"
        onSmallStack {
            #expect(!Database.changesData(text))
            #expect(QueryLanguage.isComplete(text))
            #expect(!QueryLanguage.isComplete(String(text.prefix(700))))
        }
    }

    @Test func `a statement has a limited number of subqueries`() throws {
        func doubled(_ level: Int) -> String {
            if level == 0 { return "SELECT f FROM m" }
            let inner = doubled(level - 1)
            return "SELECT f FROM (\(inner)), (\(inner))"
        }
        _ = try database.query(doubled(6))
        let error = #expect(throws: DatabaseError.self) { try database.query(doubled(12)) }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("more than 200 subqueries") == true)
        // Each statement of a text counts for itself.
        _ = try database.query(doubled(6) + ";" + doubled(6))
    }
}
