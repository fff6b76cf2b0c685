// How long a statement keeps running after its cancellation, at random moments.

internal import CozDB

/// A sink that discards the answer.
struct DiscardingSink: QueryResultSink {
    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {}
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

enum CancelWorkload {
    private static let rowCount = 1_000_000

    private static let statements = [
        "SELECT count(f) FROM m WHERE s =~ /(?i)(\\p{Han}|\\pL){900}$/",
        "SELECT count(f) FROM m WHERE s =~ /(x|[a-z ]*y)*z$/",
        "SELECT mode(s) FROM m", "SELECT mode(f) FROM m", "SELECT distinct(s) FROM m",
        "SELECT median(f), percentile(f, 99) FROM m", "SELECT top(f, 500000) FROM m",
        "SELECT top(f, a, 500000) FROM m", "SELECT integral(f) FROM m",
        "SELECT moving_average(f, 5000) FROM m", "SELECT f FROM m GROUP BY a",
        "SELECT count(f) FROM m GROUP BY a", "SELECT count(f) FROM m GROUP BY time(1s)",
        "SELECT max(f), * FROM m", "SELECT * FROM m ORDER BY time DESC",
        "SELECT distance(f, i), previous(f) FROM m", "SELECT * FROM w",
        "SELECT count(*), mean(*) FROM w", "SELECT median(*) FROM w",
        "SELECT * FROM w ORDER BY time DESC", "SELECT count(*) FROM w GROUP BY time(1s)",
        "SHOW FIELDS", "SHOW SERIES", "SHOW TAG VALUES WITH KEY = a",
        "SELECT mean(f) FROM p GROUP BY *", "SELECT f FROM p",
        "SELECT top(f, id_participant, 10) FROM p",
    ]

    static func run(directory: String, repeats: Int) throws(DatabaseError) {
        let database = try Database.open(directory + "/cancel.cozdb")
        if try database.schemas().isEmpty { try fill(database) }
        var all: [Double] = []
        for statement in statements {
            var late: [Double] = []
            for _ in 0..<repeats {
                let moment = Clock.now() + Double.random(in: 0...0.5)
                var options = QueryOptions(now: Timestamp(nanoseconds: 1_000_000_000_000_000))
                options.isCancelled = { Clock.now() >= moment }
                var sink = DiscardingSink()
                do throws(DatabaseError) {
                    try database.query(statement, options: options, into: &sink)
                } catch {
                    guard error.kind == .cancelled else { throw error }
                    late.append(Clock.now() - moment)
                }
            }
            all += late
            print(
                "\(text(late, 0.5)) ms p50, \(text(late, 1)) ms max of \(late.count): \(statement)")
        }
        print("all: \(text(all, 0.5)) ms p50, \(text(all, 0.99)) ms p99, \(text(all, 1)) ms max")
        try database.close()
    }

    private static func text(_ values: [Double], _ part: Double) -> String {
        guard !values.isEmpty else { return "-" }
        let sorted = values.sorted()
        return digits(1000 * sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))])
    }

    private static func fill(_ database: Database) throws(DatabaseError) {
        let filler = String(repeating: "xy ", count: 20)
        for start in stride(from: 0, to: rowCount, by: 10_000) {
            var batch = WriteBatch()
            for row in start..<(start + 10_000) {
                let number = Double(row * 7919 % rowCount)
                let text = "text \(row)" + filler
                try batch.add(
                    experiment: "m", tags: ["id_participant": "p", "a": "a\(row % 100_000)"],
                    time: Timestamp(nanoseconds: Int64(row) * 1_000_000_000),
                    fields: [
                        "f": .float(number), "i": .integer(Int64(row)), "s": .string(text),
                    ])
                guard row % 10 == 0 else { continue }
                try batch.add(
                    experiment: "p", tags: ["id_participant": "p\(row)"],
                    time: Timestamp(nanoseconds: Int64(row)), fields: ["f": .float(Double(row))])
            }
            _ = try database.write(batch)
        }
        var batch = WriteBatch()
        let fields = (0..<25_000).map { ("f\($0)", FieldValue.float(Double($0))) }
        for time in 0..<100 {
            try batch.add(
                experiment: "w", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(time)),
                fields: Dictionary(uniqueKeysWithValues: fields))
        }
        _ = try database.write(batch)
        try database.flush()
        try database.compact()
    }
}
