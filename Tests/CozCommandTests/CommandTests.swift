// The command seen from outside: help, versions, exit statuses, streams.

internal import Foundation
internal import Testing

struct CommandTests {
    private static let subcommands = [
        "import", "query", "write", "info", "schema", "check", "compact", "rejects", "inspect",
        "sample", "study",
    ]

    @Test func `version is a word and a number`() throws {
        let run = try Command.cozdb(["--version"])
        #expect(run.status == 0)
        #expect(run.output.contains(/^cozdb \d+\.\d+\.\d+\n$/))
    }

    @Test func `help lists every subcommand`() throws {
        let run = try Command.cozdb(["--help"])
        #expect(run.status == 0)
        for name in Self.subcommands {
            #expect(run.output.contains("\n  \(name) "), "\(name) is in the list")
        }
    }

    @Test(arguments: subcommands) func `help of a subcommand has an example`(name: String) throws {
        let run = try Command.cozdb(["help", name])
        #expect(run.status == 0)
        #expect(run.output.contains("Example"))
        #expect(run.output.contains("cozdb \(name) "))
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a completion script is printed`(shell: String) throws {
        let run = try Command.cozdb(["--generate-completion-script", shell])
        #expect(run.status == 0)
        #expect(run.output.contains("rejects"))
    }

    @Test(arguments: [
        ["nonsense"], ["query"], ["query", "--db", "", "SHOW MEASUREMENTS"], ["info"],
        ["import", "--db", "x"], ["rejects", "--db", "x", "burn"],
        ["write", "--db", "x", "--precision", "fortnight"],
        ["import", "--db", "x", "--identity", "all", "--participant-tag", "p", "-"],
    ])
    func `wrong usage is 64 and says why`(arguments: [String]) throws {
        let run = try Command.cozdb(arguments)
        #expect(run.status == 64, "\(arguments)")
        #expect(run.output.isEmpty)
        #expect(!run.errors.isEmpty)
    }

    @Test(arguments: [
        ["query", "--db", "absent", "SHOW MEASUREMENTS"], ["info", "--db", "absent"],
        ["schema", "--db", "absent"], ["check", "--db", "absent"], ["compact", "--db", "absent"],
        ["rejects", "--db", "absent", "list"], ["rejects", "--db", "absent", "replay"],
        ["inspect", "absent"],
    ])
    func `what is not there is 5 and is not created`(arguments: [String]) throws {
        let folder = try TemporaryFolder()
        let run = try Command.cozdb(arguments, in: folder.url)
        #expect(run.status == 5, "\(arguments): \(run.errors)")
        #expect(run.errors.contains("absent"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func `a folder of other files is no database`() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("hello", to: "letter.txt")
        for arguments in [["info"], ["import", "-"], ["write"], ["check"]] {
            var all = arguments
            all.insert(contentsOf: ["--db", folder.url.path], at: 1)
            let run = try Command.cozdb(all, input: "m,id_participant=p v=1 1\n")
            #expect(run.status == 5, "\(all): \(run.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names == ["letter.txt"])
    }

    @Test func `a closed standard output is no error, a full one is`() throws {
        let folder = try TemporaryFolder()
        let closed = try Command.shell("cozdb sample | head -n 1 > /dev/null", in: folder.url)
        #expect(closed.status == 0)
        #expect(closed.errors.isEmpty)
        #expect(try Command.shell("cozdb sample >&-", in: folder.url).status == 0)
        let full = try Command.shell("cozdb sample > /dev/full", in: folder.url)
        #expect(full.status == 3)
        #expect(full.errors.contains("standard output"))
    }

    @Test func `control characters of names do not reach the terminal`() throws {
        let run = try Command.cozdb(["info", "--db", "a\u{1B}[31mb"])
        #expect(run.status == 5)
        #expect(!run.errors.contains("\u{1B}"))
    }
}
