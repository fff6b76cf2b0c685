// What README says is true: its commands run, its program is the one in Examples and prints what
// it should.

internal import Foundation
internal import Testing

struct ReadmeTests {
    private static func text(_ path: String) throws -> String {
        String(
            decoding: try Data(contentsOf: Command.packageRoot.appendingPathComponent(path)),
            as: UTF8.self)
    }

    /// Indented lines of README that run the command, in their order.
    private static func commands() throws -> [String] {
        try text("README.md").split(separator: "\n")
            .filter { $0.hasPrefix("    ") && $0.contains("cozdb ") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("cozdb ") || $0.contains("| cozdb ") }
    }

    @Test func `every command of README runs`() throws {
        let commands = try Self.commands()
        #expect(commands.count >= 12)
        let folder = try TemporaryFolder()
        for command in commands {
            let run = try Command.shell(command, in: folder.url)
            #expect(run.status == 0, "\(command): \(run.errors)")
            let isSilent = [" > ", "rejects", "--output"].contains { command.contains($0) }
            #expect(!run.output.isEmpty || isSilent, "\(command) prints something")
        }
    }

    @Test func `every subcommand is in README`() throws {
        let commands = try Self.commands().joined(separator: "\n")
        for name in [
            "import", "query", "write", "info", "schema", "check", "compact", "rejects",
            "inspect", "sample", "study", "summary", "export", "catalogue", "survey",
        ] {
            #expect(commands.contains("cozdb \(name)"), "\(name)")
        }
    }

    @Test func `the program of README is the one in Examples, short, and runs`() throws {
        let program = try Self.text("Examples/ReadmeProgram/main.swift")
            .split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0.hasPrefix("//") || $0.isEmpty }
            .joined(separator: "\n")
        #expect(try Self.text("README.md").contains("```swift\n\(program)```\n"))
        #expect(program.split(separator: "\n").count <= 24)
        let folder = try TemporaryFolder()
        let run = try Command.run(
            Command.binaries.appendingPathComponent("ReadmeProgram"), [], input: "",
            in: folder.url)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("72.5"))
    }

    @Test func `the folders that README lists are there`() throws {
        let text = try Self.text("README.md")
        let part = text.components(separatedBy: "## What is where").last ?? ""
        for line in part.split(separator: "\n") where line.hasPrefix("    ") {
            let name = line.split(separator: " ")[0].trimmingCharacters(in: [","])
            let path = Command.packageRoot.appendingPathComponent(name).path
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }
}
