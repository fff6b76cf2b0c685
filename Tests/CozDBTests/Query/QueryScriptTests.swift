// Runs the query scripts below Tests/CozDBTests/Queries, a folder for each area of the language:
// lines to load, statements, expected tables, errors with the place they point at.
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
        /// Whether it is only asked what the statement would do.
        var isDryRun = false
        var expected: [String]
    }

    let name: String
    var settings = ExperimentSettings()
    var lines: [String] = []
    var steps: [Step] = []
    var isCompatible = false
    /// Whether what is loaded is in a segment in both runs.
    var isFlushed = false
    /// Limits that the script lowers, by the name of the option.
    var limits: [Substring: Int] = [:]

    var testDescription: String { name }

    init(name: String, text: String) {
        self.name = name
        var isLoading = false
        let all = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in all.enumerated() {
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("identity ") { setIdentity(String(line.dropFirst(9))) }
            if line == "influx" { isCompatible = true }
            if line == "flush" { isFlushed = true }
            if line.hasPrefix("limit ") { setLimit(line.dropFirst(6)) }
            if line.hasPrefix("load") {
                isLoading = true
            } else if line.hasPrefix("> ") || line.hasPrefix("? ") {
                isLoading = false
                let statement = String(line.dropFirst(2))
                let isDryRun = line.hasPrefix("?")
                steps.append(
                    Step(
                        line: index + 1, statement: statement, isDryRun: isDryRun, expected: []))
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

    private mutating func setLimit(_ text: Substring) {
        let words = text.split(separator: " ")
        limits[words[0]] = Int(words[1])
    }

    var options: QueryOptions {
        var options = QueryOptions(now: Timestamp("2025-06-01T00:00:00Z") ?? .min)
        options.influxCompatible = isCompatible
        for (name, value) in limits {
            switch name {
            case "textSizeBytesMax": options.textSizeBytesMax = value
            case "nestingDepthMax": options.nestingDepthMax = value
            case "rowCountMax": options.rowCountMax = value
            case "groupCountMax": options.groupCountMax = value
            case "bucketCountMax": options.bucketCountMax = value
            default: Issue.record("\(self.name): there is no limit \"\(name)\"")
            }
        }
        return options
    }

    /// Every script of every folder, named by its path.
    static let all: [QueryScript] = {
        let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Queries")
        let names = FileManager.default.enumerator(atPath: directory.path)?
            .compactMap { $0 as? String }
        return (names ?? []).filter { $0.hasSuffix(".txt") }.sorted().compactMap { name in
            let url = directory.appendingPathComponent(name)
            guard let text = try? String(contentsOf: url, encoding: .utf8) else { return nil }
            return QueryScript(name: name, text: text)
        }
    }()
}

@Suite struct QueryScriptTests {
    @Test func `there are scripts, in folders, and each asks something`() {
        #expect(QueryScript.all.count >= 25)
        for script in QueryScript.all {
            #expect(script.name.contains("/"), "\(script.name) belongs into a folder")
            #expect(!script.steps.isEmpty, "\(script.name) has no statement")
        }
    }

    @Test(arguments: QueryScript.all, [false, true])
    func `statements give the tables that the script shows`(
        _ script: QueryScript, _ isFlushed: Bool
    ) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        defer { try? database.close() }
        try load(script, into: database)
        if isFlushed || script.isFlushed { try database.flush() }
        for step in script.steps {
            let got = answer(step, script, database)
            #expect(
                got == step.expected,
                """
                \(script.name):\(step.line): \(step.statement)
                expected:
                  \(step.expected.joined(separator: "\n  "))
                got:
                  \(got.joined(separator: "\n  "))
                """)
            // What is kept of a statement and its blocks must give the same once more.
            guard step.statement.uppercased().hasPrefix("SELECT") else { continue }
            #expect(
                answer(step, script, database) == got,
                "\(script.name):\(step.line), asked again: \(step.statement)")
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
        _ step: QueryScript.Step, _ script: QueryScript, _ database: Database
    ) -> [String] {
        do {
            var options = script.options
            options.isDryRun = step.isDryRun
            let result = try database.execute(step.statement, options: options)
            for one in result.statements {
                let headers = one.series.map(\.header.columns)
                #expect(headers.allSatisfy { $0 == one.columns }, "\(step.statement)")
            }
            let text = result.description
            return text.isEmpty ? [] : text.split(separator: "\n").map(String.init)
        } catch {
            return caret(error, step.statement) + ["error: \(error.message)"]
        }
    }

    /// The line that points at the place of the error, where the error has one.
    private func caret(_ error: DatabaseError, _ statement: String) -> [String] {
        guard let offset = error.offset else { return [] }
        let before = String(decoding: statement.utf8.prefix(offset), as: UTF8.self)
        return [String(repeating: " ", count: before.count) + "^"]
    }
}
