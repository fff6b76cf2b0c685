// The public declarations of the libraries are recorded, so that a review shows a change of them.

internal import CozTestSupport
internal import Foundation
internal import Testing

struct PublicInterfaceTests {
    /// One line a symbol, sorted. Read from the compiled modules.
    private struct Interface {
        var lines: Set<String>

        /// The part of a symbol graph that makes the lines.
        private struct Graph: Decodable {
            struct Symbol: Decodable {
                struct Fragment: Decodable {
                    var spelling: String
                }
                var pathComponents: [String]
                var declarationFragments: [Fragment]
            }
            var symbols: [Symbol]
        }

        /// - Throws: an error of the extraction, with what it printed.
        init(of module: String) throws {
            let folder = TemporaryDirectory()
            let built = (Bundle.main.executableURL ?? Bundle.main.bundleURL)
                .deletingLastPathComponent()
            let sources = Project.root.appendingPathComponent("Sources")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let kernels = built.appendingPathComponent("CozKernels.build/module.modulemap").path
            let arguments: [String] = [
                "swift", "symbolgraph-extract", "-module-name", module,
                "-target", Interface.target, "-minimum-access-level", "public",
                "-skip-synthesized-members", "-output-dir", folder.path,
                "-I", built.appendingPathComponent("Modules").path,
                "-I", sources.appendingPathComponent("CozLZ4").path,
                "-I", sources.appendingPathComponent("CozZlib").path,
                "-Xcc", "-fmodule-map-file=\(kernels)",
            ]
            process.arguments = arguments
            let errors = Pipe()
            process.standardError = errors
            try FileManager.default.createDirectory(
                atPath: folder.path, withIntermediateDirectories: true)
            try process.run()
            let said = try errors.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
            // The graphs of extensions of other modules have a name of both.
            lines = []
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let path = URL(fileURLWithPath: folder.path).appendingPathComponent(name)
                let graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: path))
                lines.formUnion(graph.symbols.map(Interface.line))
            }
        }

        private static func line(_ symbol: Graph.Symbol) -> String {
            let place = symbol.pathComponents.dropLast().joined(separator: ".")
            let declaration = symbol.declarationFragments.map(\.spelling).joined()
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return place.isEmpty ? declaration : "\(place): \(declaration)"
        }

        private static var target: String {
            #if arch(arm64)
            "aarch64-unknown-linux-gnu"
            #else
            "x86_64-unknown-linux-gnu"
            #endif
        }
    }

    /// Other compilers print some declarations in other words.
    private static var isKnownCompiler: Bool {
        #if compiler(>=6.3) && compiler(<6.4)
        true
        #else
        false
        #endif
    }

    @Test(
        "the public declarations are the recorded ones", .enabled(if: isKnownCompiler),
        arguments: ["CozDB", "CozImport", "CozStudy"])
    func declarations(module: String) throws {
        let file = Project.root.appendingPathComponent("Tests/CozDBTests/Interface/\(module).txt")
        let found = try Interface(of: module).lines
        #expect(found.count > 50)
        if ProcessInfo.processInfo.environment["COZDB_RECORD_INTERFACE"] != nil {
            try Data((found.sorted().joined(separator: "\n") + "\n").utf8).write(to: file)
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        let recorded = Set(text.split(separator: "\n").map(String.init))
        var changes = recorded.subtracting(found).map { "- \($0)" }
        changes += found.subtracting(recorded).map { "+ \($0)" }
        let list = changes.sorted { $0.dropFirst() < $1.dropFirst() }.joined(separator: "\n")
        #expect(
            changes.isEmpty,
            """
            The public interface of \(module) changed:
            \(list)
            If that is intended, record it (CONTRIBUTING.md) and name it in CHANGELOG.md.
            """)
    }
}
