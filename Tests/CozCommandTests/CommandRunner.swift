// Runs the built command, as a shell would.

internal import Dispatch
internal import Foundation
internal import Glibc

/// One run of `cozdb` that has ended.
struct CommandRun {
    var status: Int32
    var output: String
    var errors: String

    var lines: [Substring] { output.split(separator: "\n") }
}

enum Command {
    /// The folder with the binaries that were built along with the tests.
    static let binaries: URL = (Bundle.main.executableURL ?? Bundle.main.bundleURL)
        .deletingLastPathComponent()

    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A command that takes longer hangs, and is killed.
    private static let patience = DispatchTimeInterval.seconds(60)

    /// What a shell is given: `cozdb` on its path, nothing of the user's, and what instrumented
    /// programs need to be told (Tools/check).
    static let environment = {
        sanitizerOptions.merging([
            "PATH": "\(binaries.path):/usr/bin:/bin",
            // Built to count coverage, a program leaves a file where it runs, or says why not.
            "LLVM_PROFILE_FILE": "/dev/null",
        ]) { $1 }
    }()

    /// What instrumented programs need to be told (Tools/check).
    static let sanitizerOptions = ProcessInfo.processInfo.environment.filter {
        ["TSAN_OPTIONS", "ASAN_OPTIONS"].contains($0.key)
    }

    /// A sanitizer needs more memory and files than the limits that some tests set.
    static let isSanitized = !sanitizerOptions.isEmpty

    /// Runs `cozdb` and waits for its end.
    static func cozdb(
        _ arguments: [String], input: String = "", in folder: URL? = nil
    ) throws -> CommandRun {
        try run(binaries.appendingPathComponent("cozdb"), arguments, input: input, in: folder)
    }

    /// Runs a line of shell with `cozdb` on its path.
    static func shell(_ line: String, in folder: URL) throws -> CommandRun {
        try run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: "", in: folder,
            environment: environment)
    }

    static func run(
        _ program: URL, _ arguments: [String], input: String, in folder: URL?,
        environment: [String: String]? = nil
    ) throws -> CommandRun {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        if let environment { process.environment = environment }
        // Files instead of pipes: nothing can block, however long the answer is.
        let temporary = try TemporaryFolder()
        let files = try ["in", "out", "err"].map { name in
            let url = temporary.url.appendingPathComponent(name)
            try Data((name == "in" ? input : "").utf8).write(to: url)
            return url
        }
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        if ended.wait(timeout: .now() + Command.patience) == .timedOut {
            kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
        return CommandRun(
            status: process.terminationStatus,
            output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}

/// A folder that goes when its owner does.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("cozdb-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
        return path(name)
    }
}
