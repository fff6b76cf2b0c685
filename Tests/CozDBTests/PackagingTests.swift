// What a package gets that depends on this one.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct PackagingTests {
    @Test("a package that uses the library resolves nothing else")
    func resolution() throws {
        let folder = TemporaryDirectory()
        let root = Project.root.path
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "user",
                dependencies: [.package(name: "cozdb", path: "\(root)", traits: [])],
                targets: [
                    .executableTarget(
                        name: "user", dependencies: [.product(name: "CozDB", package: "cozdb")])
                ])
            """
        let url = URL(fileURLWithPath: folder.path)
        let sources = url.appendingPathComponent("Sources/user")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(manifest.utf8).write(to: url.appendingPathComponent("Package.swift"))
        try Data("import CozDB\n".utf8).write(to: sources.appendingPathComponent("main.swift"))

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift", "package", "show-dependencies", "--format", "flatlist"]
        process.currentDirectoryURL = url
        let (output, errors) = (Pipe(), url.appendingPathComponent("errors"))
        #expect(FileManager.default.createFile(atPath: errors.path, contents: nil))
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        let list = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let said = try String(contentsOf: errors, encoding: .utf8)
        #expect(process.terminationStatus == 0, "\(said)")
        #expect(!said.contains("warning"), "\(said)")
        // The one line is this package, by the name of its folder.
        #expect(
            list.count { $0 == UInt8(ascii: "\n") } == 1, "\(String(decoding: list, as: UTF8.self))"
        )
        let resolved = url.appendingPathComponent("Package.resolved")
        #expect(!FileManager.default.fileExists(atPath: resolved.path))
    }

    @Test("no module can meet another one of its name")
    func moduleNames() {
        let modules = Set(
            (Project.swiftFiles + Project.otherFiles).map(\.path)
                .filter { $0.hasPrefix("Sources/") }
                .compactMap { $0.split(separator: "/").dropFirst().first })
        #expect(modules.count > 4)
        #expect(modules.filter { !$0.hasPrefix("Coz") }.isEmpty)
    }
}
