// The conformance cases of queries: what InfluxDB 1.8 answers. Cases that are known to fail are
// counted, not hidden: the number that passes must not fall.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct QueryConformanceTests {
    static let cases: [JSONValue] = {
        guard let path = SharedFiles.path("conformance/open-cases.jsonl"),
            let bytes = try? SharedFiles.read(path)
        else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .compactMap { JSONValue($0) }.filter { $0["query"] != nil }
    }()

    /// Groups of cases that this runner leaves to the command's own, with the reason.
    static let leftOut = [
        "server/Write_Precision/": "the unit of each write is told by the names of the lines alone",
        "server/Query_DeleteSeries_TagFilter/Make sure data wasn't": "it asks a second database",
    ]

    @Test(.enabled(if: !cases.isEmpty)) func `queries are answered as InfluxDB answers them`()
        throws
    {
        var failures: [String] = []
        let cases = Self.cases.filter { test in
            let name = test["name"]?.text ?? ""
            return !Self.leftOut.keys.contains { name.hasPrefix($0) }
        }
        for test in cases {
            do {
                if let difference = try difference(test) {
                    failures.append("\(test["query"]?.text ?? ""): \(difference)")
                }
            } catch {
                failures.append("\(test["query"]?.text ?? ""): \(error)")
            }
        }
        let leftOut = Self.cases.count - cases.count
        print("query cases: \(cases.count - failures.count) of \(cases.count); \(leftOut) left out")
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    // MARK: One case

    /// What differs, in words; nil where nothing does.
    private func difference(_ test: JSONValue) throws -> String? {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        let name = test["params"]?["db"]?.text ?? "db0"
        if let lines = test["writes"]?.text { try write(lines, to: database) }
        if case .array(let steps)? = test["before"] {
            for step in steps {
                if let lines = step["write \(name)"]?.text { try write(lines, to: database) }
                if let statement = step["statement"]?.text {
                    _ = try database.execute(statement, options: options(test))
                }
            }
        }
        let options = options(test)
        let text = test["query"]?.text ?? ""
        var collector = QueryResultCollector()
        var failure: DatabaseError?
        do {
            try database.execute(text, options: options, into: &collector)
        } catch {
            failure = error
        }
        if test["expected_error"] != nil { return failure == nil ? "no error" : nil }
        if test["must_parse"] != nil {
            _ = try Parser.parse(text, options: options)
            return nil
        }
        if test["must_be_accepted"] != nil { return failure?.message }
        if case .array(let rows)? = test["expected_rows"] {
            if let failure { return failure.message }
            return compare(rows: rows, collector.result)
        }
        return compare(test["expected"]?["results"], collector.result, failure, options)
    }

    private func write(_ lines: String, to database: Database) throws {
        var parser = LineProtocolParser(options: LineProtocolParser.Options())
        var batch = WriteBatch()
        batch.settings = ExperimentSettings(identity: .allTags, typeRule: .strict)
        parser.append(lines.utf8.span)
        parser.finish()
        _ = try parser.parse(into: &batch, points: .max)
        _ = try database.write(batch)
    }

    private func options(_ test: JSONValue) -> QueryOptions {
        var options = QueryOptions(now: Timestamp("2026-01-01T00:00:00Z") ?? .min)
        options.influxCompatible = true
        for (name, value) in test["params"]?.members ?? [:] where name != "db" && name != "epoch" {
            switch value {
            case .number(let text):
                options.parameters[name] = .value(
                    Int64(text).map { .integer($0) } ?? .float(Double(text) ?? 0))
            case .string(let text): options.parameters[name] = .value(.string(text))
            case .boolean(let flag): options.parameters[name] = .value(.boolean(flag))
            case .object(let members): options.parameters[name] = parameter(members)
            default: break
            }
        }
        return options
    }

    private func parameter(_ members: [String: JSONValue]) -> QueryParameter? {
        guard let (kind, value) = members.first else { return nil }
        switch kind {
        case "identifier": return .identifier(value.text ?? "")
        case "regex": return .regex(value.text ?? "")
        case "duration": return .duration(value.text ?? "")
        case "float": return .value(.float(Double(value.number ?? "") ?? 0))
        case "integer": return .value(.integer(Int64(value.number ?? "") ?? 0))
        default: return .value(.string(value.text ?? ""))
        }
    }

    // MARK: Comparison

    private func compare(
        _ expected: JSONValue?, _ result: QueryResult, _ failure: DatabaseError?,
        _ options: QueryOptions
    ) -> String? {
        guard case .array(let statements)? = expected else { return "no expectation" }
        for (index, statement) in statements.enumerated() {
            if statement["error"] != nil {
                return failure == nil ? "no error, but \(result)" : nil
            }
            guard index < result.statements.count else { return failure?.message ?? "missing" }
            if let error = result.statements[index].error { return error.message }
            var series: [JSONValue] = []
            if case .array(let all)? = statement["series"] { series = all }
            if let difference = compare(series, result.statements[index].series) {
                return difference + "; got \(result)"
            }
        }
        return nil
    }

    private func compare(_ expected: [JSONValue], _ series: [QueryResult.Series]) -> String? {
        guard expected.count == series.count else {
            return "\(series.count) series instead of \(expected.count)"
        }
        for (wanted, got) in zip(expected, series) {
            if (wanted["name"]?.text ?? "") != got.name { return "series \(got.name)" }
            let tags = wanted["tags"]?.members ?? [:]
            if tags.count != got.header.tags.count { return "tags \(got.header.tags)" }
            for tag in got.header.tags where tags[tag.name]?.text != tag.value {
                return "tag \(tag)"
            }
            guard case .array(let columns)? = wanted["columns"] else { return "columns" }
            if columns.compactMap(\.text) != got.header.columns.map(\.name) {
                return "columns \(got.header.columns.map(\.name))"
            }
            guard case .array(let rows)? = wanted["values"] else { return "values" }
            if rows.count != got.rowCount { return "\(got.rowCount) rows instead of \(rows.count)" }
            for (row, cells) in rows.enumerated() {
                guard case .array(let cells) = cells else { return "row" }
                for (column, cell) in cells.enumerated() where !matches(cell, got, row, column) {
                    return "row \(row) column \(column) instead of \(cell)"
                }
            }
        }
        return nil
    }

    private func matches(
        _ cell: JSONValue, _ series: QueryResult.Series, _ row: Int, _ column: Int
    ) -> Bool {
        let value = series.columns[column].value(row)
        switch (cell, value) {
        case (.null, nil): return true
        case (.boolean(let flag), .boolean(let other)?): return flag == other
        case (.number(let text), .float(let number)?):
            let expected = Double(text) ?? .nan
            return (expected - number).magnitude <= 1e-9 * max(1, expected.magnitude)
        case (.number(let text), .integer(let number)?):
            if Int64(text) == number { return true }
            // Times in another unit.
            if series.header.columns[column].isTime, let time = Int64(text) {
                return number % 1_000_000 == 0 && number / 1_000_000 == time
            }
            return Double(text) == Double(number)
        case (.string(let text), .integer(let number)?) where series.header.columns[column].isTime:
            let time = Timestamp(nanoseconds: number)
            return time.text(offsetSeconds: series.header.zone?.offsetSeconds(at: time) ?? 0)
                == text
        case (.string(let text), .string(let other)?): return text == other
        default: return false
        }
    }

    private func compare(rows: [JSONValue], _ result: QueryResult) -> String? {
        var wanted = rows[...]
        for series in result.series {
            for row in 0..<series.rowCount {
                guard let next = wanted.popFirst() else { return "too many rows; got \(result)" }
                if (next["name"]?.text ?? "") != series.name { return "name; got \(result)" }
                for (name, value) in next["tags"]?.members ?? [:]
                where series.tag(name) != value.text {
                    return "tag \(name); got \(result)"
                }
                guard case .array(let cells)? = next["values"] else { return "no values \(next)" }
                let time = JSONValue.number(next["time"]?.number ?? "")
                let all = cells.count == series.columns.count ? cells : [time] + cells
                for (column, cell) in all.enumerated() where !matches(cell, series, row, column) {
                    return "row \(row) column \(column) instead of \(cell); got \(result)"
                }
            }
        }
        return wanted.isEmpty ? nil : "\(wanted.count) rows missing; got \(result)"
    }
}
