// README and the pages of docs are true: their examples run as they stand and print what the
// pages show.

internal import Foundation
internal import Testing

/// A block of a page that begins with "```console": commands after "$ ", each with its output.
struct ConsoleBlock {
    struct Example {
        var command: String
        var output: String
    }

    var examples: [Example] = []

    /// - Parameter text: what stands between the fences.
    init(_ text: String) {
        var lines = text.components(separatedBy: "\n")[...]
        while let line = lines.popFirst() {
            guard line.hasPrefix("$ ") else {
                guard !examples.isEmpty else { continue }
                // The last line of a block is what stands before its closing fence: nothing.
                if !(lines.isEmpty && line.isEmpty) {
                    examples[examples.count - 1].output += line + "\n"
                }
                continue
            }
            var command = String(line.dropFirst(2))
            while ConsoleBlock.isOpen(command), let next = lines.popFirst() {
                command += "\n" + next
            }
            examples.append(Example(command: command, output: ""))
        }
    }

    /// Whether a command goes on in the next line: a quote is open, a backslash ends it, or the
    /// end of a here-document is still to come.
    private static func isOpen(_ command: String) -> Bool {
        let lines = command.components(separatedBy: "\n")
        if let place = lines[0].range(of: "<<") {
            let word = lines[0][place.upperBound...].prefix { $0 != " " && $0 != "|" }
                .trimmingCharacters(in: ["'", "\""])
            return !lines.dropFirst().contains(word)
        }
        return command.count(where: { $0 == "\"" }) % 2 == 1 || command.hasSuffix("\\")
    }

    static func all(of page: String) -> [ConsoleBlock] {
        page.components(separatedBy: "```console\n").dropFirst().map { part in
            ConsoleBlock(part.components(separatedBy: "```").first ?? "")
        }
    }
}

struct DocumentTests {
    /// - Parameter page: the path below the folder of the package, such as `docs/study.md`.
    static func text(_ page: String) throws -> String {
        let url = Command.packageRoot.appendingPathComponent(page)
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    /// README and the pages directly in `docs`, sorted.
    static let allPages: [String] = {
        let folder = Command.packageRoot.appendingPathComponent("docs").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return (["README.md"] + names.map { "docs/" + $0 }).filter { $0.hasSuffix(".md") }.sorted()
    }()

    /// Pages with examples; `questions.md` has its own tests.
    static let pages = allPages.filter {
        $0 != "docs/questions.md" && ((try? text($0)) ?? "").contains("```console\n")
    }

    @Test func `README and the tutorial have examples`() {
        #expect(Self.pages.contains("README.md"))
        #expect(Self.pages.contains("docs/tutorial.md"))
    }

    @Test(arguments: pages) func `examples print what the page shows`(page: String) throws {
        let blocks = ConsoleBlock.all(of: try Self.text(page))
        let folder = try TemporaryFolder()
        for example in blocks.flatMap(\.examples) {
            let run = try Command.shell(example.command, in: folder.url)
            #expect(run.status == 0, "\(example.command)\n\(run.errors)")
            #expect(run.output == example.output, "\(example.command)\n\(run.errors)")
        }
    }

    @Test func `examples are read as a shell would read them`() {
        let block = ConsoleBlock(
            """
            $ cat > a <<'END'
            one
            END
            $ echo "two
            three" \\
                four
            two
            three four

            """)
        #expect(
            block.examples.map(\.command) == [
                "cat > a <<'END'\none\nEND", "echo \"two\nthree\" \\\n    four",
            ])
        #expect(block.examples.map(\.output) == ["", "two\nthree four\n"])
    }
}
