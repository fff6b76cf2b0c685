// House style that a program can check. Each finding is printed as file:line.

internal import Foundation
internal import Testing

struct TidyTests {
    static let fileLinesMax = 600
    static let functionLinesMax = 70
    static let lineLengthMax = 100

    private static let libraries = ["Sources/CozDB/", "Sources/CozImport/", "Sources/CozStudy/"]

    private func report(_ file: SourceFile, _ line: Int, _ what: String) {
        Issue.record("\(file.path):\(line): \(what)")
    }

    @Test func `the project's files are found`() {
        #expect(Project.swiftFiles.contains { $0.path == "Sources/CozDB/Database.swift" })
        #expect(Project.otherFiles.contains { $0.path == "README.md" })
    }

    @Test func `files have a head comment and an end`() {
        for file in Project.swiftFiles {
            let first = file.lines.first ?? ""
            let says = first.hasPrefix("// ") && first.count > 20
            if !says { report(file, 1, "a head comment says what the file is") }
            if file.lines.count - 1 > Self.fileLinesMax {
                report(file, file.lines.count, "more than \(Self.fileLinesMax) lines")
            }
            if !file.text.hasSuffix("\n") || file.text.hasSuffix("\n\n") {
                report(file, file.lines.count, "ends with exactly one newline")
            }
        }
    }

    @Test func `lines are short and hold no tabs`() {
        for file in Project.swiftFiles {
            for (index, line) in file.lines.enumerated() {
                if line.utf8.count > Self.lineLengthMax, line.count > Self.lineLengthMax {
                    report(file, index + 1, "\(line.count) characters")
                }
                if line.utf8.contains(UInt8(ascii: "\t")) { report(file, index + 1, "tab") }
                if line.utf8.last == UInt8(ascii: " ") {
                    report(file, index + 1, "blank at the end")
                }
            }
        }
    }

    @Test func `functions are short`() {
        for file in Project.swiftFiles {
            for function in FunctionLengths(file.code).found
            where function.count > Self.functionLinesMax {
                report(file, function.line, "\(function.name) has \(function.count) lines")
            }
        }
    }

    @Test func `nothing is left for later`() {
        let marks = ["FIX" + "ME", "TO" + "DO", "X" + "XX", "HA" + "CK:"]
        for file in Project.swiftFiles + Project.otherFiles where file.contains(anyOf: marks) {
            for (index, line) in file.lines.enumerated() {
                for mark in marks where line.contains(mark) { report(file, index + 1, mark) }
            }
        }
    }

    /// The one file that knows which C library the system has.
    private static let platform = "Sources/CozPlatform/CozPlatform.swift"

    @Test func `no banned call or import`() {
        let everywhere = [
            "import Foundation", "try!", "as!", "fatalError(", "@_exported", "unsafeFlags",
            "debugPrint(", "@testable", "import Glibc", "import Musl", "import Darwin",
        ]
        for file in Project.swiftFiles
        where file.path.hasPrefix("Sources/") && file.path != Self.platform {
            let isLibrary = Self.libraries.contains { file.path.hasPrefix($0) }
            let banned = everywhere + (isLibrary ? ["exit(", "abort("] : [])
            guard file.contains(anyOf: banned + ["print("]) else { continue }
            for (index, line) in file.codeLines.enumerated() {
                for call in banned where Self.hasWord(call, in: line) {
                    report(file, index + 1, "\(call) is banned here")
                }
                if line.contains(/(?:^|[^\w.])print\(/) {
                    report(file, index + 1, "print: nothing prints but the standard output writer")
                }
            }
        }
    }

    @Test func `text is searched by its bytes`() {
        let calls = /\.has(Prefix|Suffix)\(|split\(separator: "|Index\(of: "/
        for file in Project.swiftFiles where file.path.hasPrefix("Sources/") {
            for (index, line) in file.lines.enumerated() where line.contains(calls) {
                report(file, index + 1, "compares characters: see String+Bytes.swift")
            }
        }
    }

    @Test func `no command line in the libraries`() {
        let commandLine = /cozdb [a-z]|--[a-z]/
        for file in Project.swiftFiles
        where Self.libraries.contains(where: { file.path.hasPrefix($0) }) {
            for (index, line) in zip(file.lines, file.codeLines).enumerated() {
                let text = Self.literals(line.0, code: line.1)
                if !text.isEmpty, text.contains(commandLine) {
                    report(file, index + 1, "a command line in a message: use a remedy")
                }
            }
        }
    }

    /// The contents of the string literals of a line.
    ///
    /// - Parameter code: the line with comments and literals blanked, byte by byte.
    private static func literals(_ line: Substring, code: Substring) -> String {
        let (bytes, blanked) = (Array(line.utf8), Array(code.utf8))
        var result: [UInt8] = []
        var isInside = false
        for (index, byte) in bytes.enumerated() {
            if blanked[index] == UInt8(ascii: "\"") { isInside.toggle() }
            if blanked[index] == byte, byte != UInt8(ascii: " ") { continue }
            // Only a comment begins like this outside a literal.
            if !isInside, bytes[index...].starts(with: "//".utf8) { break }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func hasWord(_ text: String, in line: Substring) -> Bool {
        guard let range = line.range(of: text) else { return false }
        guard let before = line[..<range.lowerBound].last else { return true }
        return !(before.isLetter || before.isNumber || before == "." || before == "_")
    }

    @Test func `no path of the machine it was written on`() {
        let roots = ["/ho" + "me/", "/ro" + "ot/", "/Us" + "ers/", "/t" + "mp/", "/wo" + "rk/"]
        for file in Project.swiftFiles + Project.otherFiles where file.contains(anyOf: roots) {
            for (index, line) in file.lines.enumerated() {
                for root in roots where line.contains(root) {
                    report(file, index + 1, "an absolute path: \(root)")
                }
            }
        }
    }

    @Test func `every link of a page leads to a file`() {
        let link = /\]\(([^)#\s]+)(?:#[^)]*)?\)/
        var count = 0
        for file in Project.otherFiles where file.path.hasSuffix(".md") {
            let folder = Project.root.appendingPathComponent(file.path).deletingLastPathComponent()
            for (index, line) in file.lines.enumerated() where line.utf8.contains(0x5D) {
                for match in line.matches(of: link) where !match.1.contains("://") {
                    count += 1
                    let target = folder.appendingPathComponent(String(match.1)).path
                    if !FileManager.default.fileExists(atPath: target) {
                        report(file, index + 1, "a link to \(match.1), which is not there")
                    }
                }
            }
        }
        #expect(count > 50, "links are found")
    }

    @Test func `every file declares something that another file names`() {
        let declared = /\b(?:struct|enum|class|actor|protocol|typealias|func|var|let|case) (\w+)/
        let names = Project.swiftFiles.map { file in
            Set(file.code.matches(of: /[A-Za-z_]\w*/).map(\.0))
        }
        for (index, file) in Project.swiftFiles.enumerated()
        where file.path.hasPrefix("Sources/") && !file.code.contains("@main")
            && file.path != Self.platform
        {
            let own = Set(file.code.matches(of: declared).map(\.1))
            let isUsed = names.indices.contains { other in
                other != index && !own.isDisjoint(with: names[other])
            }
            if !isUsed { report(file, 1, "no other file names anything this one declares") }
        }
    }
}

/// Finds functions in code whose comments and strings are blanked, and counts their lines.
struct FunctionLengths {
    struct Function {
        var name: String
        var line: Int
        var count: Int
    }

    private(set) var found: [Function] = []

    init(_ code: String) {
        let head = /(?:func [^\s(<]+|\binit[?]?(?=[(<])|\bdeinit\b|\bsubscript(?=[(<]))/
        var lineStarts = 1
        var position = code.startIndex
        let bytes = Array(code.utf8)
        for match in code.matches(of: head) {
            // A call such as `self.init(` or `.init(` declares nothing.
            if code[..<match.range.lowerBound].last == "." { continue }
            lineStarts += code[position..<match.range.lowerBound].count { $0 == "\n" }
            position = match.range.lowerBound
            let end = code.utf8.distance(from: code.startIndex, to: match.range.upperBound)
            guard let count = Self.lines(from: end, in: bytes) else { continue }
            found.append(Function(name: String(match.0), line: lineStarts, count: count))
        }
    }

    private static let declarationWords = ["func ", "var ", "init(", "static ", "mutating "]

    private static func begins(_ words: [String], at index: Int, in code: [UInt8]) -> Bool {
        let before = code[index - 1]
        guard before == UInt8(ascii: " ") || before == UInt8(ascii: "\n") else { return false }
        return words.contains { code[index...].starts(with: $0.utf8) }
    }

    /// Lines up to the brace that closes the body; nil where there is no body.
    private static func lines(from start: Int, in code: [UInt8]) -> Int? {
        var parentheses = 0
        var braces = 0
        var count = 1
        for index in start..<code.count {
            switch code[index] {
            case UInt8(ascii: "\n"): count += 1
            case UInt8(ascii: "("), UInt8(ascii: "["): parentheses += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): parentheses -= 1
            case UInt8(ascii: "{"): braces += 1
            case UInt8(ascii: "}"):
                braces -= 1
                if braces < 0 { return nil }
                if braces == 0, parentheses == 0 { return count }
            default:
                // The next declaration of a protocol: this one has no body.
                let isBetween = braces == 0 && parentheses == 0
                if isBetween, begins(declarationWords, at: index, in: code) { return nil }
            }
        }
        return nil
    }
}
