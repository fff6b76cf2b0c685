// What InfluxDB answers, case by case. The cases are not part of the project; where they are
// missing the test says so and passes.

internal import Foundation
internal import Testing

struct ConformanceTests {
    /// Cases that pass; raised whenever more do, never lowered.
    static let passedMin = 556

    private static let cases = Command.packageRoot.deletingLastPathComponent()
        .appendingPathComponent("shared/conformance/open-cases.jsonl")

    @Test func `answers are those of InfluxDB`() throws {
        guard let data = try? Data(contentsOf: Self.cases) else {
            print("conformance: skipped, no open-cases.jsonl beside the package")
            return
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        var passed = 0
        var failures: [String] = []
        for line in lines {
            guard let item = ConformanceCase(line: line) else {
                Issue.record("not a case: \(line.prefix(80))")
                continue
            }
            if let failure = item.failure() {
                failures.append("  \(item.name) (\(item.area)): \(failure.prefix(600))")
            } else {
                passed += 1
            }
        }
        let report = "conformance: \(passed)/\(lines.count) passed"
        // The details are for whoever works on them; a run of all tests shows the first ones.
        let isDetailed = ProcessInfo.processInfo.environment["COZDB_CONFORMANCE"] != nil
        let shown = isDetailed ? failures : failures.prefix(20).map { String($0.prefix(160)) }
        print(([report] + shown).joined(separator: "\n"))
        #expect(passed >= Self.passedMin, "\(report), expected \(Self.passedMin)")
    }
}
