// What the questions of a study should be answered, computed row by row from a list in memory, with
// the days of Foundation's time zones.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Foundation

/// A made-up study: some participants, their rows, the zone they live in.
struct NaiveStudy {
    typealias Row = (time: Int64, fields: [String: FieldValue])

    static let second: Int64 = 1_000_000_000
    /// Zones with the last moment before clocks move: by an hour, by half of one, at midnight.
    static let zones: [(name: String, switchTime: String)] = [
        ("UTC", "2024-03-01T00:00:00Z"), ("Asia/Singapore", "2024-03-01T00:00:00Z"),
        ("Europe/Helsinki", "2024-03-31T01:00:00Z"), ("Europe/Helsinki", "2024-10-27T01:00:00Z"),
        ("America/New_York", "2024-11-03T06:00:00Z"),
        ("Australia/Lord_Howe", "2024-04-06T15:00:00Z"),
        ("America/Asuncion", "2023-10-01T04:00:00Z"), ("Asia/Beirut", "2024-03-30T22:00:00Z"),
        ("Asia/Beirut", "2024-10-26T21:00:00Z"),
    ]
    /// Names that need care in statements, or that Swift takes for one another.
    static let names = ["p01", "p'2", "p\"3\\", "caf\u{E9}", "cafe\u{301}", "a b,c=d", "p\n9"]

    var zone: String
    var rows: [(name: String, rows: [Row])] = []
    /// Each row as it came: some twice, in any order.
    var written: [(name: String, row: Row)] = []

    init(_ random: inout SeededRandom) {
        let place = Self.zones[Int.random(in: 0..<Self.zones.count, using: &random)]
        zone = place.name
        let middle = Timestamp(place.switchTime)?.nanoseconds ?? 0
        let count = Int.random(in: 1...5, using: &random)
        for name in Self.names.shuffled(using: &random).prefix(count) {
            addParticipant(name, around: middle, &random)
        }
        rows.sort { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
        written.shuffle(using: &random)
    }

    private mutating func addParticipant(
        _ name: String, around middle: Int64, _ random: inout SeededRandom
    ) {
        let hasSurveys = Int.random(in: 0..<5, using: &random) > 0
        let days = Int64.random(in: 1...5, using: &random)
        let start = middle - days * 43_200 * Self.second
        var byTime: [Int64: [String: FieldValue]] = [:]
        for _ in 0..<Int.random(in: 1...80, using: &random) {
            let seconds = Int64.random(in: 0..<days * 86_400, using: &random)
            let time = start + seconds * Self.second + Int64.random(in: 0..<3, using: &random)
            let fields = Self.fields(time, hasSurveys, &random)
            byTime[time, default: [:]].merge(fields) { $1 }
            // What came first must be written first; the same again changes nothing.
            let row = (name, (time, byTime[time] ?? [:]))
            written.removeAll { $0.name == name && $0.row.time == time }
            written.append(row)
            if Bool.random(using: &random) { written.append(row) }
        }
        rows.append((name, byTime.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }))
    }

    private static func fields(
        _ time: Int64, _ hasSurveys: Bool, _ random: inout SeededRandom
    ) -> [String: FieldValue] {
        var fields: [String: FieldValue] = [:]
        let kind = Int.random(in: 0..<10, using: &random)
        if hasSurveys, kind < 5 {
            fields["ws_survey_count"] = .integer(Int64.random(in: 0..<9, using: &random))
            if kind > 0 {
                let number = Int.random(in: 0..<20, using: &random)
                fields["ws_timestamp_start"] = .string("start \(number)")
            }
        }
        if kind == 6 { fields["wss_goal"] = .integer(Int64.random(in: 1...40, using: &random)) }
        if kind > 3 { fields["ts_heart_rate"] = .integer(70) }
        if kind > 7 { fields["ws_heart_rate"] = .float(70.5) }
        let arrival = time / 1_000_000 + Int64.random(in: -1_000...99_000_000, using: &random)
        if kind.isMultiple(of: 2) {
            fields["timestamp_lambda_ms"] = .float(Double(arrival))
        }
        if kind < 8 {
            let text = Timestamp(nanoseconds: (arrival + 7) * 1_000_000).text()
            fields["timestamp_lambda"] = .string(text)
        }
        if kind != 2 { fields["transmit_trigger"] = .string(["a", "b"][kind % 2]) }
        return fields
    }

    /// The whole study in a database, in several commits.
    func write(to database: Database, _ random: inout SeededRandom) throws {
        var rest = written[...]
        while !rest.isEmpty {
            var batch = WriteBatch()
            let count = Int.random(in: 1...60, using: &random)
            for (name, row) in rest.prefix(count) {
                try batch.add(
                    experiment: "demo", tags: ["id_participant": name],
                    time: Timestamp(nanoseconds: row.time), fields: row.fields)
            }
            rest = rest.dropFirst(count)
            _ = try database.write(batch)
            if Bool.random(using: &random) { try database.flush() }
        }
    }

    // MARK: Days

    func day(_ time: Int64) -> Int {
        let date = Date(timeIntervalSince1970: Double(time / Self.second))
        let offset = TimeZone(identifier: zone)?.secondsFromGMT(for: date) ?? 0
        return Int((Double(time / Self.second) + Double(offset)) / 86_400)
    }

    /// Participants asked about, each with all of its rows.
    func chosen(_ options: StudyOptions) -> [(name: String, rows: [Row])] {
        let wanted = options.participants.map { Array($0.utf8) }
        return rows.filter { wanted.isEmpty || wanted.contains(Array($0.name.utf8)) }
    }

    func isInRange(_ time: Int64, _ options: StudyOptions) -> Bool {
        time >= options.from?.nanoseconds ?? .min && time < options.until?.nanoseconds ?? .max
    }

    /// Days that an answer is about.
    func days(_ rows: [Row], _ options: StudyOptions) -> [Int] {
        guard let first = rows.first, let last = rows.last,
            last.time >= options.from?.nanoseconds ?? .min,
            first.time < options.until?.nanoseconds ?? .max
        else { return [] }
        var (lower, upper) = (day(first.time), day(last.time))
        if let from = options.from { lower = max(lower, day(from.nanoseconds)) }
        if let until = options.until { upper = min(upper, day(until.nanoseconds - 1)) }
        return lower <= upper ? Array(lower...upper) : []
    }

    static func votes(_ rows: [Row], gap: Int64) -> Set<Int64> {
        var kept: [Int64] = []
        for row in rows where row.fields["ws_survey_count"] != nil {
            if let last = kept.last, row.time - last <= gap { continue }
            kept.append(row.time)
        }
        return Set(kept)
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2)
            ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    static func percentile(_ values: [Double], _ percent: Double) -> Double {
        values.sorted()[Int(Double(values.count) * percent / 100 + 0.5) - 1]
    }
}
