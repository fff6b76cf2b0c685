// Another program that shares a pipe or terminal may have set it to non-blocking mode.

internal import Foundation
internal import Glibc
internal import Testing

struct NonblockingPipeTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = Command.binaries.appendingPathComponent("cozdb")
        process.arguments = arguments
        return process
    }

    private func setNonblocking(_ handle: FileHandle) {
        let descriptor = handle.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
    }

    @Test("input in non-blocking mode is waited for", arguments: ["import", "query"])
    func input(command: String) throws {
        let path = folder.path("db")
        _ = try Command.cozdb(["import", "--db", path, "-"], input: "m,id_participant=p f=1 1\n")
        let pipe = Pipe()
        setNonblocking(pipe.fileHandleForReading)
        let process = process([command, "--db", path, "-"])
        let output = Pipe()
        process.standardInput = pipe
        process.standardOutput = output
        try process.run()
        // Long enough for the command to find the pipe empty.
        Thread.sleep(forTimeInterval: 0.3)
        let text = command == "import" ? "m,id_participant=p f=2 2\n" : "SELECT f FROM m"
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(!answer.isEmpty)
    }

    @Test("output in non-blocking mode is written completely")
    func output() throws {
        let arguments = ["sample", "--participants", "2", "--days", "2"]
        let expected = try Command.cozdb(arguments).output
        let pipe = Pipe()
        setNonblocking(pipe.fileHandleForWriting)
        let process = process(arguments)
        process.standardOutput = pipe
        try process.run()
        // Long enough for the command to fill the pipe.
        Thread.sleep(forTimeInterval: 0.3)
        let answer = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(expected.utf8.count > 1 << 16, "the pipe takes all of it at once")
        #expect(String(decoding: answer, as: UTF8.self) == expected)
    }
}
