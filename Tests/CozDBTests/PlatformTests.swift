// The C of other systems, as far as a Linux system can check it.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct PlatformTests {
    private static let sources = "Sources/CozKernels"

    /// Runs the C compiler. Returns its messages, with its status if it failed.
    private static func compile(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["clang", "-std=gnu11", "-Wall", "-Wextra", "-Werror"] + arguments
        process.currentDirectoryURL = Project.root
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        let text = String(decoding: bytes, as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : text + "status \(process.terminationStatus)"
    }

    private static func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Project.root.path + "/\(sources)")
            .filter { $0.hasSuffix(".c") }.map { "\(sources)/\($0)" }
    }

    @Test func `the code for Apple's systems compiles with their declarations`() throws {
        for file in try Self.files() where !file.hasSuffix("kernels.c") {
            let found = try Self.compile([
                "-fsyntax-only", "-U__linux__", "-D__APPLE__", "-D_GNU_SOURCE",
                "-Wno-macro-redefined", "-include", "Tests/CozDBTests/Platforms/apple.h",
                "-I\(Self.sources)/include", file,
            ])
            #expect(found.isEmpty, "\(file)")
        }
    }

    @Test func `locks, gates and semaphores without futexes work`() throws {
        let directory = TemporaryDirectory()
        let program = directory.path + "-portable"
        defer { try? FileManager.default.removeItem(atPath: program) }
        let found = try Self.compile(
            [
                "-O1", "-DCOZ_PORTABLE", "-pthread", "-I\(Self.sources)/include", "-o", program,
                "Tests/CozDBTests/Platforms/portable.c",
            ] + ["wait.c", "lock.c", "gate.c"].map { "\(Self.sources)/\($0)" })
        #expect(found.isEmpty)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
