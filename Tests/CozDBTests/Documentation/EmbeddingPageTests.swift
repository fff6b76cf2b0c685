// The code of docs/embedding.md is that of Benchmarks/Embedding, which runs it.

internal import Foundation
internal import Testing

struct EmbeddingPageTests {
    /// The lines between marks, by the heading that the mark names, without their indentation.
    private static func snippets(_ name: String) throws -> [String: String] {
        let file = try #require(
            Project.file("Benchmarks/Embedding/Sources/embedding/\(name).swift"))
        var found: [String: [Substring]] = [:]
        var heading: String?
        for line in file.lines {
            if let mark = line.range(of: "// Snippet: ") {
                heading = String(line[mark.upperBound...])
            } else if line.hasSuffix("// End of snippet") {
                heading = nil
            } else if let heading {
                found[heading, default: []].append(line)
            }
        }
        return found.mapValues { lines in
            let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min()
            return lines.map { String($0.dropFirst(indent ?? 0)) }.joined(separator: "\n")
        }
    }

    @Test func `each task is shown as it runs`() throws {
        let page = try #require(Project.file("docs/embedding.md")).text
        let (ours, theirs) = (try Self.snippets("CozDBTasks"), try Self.snippets("GRDBTasks"))
        #expect(ours.count == 9 && Set(ours.keys) == Set(theirs.keys))
        for (heading, code) in ours {
            let other = try #require(theirs[heading])
            #expect(
                page.contains("```swift\n\(code)\n```\n\n```swift\n\(other)\n```\n"), "\(heading)")
            #expect(heading == "type" || page.contains("\n## \(heading)\n"), "\(heading)")
        }
        let headings = page.components(separatedBy: "\n## ").count - 1
        #expect(headings == 9, "eight tasks and their load")
    }
}
