// Functions of a series against what a few loops over all rows say: windows, valid votes, previous
// values, distances, over random rows in several segments and in memory.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB

/// Rows as they were written, merged the simple way.
private struct NaiveStudy {
    typealias Row = [String: FieldValue]

    /// Participant, then second since 1970.
    private(set) var rows: [String: [Int64: Row]] = [:]

    mutating func add(_ participant: String, _ second: Int64, _ fields: Row) {
        rows[participant, default: [:]][second, default: [:]].merge(fields) { $1 }
    }

    /// Rows of a participant by time that have the field and fulfil WHERE.
    func points(
        _ participant: String, _ field: String, onlyFlagged: Bool
    ) -> [(second: Int64, value: FieldValue)] {
        (rows[participant] ?? [:]).sorted { $0.key < $1.key }.compactMap { second, row in
            guard let value = row[field], !onlyFlagged || row["flag"] == .integer(1) else {
                return nil
            }
            return (second, value)
        }
    }

    func number(_ value: FieldValue) -> Double {
        switch value {
        case .float(let number): number
        case .integer(let number): Double(number)
        default: .nan
        }
    }

    func window(
        _ function: String, _ points: [(second: Int64, value: FieldValue)], _ anchor: Int64,
        before: Int64, after: Int64
    ) -> Double? {
        let inside = points.filter {
            $0.second > anchor - before && $0.second <= anchor + after
        }
        let values = inside.map { number($0.value) }
        let sorted = values.sorted()
        if function == "count" { return Double(values.count) }
        guard let first = values.first, let last = values.last else { return nil }
        let sum = values.reduce(0, +)
        let mean = sum / Double(values.count)
        switch function {
        case "sum": return sum
        case "mean": return mean
        case "min": return sorted[0]
        case "max": return sorted[sorted.count - 1]
        case "spread": return sorted[sorted.count - 1] - sorted[0]
        case "first": return first
        case "last": return last
        case "median":
            let middle = sorted.count / 2
            return sorted.count % 2 == 1
                ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        case "stddev":
            guard values.count > 1 else { return nil }
            let squares = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +)
            return (squares / Double(values.count - 1)).squareRoot()
        case "nearest":
            let best = inside.min {
                let (a, b) = (abs($0.second - anchor), abs($1.second - anchor))
                return a == b ? $0.second < $1.second : a < b
            }
            return best.map { number($0.value) }
        default: return .nan
        }
    }

    /// Seconds of the votes kept.
    func kept(_ participant: String, gap: Int64, onlyFlagged: Bool) -> [Int64] {
        var kept: [Int64] = []
        for point in points(participant, "survey", onlyFlagged: onlyFlagged) {
            if let last = kept.last, point.second - last <= gap { continue }
            kept.append(point.second)
        }
        return kept
    }
}

@Suite struct StudyFunctionsTests {
    private static let seconds: Int64 = 2000
    private static let nanoseconds: Int64 = 1_000_000_000

    /// Writes batches that overlap and overwrite each other, each of a part of the time; some stay
    /// in memory.
    private func fill(
        _ database: Database, _ random: inout SeededRandom
    ) throws -> NaiveStudy {
        var naive = NaiveStudy()
        for round in 0..<5 {
            var batch = WriteBatch()
            for _ in 0..<400 {
                var fields: [String: FieldValue] = [:]
                if Bool.random(using: &random) {
                    fields["survey"] = .integer(Int64.random(in: 0..<100, using: &random))
                }
                if Bool.random(using: &random) {
                    fields["hr"] = .float(Double(Int.random(in: 80...240, using: &random)) / 2)
                }
                fields["flag"] = .integer(Int64.random(in: 0...1, using: &random))
                let participant = "p\(Int.random(in: 0..<3, using: &random))"
                let part = Int64(round % 4) * Self.seconds / 5
                let second = Int64.random(
                    in: part..<(part + Self.seconds / 3), using: &random)
                naive.add(participant, second, fields)
                try batch.add(
                    experiment: "m", tags: ["id_participant": participant],
                    time: Timestamp(nanoseconds: second * Self.nanoseconds), fields: fields)
            }
            _ = try database.write(batch)
            if round % 2 == 0 { try database.flush() }
        }
        return naive
    }

    /// A question: bounds, direction and so on, in words and as numbers.
    private struct Question {
        var lower: Int64
        var upper: Int64
        var onlyFlagged: Bool
        var isAscending: Bool
        var isNested: Bool
        var limit: Int?

        init(_ random: inout SeededRandom) {
            lower = Int64.random(in: 0..<seconds, using: &random)
            upper = lower + Int64.random(in: 1..<seconds, using: &random)
            onlyFlagged = Bool.random(using: &random)
            isAscending = Bool.random(using: &random)
            isNested = Bool.random(using: &random)
            limit = Bool.random(using: &random) ? Int.random(in: 1...20, using: &random) : nil
        }

        func statement(_ columns: [String]) -> String {
            let named = columns.enumerated().map { "\($1) AS x\($0)" }.joined(separator: ", ")
            let names = columns.indices.map { "x\($0)" }.joined(separator: ", ")
            let time = "time >= \(lower)s AND time < \(upper)s"
            let flag = "flag = 1"
            var text: String
            if isNested {
                text = "SELECT \(names) FROM (SELECT \(named) FROM m"
                text += onlyFlagged ? " WHERE \(flag)) WHERE \(time)" : ") WHERE \(time)"
            } else {
                text = "SELECT \(named) FROM m WHERE \(time)"
                if onlyFlagged { text += " AND \(flag)" }
            }
            text += " GROUP BY id_participant"
            if !isAscending { text += " ORDER BY time DESC" }
            return text + (limit.map { " LIMIT \($0)" } ?? "")
        }

        /// The seconds that are answered, in their order.
        func answered(_ all: [Int64]) -> [Int64] {
            let inside = all.filter { $0 >= lower && $0 < upper }
            let ordered = isAscending ? inside : inside.reversed()
            return Array(ordered.prefix(limit ?? .max))
        }
    }

    private func expect(
        _ question: Question, _ columns: [String], _ database: Database, _ seed: UInt64,
        _ expected: (_ participant: String) -> (rows: [Int64], values: [[Double?]])
    ) throws {
        let text = question.statement(columns)
        let result = try database.query(text)
        for participant in ["p0", "p1", "p2"] {
            let (seconds, values) = expected(participant)
            let series = result.series.first { $0.tag("id_participant") == participant }
            let times = series?.times.map { $0.nanoseconds / Self.nanoseconds } ?? []
            #expect(times == seconds, "seed \(seed): \(text) of \(participant)")
            guard times == seconds, !seconds.isEmpty else { continue }
            for index in columns.indices {
                let got = series?.column("x\(index)")?.doubles ?? []
                for (row, pair) in zip(got, values[index]).enumerated() {
                    let isSame =
                        switch pair {
                        case (let a?, let b?): abs(a - b) < 1e-6
                        case (nil, nil): true
                        default: false
                        }
                    #expect(
                        isSame,
                        """
                        seed \(seed): \(text): \(columns[index]) of \(participant) at \
                        \(seconds[row]) s is \(String(describing: pair.0)), not \
                        \(String(describing: pair.1))
                        """)
                }
            }
        }
    }

    private func withStudy(
        _ body: (Database, NaiveStudy, inout SeededRandom, UInt64) throws -> Void
    ) throws {
        let seed = TestSeed.seed()
        print("study functions seed \(seed)")
        var random = SeededRandom(seed: seed)
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        let naive = try fill(database, &random)
        try body(database, naive, &random, seed)
        try database.flush()
        try database.compact()
        try body(database, naive, &random, seed)
    }

    @Test func `windows have the values that loops find in them`() throws {
        let functions = [
            "count", "sum", "mean", "min", "max", "spread", "first", "last", "median", "stddev",
            "nearest",
        ]
        try withStudy { database, naive, random, seed in
            for _ in 0..<40 {
                let question = Question(&random)
                var columns: [String] = []
                var windows: [(function: String, before: Int64, after: Int64)] = []
                for _ in 0..<3 {
                    let function = functions.randomElement(using: &random) ?? "count"
                    let width = Int64.random(in: 1...600, using: &random)
                    let side = ["BEFORE", "AFTER", "AROUND"].randomElement(using: &random) ?? ""
                    columns.append("\(function)(hr) OVER (\(width)s \(side) survey)")
                    windows.append(
                        (function, side == "AFTER" ? 0 : width, side == "BEFORE" ? 0 : width))
                }
                try expect(question, columns, database, seed) { participant in
                    let anchors = naive.points(
                        participant, "survey", onlyFlagged: question.onlyFlagged)
                    let rows = question.answered(anchors.map(\.second))
                    let rates = naive.points(participant, "hr", onlyFlagged: false)
                    let values = windows.map { window in
                        rows.map {
                            naive.window(
                                window.function, rates, $0, before: window.before,
                                after: window.after)
                        }
                    }
                    return (rows, values)
                }
            }
        }
    }

    @Test func `votes are valid however the question cuts time`() throws {
        try withStudy { database, naive, random, seed in
            for _ in 0..<40 {
                let question = Question(&random)
                let gap = Int64.random(in: 0...30, using: &random)
                let columns = ["valid_votes(survey, \(gap)s)", "survey"]
                try expect(question, columns, database, seed) { participant in
                    let kept = naive.kept(
                        participant, gap: gap, onlyFlagged: question.onlyFlagged)
                    let rows = question.answered(kept)
                    let values: [Double?] = rows.map {
                        naive.rows[participant]?[$0]?["survey"].map { naive.number($0) }
                    }
                    return (rows, [values, values])
                }
            }
        }
    }

    @Test func `the previous value is that of the nearest row before`() throws {
        try withStudy { database, naive, random, seed in
            for _ in 0..<40 {
                let question = Question(&random)
                let columns = ["previous(survey)", "survey - previous(survey)", "previous(hr)"]
                try expect(question, columns, database, seed) { participant in
                    let isFlagged = question.onlyFlagged
                    let surveys = naive.points(participant, "survey", onlyFlagged: isFlagged)
                    let rates = naive.points(participant, "hr", onlyFlagged: isFlagged)
                    let rows = question.answered(
                        Set(surveys.map(\.second)).union(rates.map(\.second)).sorted())
                    func last(
                        _ points: [(second: Int64, value: FieldValue)], _ second: Int64
                    ) -> Double? {
                        points.last { $0.second < second }.map { naive.number($0.value) }
                    }
                    let previous = rows.map { last(surveys, $0) }
                    let differences: [Double?] = zip(rows, previous).map { second, before in
                        let own = surveys.first { $0.second == second }
                        guard let own, let before else { return nil }
                        return naive.number(own.value) - before
                    }
                    return (rows, [previous, differences, rows.map { last(rates, $0) }])
                }
            }
        }
    }
}
