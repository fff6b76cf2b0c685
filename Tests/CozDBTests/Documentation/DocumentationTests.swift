// The DocC catalogues agree with the sources: articles with their snippets, topics with the public
// types, links with pages. Tools/docs builds the pages and checks the rest.

internal import Foundation
internal import Testing

/// The catalogue of a library, as files.
struct Catalogue: Sendable {
    let module: String
    let pages: [SourceFile]
    /// The Swift files of the library.
    let sources: [SourceFile]

    static let modules = ["CozDB", "CozImport", "CozStudy", "CozDBService"]
    static let all = modules.map { Catalogue($0) }

    init(_ module: String) {
        self.module = module
        let folder = "Sources/\(module)/"
        pages = Project.otherFiles.filter { $0.path.hasPrefix(folder + module + ".docc/") }
        sources = Project.swiftFiles.filter { $0.path.hasPrefix(folder) }
    }

    var landingPage: SourceFile? { pages.first { $0.name == module + ".md" } }
    var articles: [SourceFile] { pages.filter { !$0.text.hasPrefix("# ``") } }
    var typePages: [SourceFile] { pages.filter { $0.path.contains(".docc/Types/") } }

    /// Names of the public types and functions at the top level.
    var publicNames: [String] {
        let declaration =
            /^public (?:final |indirect )*(?:struct|enum|class|protocol|actor|typealias|func) (\w+)/
        let lines = sources.flatMap(\.codeLines).filter { $0.hasPrefix("public ") }
        let names = lines.compactMap { $0.firstMatch(of: declaration)?.1 }
        return Set(names.map { String($0) }).sorted()
    }
}

struct DocumentationTests {
    private static func report(_ file: SourceFile, _ line: Int, _ what: String) {
        Issue.record("\(file.path):\(line): \(what)")
    }

    /// Code of an article, with the heading above it.
    private struct Code: Hashable {
        var heading: String
        var text: String
    }

    /// The Swift code of an article, block by block. `import` lines at the start of a block are for
    /// readers: a function cannot have them.
    private static func blocks(_ article: SourceFile) -> [Code] {
        var blocks: [Code] = []
        var heading = ""
        var open: [Substring]?
        for line in article.lines {
            if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
            switch line {
            case "```swift": open = []
            case "```":
                let code = (open ?? []).drop { $0.hasPrefix("import ") || $0.isEmpty }
                if open != nil {
                    blocks.append(Code(heading: heading, text: code.joined(separator: "\n")))
                }
                open = nil
            default: open?.append(line)
            }
        }
        return blocks
    }

    /// The marked regions of a file, without the indentation that all their lines share. The mark
    /// names the heading of the article: declarations stand before tests, so the order may differ.
    private static func regions(_ file: SourceFile) -> [Code] {
        var regions: [Code] = []
        var heading = ""
        var open: [Substring]?
        for line in file.lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("// Snippet: ") {
                heading = String(text.dropFirst("// Snippet: ".count))
                open = []
            } else if text == "// End of snippet" {
                let lines = open ?? []
                let indents = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }
                let code = lines.map { $0.dropFirst(indents.min() ?? 0) }
                regions.append(Code(heading: heading, text: code.joined(separator: "\n")))
                open = nil
            } else {
                open?.append(line)
            }
        }
        return regions
    }

    @Test(arguments: Catalogue.modules)
    func `the code of each article is what the tests run`(module: String) {
        let catalogue = Catalogue(module)
        #expect(catalogue.articles.count >= 2)
        for article in catalogue.articles {
            let name = article.name.replacingOccurrences(of: ".md", with: "Snippets.swift")
            let blocks = Self.blocks(article)
            guard let file = Project.swiftFiles.first(where: { $0.name == name }) else {
                if !blocks.isEmpty { Self.report(article, 1, "its code is in no file \(name)") }
                continue
            }
            let regions = Self.regions(file)
            for code in Set(blocks).subtracting(regions) {
                Issue.record("\(article.path) has code that \(name) has not: \(code)")
            }
            for code in Set(regions).subtracting(blocks) {
                Issue.record("\(file.path) has code that \(article.name) has not: \(code)")
            }
            for line in article.lines where line.hasPrefix("import ") {
                #expect(file.text.contains("internal \(line)\n"), "\(article.path)")
            }
        }
    }

    @Test func `every file of snippets has an article`() {
        let articles = Set(Catalogue.all.flatMap(\.articles).map(\.name))
        for file in Project.swiftFiles where file.name.hasSuffix("Snippets.swift") {
            let article = file.name.replacingOccurrences(of: "Snippets.swift", with: ".md")
            if !articles.contains(article) { Self.report(file, 1, "there is no \(article)") }
        }
    }

    @Test(arguments: Catalogue.modules)
    func `the landing page lists every public type and article once`(module: String) throws {
        let catalogue = Catalogue(module)
        let page = try #require(catalogue.landingPage)
        let topics = page.text.components(separatedBy: "\n## Topics\n").last ?? ""
        let symbols = topics.matches(of: /(?m)^- ``(\w+)/).map { String($0.1) }
        // Modules stand for the extensions of their types.
        let modules = Catalogue.modules + ["Swift"]
        let types = symbols.filter { !modules.contains($0) }
        #expect(types.count == Set(types).count, "a type is listed once")
        #expect(Set(types) == Set(catalogue.publicNames))
        let articles = topics.matches(of: /(?m)^- <doc:(\w+)>/).map { "\($0.1).md" }
        let others = catalogue.articles.map(\.name).filter { $0 != page.name }
        #expect(articles.sorted() == others.sorted())
    }

    @Test(arguments: Catalogue.modules)
    func `links of the catalogue lead somewhere`(module: String) {
        let catalogue = Catalogue(module)
        let articles = Set(catalogue.articles.map(\.name))
        let types = Set(catalogue.publicNames)
        // Members by their names alone; DocC also checks their labels and to whom they belong.
        let names = Set(Catalogue.all.flatMap(\.sources).flatMap(\.words))
        for page in catalogue.pages {
            for (index, line) in page.lines.enumerated() {
                for match in line.matches(of: /<doc:([^>]*)>/)
                where !articles.contains("\(match.1).md") {
                    Self.report(page, index + 1, "there is no article \(match.1)")
                }
                for match in line.matches(of: /``([^`]+)``/) {
                    let parts = match.1.split(separator: "/").map { $0.prefix { $0 != "(" } }
                    let isTypePage = catalogue.typePages.contains { $0.path == page.path }
                    if let first = parts.first, !isTypePage, !match.1.hasPrefix("/"),
                        !types.contains(String(first)), page.name != catalogue.module + ".md"
                    {
                        Self.report(page, index + 1, "\(first) is no public type")
                    }
                    for part in parts
                    where part.contains(/^\w/) && !names.contains(Array(part.utf8)) {
                        if !Catalogue.modules.contains(String(part)) {
                            Self.report(page, index + 1, "nothing is named \(part)")
                        }
                    }
                }
            }
        }
    }

    /// DocC builds the pages of one module at a time.
    @Test(arguments: Catalogue.modules)
    func `comments link to no type of another module`(module: String) {
        let own = Set(Catalogue(module).publicNames)
        let foreign = Set(Catalogue.all.flatMap(\.publicNames)).subtracting(own)
        for file in Catalogue(module).sources {
            for (index, line) in file.lines.enumerated() where line.contains("///") {
                for match in line.matches(of: /``(\w+)/) where foreign.contains(String(match.1)) {
                    Self.report(file, index + 1, "\(match.1) is a type of another module")
                }
            }
        }
    }

    @Test(arguments: Catalogue.modules)
    func `pages of types are about public types and have topics`(module: String) {
        let catalogue = Catalogue(module)
        let types = Set(catalogue.publicNames)
        for page in catalogue.typePages {
            let type = page.name.replacingOccurrences(of: ".md", with: "")
            #expect(page.lines.first == "# ``\(catalogue.module)/\(type)``", "\(page.path)")
            #expect(types.contains(type) && page.text.contains("\n## Topics\n"), "\(page.path)")
        }
    }

    @Test(arguments: Catalogue.modules)
    func `lines of the catalogue are short`(module: String) {
        let catalogue = Catalogue(module)
        for page in catalogue.pages {
            for (index, line) in page.lines.enumerated() where line.count > 100 {
                Self.report(page, index + 1, "\(line.count) characters")
            }
        }
    }

    @Test(arguments: Catalogue.modules)
    func `a comment that names a parameter names all of them`(module: String) {
        let catalogue = Catalogue(module)
        for file in catalogue.sources {
            for function in DocumentedFunction.all(in: file)
            where !function.documented.isEmpty && function.documented != function.parameters {
                Self.report(
                    file, function.line,
                    "documents \(function.documented), has \(function.parameters)")
            }
        }
    }

    @Test func `parameters are read from declarations`() {
        let file = SourceFile(
            path: "a.swift",
            text: """
                /// Does it.
                ///
                /// - Parameters:
                ///   - a: One.
                ///   - body: Two.
                @discardableResult
                public func f(
                    _ a: [String: Int] = [:], with body: (Int, Result<A, B>) -> Void
                ) throws(E) -> Int {}

                /// - Parameter x: One.
                public init(x: Int, y: Int) {}

                """)
        let functions = DocumentedFunction.all(in: file)
        #expect(functions.map(\.line) == [7, 12])
        #expect(functions.map(\.documented) == [["a", "body"], ["x"]])
        #expect(functions.map(\.parameters) == [["a", "body"], ["x", "y"]])
    }
}

extension SourceFile {
    /// The words of the code: names and keywords. Regular expressions would take seconds.
    fileprivate var words: Set<[UInt8]> {
        let words = code.utf8.split { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_"))
        }
        return Set(words.map { Array($0) })
    }
}

/// A public function or initializer with the comment before it.
private struct DocumentedFunction {
    var line: Int
    /// Parameters that the comment names, and those of the declaration.
    var documented: [String]
    var parameters: [String]

    static func all(in file: SourceFile) -> [DocumentedFunction] {
        let head = /^\s*public (?:\w+ )*(?:func \S+?|init\??)(?:<[^(]*>)?\(/
        var found: [DocumentedFunction] = []
        var documented: [String] = []
        for (index, line) in file.lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("///") {
                let marks = ["/// - Parameter ", "///   - "]
                if marks.contains(where: { text.hasPrefix($0) }),
                    let match = text.firstMatch(of: /^\/\/\/ (?:- Parameter|  -) (\w+):/)
                {
                    documented.append(String(match.1))
                }
            } else if !text.hasPrefix("@") || text.contains("public ") {
                if text.hasPrefix("public "), let match = file.codeLines[index].firstMatch(of: head)
                {
                    let rest = file.codeLines[index...].joined(separator: "\n")
                    let start = rest.index(
                        rest.startIndex, offsetBy: file.codeLines[index][match.range].count)
                    found.append(
                        DocumentedFunction(
                            line: index + 1, documented: documented,
                            parameters: names(rest[start...])))
                }
                documented = []
            }
        }
        return found
    }

    /// Returns the names in a list of parameters.
    ///
    /// - Parameter text: what follows the opening parenthesis.
    private static func names(_ text: Substring) -> [String] {
        var depth = 0
        var parts = [""]
        var last: Character = " "
        scan: for character in text {
            switch character {
            case "(", "[", "<": depth += 1
            case ")" where depth == 0: break scan
            case ")", "]": depth -= 1
            case ">" where last != "-": depth -= 1
            case "," where depth == 0: parts.append("")
            default: break
            }
            if character != "," || depth > 0 { parts[parts.count - 1].append(character) }
            last = character
        }
        return parts.compactMap { part in
            let label = part.split(separator: ":", maxSplits: 1).first ?? ""
            return label.split(whereSeparator: \.isWhitespace).last.map { String($0) }
        }
    }
}
