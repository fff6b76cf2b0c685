// What README and its neighbors say is true: the program is the one in Examples and prints what it
// should, docs name every subcommand, and the folders exist. DocumentTests runs the examples.

internal import Foundation
internal import Testing

struct ReadmeTests {
    private static func text(_ path: String) throws -> String {
        try DocumentTests.text(path)
    }

    /// The subcommands that `cozdb help` lists: lines indented by exactly two blanks.
    private static func subcommands() throws -> [String] {
        let help = try Command.cozdb(["help"]).output
        let list = help.components(separatedBy: "SUBCOMMANDS:\n").last ?? ""
        return list.split(separator: "\n")
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  See ") }
            .compactMap { $0.split(separator: " ").first.map { String($0) } }
    }

    @Test func `every subcommand is in docs`() throws {
        let names = try Self.subcommands()
        #expect(names.count >= 19 && names.contains("import") && names.contains("sample"))
        let map = try Self.text("docs/README.md")
        for name in names {
            #expect(map.contains("| `cozdb \(name)` |"), "the map has a line for \(name)")
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

    @Test func `the importer of Examples imports, and says what it refused`() throws {
        let folder = try TemporaryFolder()
        let files = [
            "points.txt": "dev,id_participant=p1 x=1 1\nno point\n",
            "table.csv": "time,id_participant,y\n2024-03-01,p1,7\n",
        ]
        for (name, text) in files {
            try Data(text.utf8).write(to: folder.url.appendingPathComponent(name))
        }
        let program = Command.binaries.appendingPathComponent("Importer")
        let run = try Command.run(
            program, ["db", "dev", "points.txt", "table.csv"], input: "", in: folder.url)
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.output.contains("100 %, 3 points\n"))
        #expect(run.output.contains("stored 2 values of 2 points\nrefused: points.txt:2: "))
        let none = try Command.run(program, ["db", "dev", "none"], input: "", in: folder.url)
        #expect(none.status == 2 && none.output.contains("none"))
    }

    @Test func `the folders that CONTRIBUTING lists exist`() throws {
        let text = try Self.text("CONTRIBUTING.md")
        let part = text.components(separatedBy: "## Where things are\n").last ?? ""
        let lines = (part.components(separatedBy: "\n## ").first ?? "").split(separator: "\n")
            .filter { $0.hasPrefix("    ") }
        #expect(lines.count >= 10)
        for line in lines {
            let name = line.split(separator: " ")[0].trimmingCharacters(in: [","])
            let path = Command.packageRoot.appendingPathComponent(name).path
            #expect(FileManager.default.fileExists(atPath: path), "\(name)")
        }
    }
}
