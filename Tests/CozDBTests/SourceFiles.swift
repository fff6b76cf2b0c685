// The project's own source files, as the tests of layout and house style read them.

internal import Foundation

/// One file of the project.
struct SourceFile: Sendable {
    /// Relative to the package, such as `Sources/CozDB/Database.swift`.
    let path: String
    let text: String
    /// The text with comments and the contents of strings blanked; lines stay where they are.
    let code: String
    let lines: [Substring]
    let codeLines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        var blanker = SourceBlanker(text)
        code = blanker.blanked()
        lines = SourceFile.lines(of: text)
        codeLines = SourceFile.lines(of: code)
    }

    private static func lines(of text: String) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Whether the text has one of the words anywhere. Most files have none, and need no look at
    /// each line.
    func contains(anyOf words: [String]) -> Bool {
        words.contains { text.range(of: $0) != nil }
    }

    /// The folder below `Sources/CozDB`, such as `Query/Time`; empty for files directly in it, nil
    /// for other targets.
    var layer: String? {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count >= 3, parts[0] == "Sources", parts[1] == "CozDB" else { return nil }
        return parts[2..<(parts.count - 1)].joined(separator: "/")
    }
}

enum Project {
    /// The folder of Package.swift.
    static let root: URL = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file of the package, by path.
    static let swiftFiles: [SourceFile] = files(
        in: ["Sources", "Tests", "Examples", "Benchmarks", "Fuzz/Sources"], extensions: ["swift"])

    /// Every text file that belongs to the project, whatever its kind, without Swift files.
    static let otherFiles: [SourceFile] =
        files(
            in: ["Sources", "Tests", "Examples", "Benchmarks", "Tools", "docs", ".ci"],
            extensions: ["md", "sh", "py", "h", "c", "modulemap", "txt", ""])
        + ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Package.swift", "Fuzz/README.md"]
        .compactMap(file)

    static func file(_ path: String) -> SourceFile? {
        guard
            let data = try? Data(contentsOf: root.appendingPathComponent(path)),
            let text = String(bytes: data, encoding: .utf8)
        else { return nil }
        return SourceFile(path: path, text: text)
    }

    private static func files(in folders: [String], extensions: Set<String>) -> [SourceFile] {
        var paths: [String] = []
        for folder in folders {
            let start = root.appendingPathComponent(folder).path
            guard let walk = FileManager.default.enumerator(atPath: start) else { continue }
            for case let path as String in walk {
                let parts = path.split(separator: "/")
                if parts.contains(where: { $0 == ".build" || $0 == "__pycache__" }) { continue }
                guard walk.fileAttributes?[.type] as? FileAttributeType == .typeRegular,
                    extensions.contains((path as NSString).pathExtension)
                else { continue }
                paths.append(folder + "/" + path)
            }
        }
        return paths.sorted().compactMap(file)
    }
}

/// Blanks comments and the contents of string literals, interpolations excepted.
struct SourceBlanker {
    private let source: [UInt8]
    private var result: [UInt8]
    private var index = 0

    init(_ text: String) {
        source = Array(text.utf8)
        result = source
    }

    mutating func blanked() -> String {
        code(endsAtParenthesis: false)
        return String(decoding: result, as: UTF8.self)
    }

    private func starts(_ text: StaticString) -> Bool {
        // Few bytes pass the first test, which is cheap.
        text.withUTF8Buffer {
            unsafe $0[0] == source[index] && source[index...].starts(with: $0)
        }
    }

    private mutating func blank(_ count: Int = 1) {
        for _ in 0..<count where index < source.count {
            if source[index] != UInt8(ascii: "\n") { result[index] = UInt8(ascii: " ") }
            index += 1
        }
    }

    private mutating func code(endsAtParenthesis: Bool) {
        var depth = 0
        while index < source.count {
            // No byte after "/" begins a comment or a string, or is a parenthesis.
            if source[index] > UInt8(ascii: "/") {
                index += 1
            } else if starts("//") {
                while index < source.count, source[index] != UInt8(ascii: "\n") { blank() }
            } else if starts("/*") {
                comment()
            } else if starts("\"") || starts("#\"") || starts("##\"") {
                string()
            } else {
                if source[index] == UInt8(ascii: "(") { depth += 1 }
                if source[index] == UInt8(ascii: ")") { depth -= 1 }
                if endsAtParenthesis, depth < 0 { return }
                index += 1
            }
        }
    }

    private mutating func comment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                blank(2)
            } else if starts("*/") {
                depth -= 1
                blank(2)
            } else {
                blank()
            }
        } while depth > 0 && index < source.count
    }

    private mutating func string() {
        var hashes = 0
        while source[index] == UInt8(ascii: "#") {
            hashes += 1
            index += 1
        }
        let quotes = starts("\"\"\"") ? 3 : 1
        index += quotes
        let marks = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
        let end = [UInt8](repeating: UInt8(ascii: "\""), count: quotes) + marks
        let escape = [UInt8(ascii: "\\")] + marks
        while index < source.count {
            let byte = source[index]
            if byte == end[0], source[index...].starts(with: end) {
                index += end.count
                return
            }
            if byte == escape[0], source[index...].starts(with: escape) {
                index += escape.count
                if index < source.count, source[index] == UInt8(ascii: "(") {
                    index += 1
                    code(endsAtParenthesis: true)
                    index += 1
                } else {
                    blank()
                }
            } else if quotes == 1, source[index] == UInt8(ascii: "\n") {
                return
            } else {
                blank()
            }
        }
    }
}
