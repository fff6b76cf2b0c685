// One case of the conformance suite: what is stored first, what is asked, what must come.

internal import CozDB
internal import CozImport
internal import Foundation

@testable internal import CozCommand

/// What a case says, and how it is run against a fresh database.
struct ConformanceCase {
    let name: String
    let area: String
    private let content: [String: Any]

    init?(line: some StringProtocol) {
        guard let content = JSONComparison.read(String(line)) as? [String: Any],
            let name = content["name"] as? String
        else { return nil }
        self.content = content
        self.name = name
        area = content["area"] as? String ?? ""
    }

    /// Nil when the case passes, else what was different.
    func failure() -> String? {
        do {
            let folder = try TemporaryFolder()
            var databases = CaseDatabases(folder: folder)
            defer { databases.close() }
            if let line = content["line"] as? String { return try check(line, &databases) }
            return try checkQuery(&databases)
        } catch {
            return "threw \(error)"
        }
    }

    private func checkQuery(_ databases: inout CaseDatabases) throws -> String? {
        if let writes = content["writes"] as? String { try store(writes, &databases) }
        for step in content["before"] as? [[String: String]] ?? [] {
            for (key, value) in step {
                if key == "statement" {
                    _ = try databases.query(value, in: "db0", parameters: [:])
                } else {
                    let target = key.split(separator: " ").last.map(String.init) ?? "db0"
                    try databases.write(value, to: target)
                }
            }
        }
        let parameters = content["params"] as? [String: Any] ?? [:]
        let text = content["query"] as? String ?? ""
        let target = parameters["db"] as? String ?? "db0"
        let answer = try databases.query(text, in: target, parameters: parameters)
        if content["expected_error"] != nil {
            return answer.error == nil ? "expected an error, found \(answer.body)" : nil
        }
        if content["must_parse"] != nil {
            return answer.isParseError ? "does not parse: \(answer.error ?? "")" : nil
        }
        if content["must_be_accepted"] != nil {
            return answer.error.map { "is not accepted: \($0)" }
        }
        guard let body = answer.json as? [String: Any] else { return "no body: \(answer.body)" }
        if let expected = content["expected"] {
            return JSONComparison.isSame(body, expected)
                ? nil : "expected \(JSONComparison.text(expected)) found \(answer.body)"
        }
        let found = ConformanceCase.rows(body)
        let expected = content["expected_rows"] as? [[String: Any]] ?? []
        let wanted = expected.map { $0.filter { !($0.value is NSNull) } }
        return JSONComparison.isSame(found, wanted)
            ? nil : "expected rows \(JSONComparison.text(wanted)) found \(answer.body)"
    }

    /// The cases of one group store lines of several precisions, each in a write of its own. Which
    /// one is lost but for the names: `cpu_ms_precision`.
    private func store(_ writes: String, _ databases: inout CaseDatabases) throws {
        guard name.hasPrefix("server/Write_Precision/") else {
            try databases.write(writes, to: "db0")
            return
        }
        for line in writes.split(separator: "\n") {
            let unit = line.split(separator: "_").dropFirst().first.map(String.init) ?? ""
            let precision = unit.hasPrefix("n") ? "n" : unit
            try databases.write(String(line), to: "db0", precision: precision)
        }
    }

    /// The rows of all series in order, as `expected_rows` writes them.
    private static func rows(_ body: [String: Any]) -> [[String: Any]] {
        var rows: [[String: Any]] = []
        for result in body["results"] as? [[String: Any]] ?? [] {
            for series in result["series"] as? [[String: Any]] ?? [] {
                for values in series["values"] as? [[Any]] ?? [] {
                    var row: [String: Any] = [
                        "name": series["name"] ?? "", "time": values.first ?? NSNull(),
                        "values": Array(values.dropFirst()),
                    ]
                    row["tags"] = series["tags"] ?? [String: Any]()
                    rows.append(row)
                }
            }
        }
        return rows
    }

    // MARK: Lines

    private func check(_ line: String, _ databases: inout CaseDatabases) throws -> String? {
        let precision = content["precision"] as? String ?? ""
        let report = try databases.write(line, to: "db0", precision: precision)
        let isValid = content["valid"] as? Bool ?? true
        if !isValid { return report.refused > 0 ? nil : "was stored" }
        if report.refused > 0 { return "was refused: \(report.reason)" }
        if let count = content["count"] as? Int, count != report.points {
            return "expected \(count) points, found \(report.points)"
        }
        let answer = try databases.query(
            "SELECT * FROM /.*/ GROUP BY *", in: "db0", parameters: ["epoch": "ns"])
        let results = (answer.json as? [String: Any])?["results"] as? [[String: Any]]
        let series = results?.first?["series"] as? [[String: Any]] ?? []
        return differs(from: series.first ?? [:], answer.body)
    }

    private func differs(from series: [String: Any], _ body: String) -> String? {
        var wanted = content["point"] as? [String: Any] ?? [:]
        if wanted.isEmpty {
            wanted["name"] = (content["names"] as? [String: Any])?["0"]
            wanted["fields"] = (content["fields"] as? [String: Any])?["0"]
            wanted["time"] = (content["times"] as? [String: Any])?["0"]
        }
        let columns = series["columns"] as? [String] ?? []
        let values = (series["values"] as? [[Any]])?.first ?? []
        var found = Dictionary(zip(columns, values)) { first, _ in first }
        let time = found.removeValue(forKey: "time")
        // Columns of the other lines.
        found = found.filter { !($0.value is NSNull) }
        var parts: [(Any?, Any?)] = [(wanted["name"], series["name"])]
        if let tags = wanted["tags"] { parts.append((tags, series["tags"] ?? [String: Any]())) }
        // Zero stands for a line without a time.
        if let number = wanted["time"] as? Int, number != 0 { parts.append((number, time)) }
        if let fields = wanted["fields"] as? [String: [Any]] {
            parts.append((fields.mapValues { $0[1] }, found))
        }
        for (want, have) in parts {
            guard let want else { continue }
            if !JSONComparison.isSame(have ?? NSNull(), want) {
                return "expected \(JSONComparison.text(want)) found \(body)"
            }
        }
        return nil
    }
}

/// The databases of one case, by name, created when they are first named.
struct CaseDatabases {
    struct Answer {
        var body: String
        var json: Any
        var error: String?
        var isParseError = false
    }

    struct Writing {
        var points = 0
        var refused = 0
        var reason = ""
    }

    let folder: TemporaryFolder
    private var open: [String: Database] = [:]

    init(folder: TemporaryFolder) {
        self.folder = folder
    }

    mutating func close() {
        for database in open.values { try? database.close() }
        open = [:]
    }

    private mutating func database(_ name: String) throws(DatabaseError) -> Database {
        if let database = open[name] { return database }
        // Hundreds of databases that live for a moment: none of them needs to survive a crash.
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 1_000)
        options.compactsInBackground = false
        let database = try Database.open(folder.path(name), options: options)
        open[name] = database
        return database
    }

    @discardableResult
    mutating func write(
        _ lines: String, to name: String, precision: String = ""
    ) throws(DatabaseError) -> Writing {
        var options = LineProtocolParser.Options()
        options.precision = TimestampPrecision(name: precision) ?? .nanoseconds
        // Before all times that cases name, so that rows come in the order of their lines.
        options.now = Timestamp(nanoseconds: 0)
        var parser = LineProtocolParser(options: options)
        parser.append(Array(lines.utf8).span)
        parser.finish()
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .allTags, typeRule: .strict)
        _ = try parser.parse(into: &batch, points: 1_000_000)
        let report = try database(name).write(batch)
        return Writing(
            points: batch.rowCount,
            refused: batch.refusals.count + report.refusedPoints + report.refusedValues,
            reason: (batch.refusals.first ?? report.examples.first)?.reason ?? "")
    }

    mutating func query(
        _ text: String, in name: String, parameters: [String: Any]
    ) throws -> Answer {
        var options = QueryOptions(now: Timestamp(nanoseconds: 1_700_000_000_000_000_000))
        let bound = parameters.filter { $0.key != "db" && $0.key != "epoch" }
        if !bound.isEmpty {
            options.parameters = try QueryParameters.read(JSONComparison.text(bound))
        }
        var session = QuerySession(path: folder.path(name), options: options)
        session.use(.influxJSON)
        if let epoch = (parameters["epoch"] as? String).flatMap(TimestampPrecision.init(name:)) {
            session.epoch = TimeUnit.allCases.first { $0.unit == epoch }
        }
        let output = OutputWriter(descriptor: nil)
        let outcome = session.answer(text, try database(name), output)
        let body = String(decoding: output.collected, as: UTF8.self)
        let json = JSONComparison.read(body) ?? NSNull()
        let isParseError = (json as? [String: Any])?["error"] != nil
        return Answer(
            body: body, json: json, error: outcome.error?.message, isParseError: isParseError)
    }
}

/// JSON compared by value: 1 = 1.0, floats to 1e-9, order of keys free, order of arrays not.
enum JSONComparison {
    /// Dictionaries, arrays, String, Int, Double, Bool and NSNull; nil for what is no JSON.
    static func read(_ text: String) -> Any? {
        (try? JSONValue.read(text)).map(plain)
    }

    private static func plain(_ value: JSONValue) -> Any {
        switch value {
        case .null: NSNull()
        case .boolean(let flag): flag
        case .integer(let number): Int(number)
        case .number(let number): number
        case .string(let text): text
        case .array(let items): items.map(plain)
        case .object(let members):
            Dictionary(members.map { ($0.key, plain($0.value)) }) { _, last in last }
        }
    }

    static func isSame(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case (let left as [String: Any], let right as [String: Any]):
            return left.count == right.count
                && left.allSatisfy { key, value in right[key].map { isSame(value, $0) } ?? false }
        case (let left as [Any], let right as [Any]):
            return left.count == right.count && zip(left, right).allSatisfy(isSame)
        case (is NSNull, is NSNull): return true
        case (let left as String, let right as String): return left == right
        case (let left as Bool, let right as Bool): return left == right
        case (let left as Int, let right as Int): return left == right
        default:
            guard let left = number(left), let right = number(right) else { return false }
            return abs(left - right) <= 1e-9 * max(1, abs(left), abs(right))
        }
    }

    private static func number(_ value: Any) -> Double? {
        value as? Double ?? (value as? Int).map(Double.init)
    }

    static func text(_ value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
        let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "\(value)"
    }
}
