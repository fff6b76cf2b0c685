// Runs the query scripts of Tests/CozDBTests/Queries: lines to load, statements, expected tables.
// Each script runs twice: from memory, and from segments after a flush.

internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB

/// One script; its syntax is described in Queries/README.md.
struct QueryScript: CustomTestStringConvertible {
    struct Step {
        var line: Int
        var statement: String
        var expected: [String]
    }

    let name: String
    var settings = ExperimentSettings()
    var lines: [String] = []
    var steps: [Step] = []
    var isCompatible = false
    var parameters: [String: QueryParameter] = [:]

    var testDescription: String { name }

    init(name: String, text: String) {
        self.name = name
        var isLoading = false
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("identity ") { setIdentity(String(line.dropFirst(9))) }
            if line == "influx" { isCompatible = true }
            if line.hasPrefix("load") {
                isLoading = true
            } else if line.hasPrefix("> ") {
                isLoading = false
                let statement = String(line.dropFirst(2))
                steps.append(Step(line: index + 1, statement: statement, expected: []))
            } else if line.hasPrefix("  ") {
                if isLoading {
                    lines.append(String(line.dropFirst(2)))
                } else if !steps.isEmpty {
                    steps[steps.count - 1].expected.append(String(line.dropFirst(2)))
                }
            }
        }
    }

    private mutating func setIdentity(_ text: String) {
        settings.identity =
            text == "all" ? .allTags : .tags(text.split(separator: ",").map(String.init))
    }

    static let all: [QueryScript] = {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Queries")
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        return (names ?? []).filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            let url = directory.appendingPathComponent(name)
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
            return QueryScript(name: name, text: text)
        }
    }()
}

@Suite struct QueryScriptTests {
    @Test func `there are scripts`() {
        #expect(QueryScript.all.count >= 5)
    }

    @Test(arguments: QueryScript.all, [false, true])
    func `statements give the tables that the script shows`(
        _ script: QueryScript, _ isFlushed: Bool
    ) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try load(script, into: database)
        if isFlushed { try database.flush() }
        for step in script.steps {
            let got = answer(step.statement, script, database)
            #expect(
                got == step.expected,
                """
                \(script.name):\(step.line): \(step.statement)
                expected:
                  \(step.expected.joined(separator: "\n  "))
                got:
                  \(got.joined(separator: "\n  "))
                """)
        }
    }

    private func load(_ script: QueryScript, into database: Database) throws {
        var parser = LineProtocolParser(options: LineProtocolParser.Options())
        var batch = WriteBatch()
        batch.settings = script.settings
        parser.append(script.lines.joined(separator: "\n").utf8.span)
        parser.finish()
        _ = try parser.parse(into: &batch, points: .max)
        let report = try database.write(batch)
        #expect(report.refusedPoints == 0 && report.refusedValues == 0, "\(report)")
    }

    private func answer(
        _ statement: String, _ script: QueryScript, _ database: Database
    ) -> [String] {
        var options = QueryOptions(now: Timestamp("2025-06-01T00:00:00Z") ?? .min)
        options.influxCompatible = script.isCompatible
        do {
            let result = try database.query(statement, options: options)
            let text = result.description
            return text.isEmpty ? [] : text.split(separator: "\n").map(String.init)
        } catch {
            return ["error: \(error.message)"]
        }
    }
}
