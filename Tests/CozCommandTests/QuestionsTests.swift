// docs/questions.md is true: its commands run as they stand and print what it shows, byte for byte.

internal import Foundation
internal import Testing

struct QuestionsTests {
    /// A command of the page, which can go over several lines, and what it prints.
    struct Example {
        var command: String
        var output: String
    }

    static func page() throws -> String {
        let url = Command.packageRoot.appendingPathComponent("docs/questions.md")
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    /// The blocks that begin with "```console": the command ends where its quotes are closed.
    static func examples(_ page: String) -> [Example] {
        page.components(separatedBy: "```console\n$ ").dropFirst().compactMap { part in
            guard let block = part.components(separatedBy: "```").first else { return nil }
            var lines = block.components(separatedBy: "\n")
            var command = lines.removeFirst()
            while command.count(where: { $0 == "\"" }) % 2 == 1, !lines.isEmpty {
                command += "\n" + lines.removeFirst()
            }
            return Example(command: command, output: lines.joined(separator: "\n"))
        }
    }

    @Test func `every question is asked and answered as the page shows`() throws {
        let page = try Self.page()
        let folder = try TemporaryFolder()
        let setup = page.components(separatedBy: "\n").first { $0.hasPrefix("    cozdb sample") }
        let imported = try Command.shell(try #require(setup), in: folder.url)
        #expect(imported.status == 0, "\(imported.errors)")
        let examples = Self.examples(page)
        #expect(examples.count >= 20)
        for example in examples {
            let run = try Command.shell(example.command, in: folder.url)
            #expect(run.status == 0, "\(example.command)\n\(run.errors)")
            #expect(run.output == example.output, "\(example.command)")
            #expect(!run.output.isEmpty, "\(example.command) finds something")
        }
    }

    @Test func `the page has sixteen questions, each with a statement`() throws {
        let parts = try Self.page().components(separatedBy: "\n## ").dropFirst()
        #expect(parts.count == 17)
        for (index, part) in parts.enumerated() {
            #expect(part.hasPrefix("\(index + 1). ") || part.hasPrefix("And also"))
            #expect(!Self.examples(part).isEmpty, "\(part.prefix(60))")
        }
    }
}
