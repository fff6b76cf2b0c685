// Lines that become statements and commands, without a terminal.

internal import CozDB
internal import Testing

@testable internal import CozCommand

struct PromptInputTests {
    private func steps(_ lines: [String]) -> [PromptInput.Step] {
        var input = PromptInput { QueryLanguage.isComplete($0) }
        return lines.map { input.take($0) }
    }

    @Test func `a complete line is a statement`() {
        #expect(steps(["SHOW MEASUREMENTS"]) == [.run("SHOW MEASUREMENTS")])
        #expect(steps(["SELECT x FROM m;"]) == [.run("SELECT x FROM m;")])
        #expect(steps(["", "  "]) == [.nothing, .nothing])
    }

    @Test func `a line that cannot end there goes on`() {
        #expect(
            steps(["SELECT mean(x)", "FROM m"]) == [.more, .run("SELECT mean(x)\nFROM m")])
        #expect(
            steps(["SELECT x FROM m WHERE (a = 1", "OR b = 2)"])
                == [.more, .run("SELECT x FROM m WHERE (a = 1\nOR b = 2)")])
        #expect(
            steps(["/* more", "*/ SHOW SERIES"]) == [.more, .run("/* more\n*/ SHOW SERIES")])
    }

    @Test func `a backslash at its end makes a line go on`() {
        #expect(
            steps(["SELECT x FROM m \\", "LIMIT 5"]) == [.more, .run("SELECT x FROM m\nLIMIT 5")])
    }

    @Test func `a semicolon or an empty line ends what is incomplete`() {
        #expect(steps(["SELECT x", ""]) == [.more, .run("SELECT x")])
        #expect(steps(["SELECT x", "FROM ;"]) == [.more, .run("SELECT x\nFROM ;")])
        // This one is in a comment.
        #expect(steps(["SELECT x /* a;"]) == [.more])
    }

    @Test func `a wrong line is told at once`() {
        #expect(steps(["SELECT x FRM m"]) == [.run("SELECT x FRM m")])
        #expect(steps(["SELECT 'abc FROM m"]) == [.run("SELECT 'abc FROM m")])
    }

    @Test func `commands and ways to leave`() {
        #expect(steps(["\\format csv "]) == [.command("\\format csv")])
        #expect(steps(["quit"]) == [.quit])
        #expect(steps(["EXIT;"]) == [.quit])
        #expect(steps(["help"]) == [.command("\\help")])
    }

    @Test func `the history has a statement in one line, unless that changes it`() {
        #expect(PromptInput.historyLines("SELECT x\n  FROM m") == ["SELECT x FROM m"])
        #expect(PromptInput.historyLines("SELECT x -- y\nFROM m") == ["SELECT x -- y", "FROM m"])
    }
}

struct PromptCommandTests {
    @Test func `switches of the prompt are read`() throws {
        #expect(try PromptCommand.parse("\\format csv") == .format(.csv))
        #expect(try PromptCommand.parse("\\format") == .format(nil))
        #expect(try PromptCommand.parse("\\timing ON") == .timing(true))
        #expect(try PromptCommand.parse("\\pager off") == .pager(false))
        #expect(try PromptCommand.parse("\\epoch ms") == .epoch(.unit(.ms)))
        #expect(try PromptCommand.parse("\\epoch off") == .epoch(.off))
        #expect(try PromptCommand.parse("\\now off") == .now(.clock))
        #expect(
            try PromptCommand.parse("\\now 1970-01-01T00:00:01Z")
                == .now(.time(Timestamp(nanoseconds: 1_000_000_000))))
        #expect(try PromptCommand.parse("\\fields my study") == .fields("my study"))
        #expect(try PromptCommand.parse("\\fields \"dev\"") == .fields("dev"))
        #expect(try PromptCommand.parse("\\q") == .quit)
        #expect(try PromptCommand.parse("\\?") == .help)
        #expect(try PromptCommand.parse("\\exp") == .experiments)
    }

    @Test(arguments: [
        ("\\bogus", "\\experiments"), ("\\format xml", "ndjson"), ("\\timing maybe", "on, off"),
        ("\\fields", "an experiment"), ("\\f", "\\fields, \\format"), ("\\now soon", "off"),
        ("\\epoch y", "ns, us, ms"), ("\\ format", "\\help"),
    ]) func `a wrong one lists what there is`(line: String, words: String) {
        do throws(DatabaseError) {
            _ = try PromptCommand.parse(line)
            Issue.record("\(line) was taken")
        } catch {
            #expect(error.kind == .usage)
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test func `help names every command`() {
        for name in PromptCommand.names { #expect(PromptCommand.helpText.contains(name)) }
        #expect(PromptCommand.helpText.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}

struct LongStatementTests {
    @Test func `a long list is not parsed for each of its lines`() {
        var parseCount = 0
        var input = PromptInput { text in
            parseCount += 1
            return text.hasSuffix(")")
        }
        #expect(input.take("SELECT v FROM m WHERE v IN (") == .more)
        for value in 0..<5_000 { #expect(input.take("\(value),") == .more) }
        #expect(parseCount < 100)
        guard case .run(let text) = input.take("1)") else {
            Issue.record("the statement does not end")
            return
        }
        #expect(text.hasSuffix("4999,\n1)"))
    }
}

/// Lines that were written down before.
private final class WrittenLines: LineReader {
    private var inputs: [LineInput]
    private(set) var prompts: [String] = []
    private(set) var remembered: [String] = []

    init(_ inputs: [LineInput]) { self.inputs = inputs }

    func line(prompt: String, after earlier: [String]) -> LineInput {
        prompts.append(prompt)
        return inputs.isEmpty ? .end : inputs.removeFirst()
    }

    func remember(_ line: String) { remembered.append(line) }
}

struct PromptLoopTests {
    private func run(_ inputs: [LineInput]) -> WrittenLines {
        let lines = WrittenLines(inputs)
        let session = QuerySession(
            path: "no such database", options: QueryOptions(now: Timestamp(nanoseconds: 0)))
        Prompt(session, clock: nil, reader: lines, history: nil, pagerCommand: nil).loop()
        return lines
    }

    @Test func `an unfinished statement has a prompt of its own, and Ctrl-C drops it`() {
        let lines = run([
            .line("SELECT x"), .interrupted(wasEmpty: true), .line("\\bogus"), .line("quit"),
            .line("never read"),
        ])
        #expect(lines.prompts == ["cozdb> ", "   ... ", "cozdb> ", "cozdb> "])
        #expect(lines.remembered == ["\\bogus", "quit"])
    }

    @Test func `an error does not end the prompt, its end does`() {
        let lines = run([.line("SHOW MEASUREMENTS"), .line("SELECT"), .end, .line("never read")])
        #expect(lines.prompts == ["cozdb> ", "cozdb> ", "   ... "])
        #expect(lines.remembered == ["SHOW MEASUREMENTS"])
    }
}
