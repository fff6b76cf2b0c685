// The history's file, the pager's choice, and what comes from a terminal byte by byte.

internal import Foundation
internal import Glibc
internal import Testing

@testable internal import CozCommand

struct HistoryFileTests {
    @Test func `the file is where the convention has it`() throws {
        let folder = try TemporaryFolder()
        let history = HistoryFile.standard { name in
            name == "XDG_STATE_HOME" ? folder.path("state") : "elsewhere"
        }
        history?.append("SHOW SERIES")
        let path = folder.path("state/cozdb/history")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "SHOW SERIES\n")
        let home = HistoryFile.standard { ["HOME": folder.path("h")][$0] }
        home?.append("x")
        #expect(FileManager.default.fileExists(atPath: folder.path("h/.local/state/cozdb/history")))
        #expect(HistoryFile.standard { _ in nil } == nil)
    }

    @Test func `only its owner reads it`() throws {
        let folder = try TemporaryFolder()
        let history = HistoryFile(path: folder.path("new/history"))
        history.append("a")
        for (name, mode) in [("new/history", 0o600), ("new", 0o700)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test func `a file that others can read is made private`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("SELECT 1\n", to: "history")
        for isRead in [true, false] {
            // The name ends with a zero byte during the call.
            unsafe chmod(file, 0o644)
            if isRead {
                #expect(HistoryFile(path: file).read() == ["SELECT 1"])
            } else {
                HistoryFile(path: file).append("SELECT 2")
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `what is no file is no history, and nobody waits for it`() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("history")
        // The name ends with a zero byte during the call.
        unsafe mkfifo(pipe, 0o600)
        let history = HistoryFile(path: pipe)
        #expect(history.read() == [])
        history.append("a")
        let other = try folder.write("x", to: "other")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: other)
        HistoryFile(path: folder.path("link")).append("a")
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "x")
        #expect(HistoryFile(path: "/dev/zero").read() == [])
    }

    @Test func `lines come back in order, and the file does not grow for ever`() throws {
        let folder = try TemporaryFolder()
        let history = HistoryFile(path: folder.path("history"))
        for number in 0...(2 * HistoryFile.lineCountMax) { history.append("é \(number)") }
        let lines = history.read()
        #expect(lines.count == HistoryFile.lineCountMax)
        #expect(lines.last == "é \(2 * HistoryFile.lineCountMax)")
        let text = try String(contentsOfFile: folder.path("history"), encoding: .utf8)
        #expect(text.split(separator: "\n").map(String.init) == lines)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("history"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        history.append(String(repeating: "x", count: HistoryFile.lineSizeBytesMax + 1))
        #expect(history.read() == lines)
    }

    @Test func `what cannot be read or written is no history`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("x", to: "file")
        let history = HistoryFile(path: file + "/history")
        history.append("a")
        #expect(history.read() == [])
    }

    @Test func `characters that come in pieces are put together`() {
        var decoder = UTF8Decoder()
        let scalars = Array("aé漢😀".utf8).compactMap { decoder.take($0) }
        #expect(String(String.UnicodeScalarView(scalars)) == "aé漢😀")
        #expect(decoder.take(0xFF) == "\u{FFFD}")
        #expect(decoder.take(0x61) == "a")
    }
}

struct PagerTests {
    @Test func `PAGER decides, else less, else none`() throws {
        let folder = try TemporaryFolder()
        #expect(Pager.standardCommand { ["PAGER": "more -x"][$0] } == "more -x")
        #expect(Pager.standardCommand { ["PAGER": "", "PATH": "/usr/bin"][$0] } == nil)
        #expect(Pager.standardCommand { ["PAGER": "cat"][$0] } == nil)
        #expect(Pager.standardCommand { ["PATH": folder.url.path][$0] } == nil)
        let less = try folder.write("", to: "less")
        // The name ends with a zero byte during the call.
        unsafe chmod(less, 0o755)
        #expect(Pager.standardCommand { ["PATH": folder.url.path][$0] } == "less -FRSX")
    }

    @Test func `what fits on the screen needs no pager`() {
        let pager = Pager(command: "unused", rows: 5, columns: 10)
        #expect(!pager.isNeeded(for: Array("1\n2\n3\n4\n".utf8)))
        #expect(pager.isNeeded(for: Array("1\n2\n3\n4\n5\n".utf8)))
        // A line of 21 columns takes three of the screen's.
        #expect(!pager.isNeeded(for: Array("1\n\(String(repeating: "é", count: 20))\n".utf8)))
        #expect(pager.isNeeded(for: Array("1\n2\n\(String(repeating: "é", count: 21))\n".utf8)))
    }

    @Test func `the program gets everything, and is waited for`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("out")
        let pager = Pager(command: "sleep 0.2; cat > '\(path)'", rows: 2, columns: 80)
        let output = OutputWriter(pager: pager)
        let line = "row of some length, so that the buffer is written more than once\n"
        for _ in 0..<5_000 { output.append(line) }
        try output.flush()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text == String(repeating: line, count: 5_000))
    }

    @Test func `a program that ends early is no error`() throws {
        signal(SIGPIPE, SIG_IGN)
        let pager = Pager(command: "head -c 1 > /dev/null", rows: 2, columns: 80)
        let output = OutputWriter(pager: pager)
        for _ in 0..<50_000 where !output.isClosed { output.append("some text on a line\n") }
        try output.flush()
        #expect(output.isClosed)
    }
}
