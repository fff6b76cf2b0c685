// The layers of the library as a table: which folder may name which. Folders are the layers of one
// module, so the compiler does not hold this; the test does.

internal import Foundation
internal import Testing

struct LayeringTests {
    /// Folder of `Sources/CozDB` -> folders it may name besides itself. "" is the public face.
    private static let mayName: [String: Set<String>] = {
        var mayName: [String: Set<String>] = [
            "Bytes": [],
            "Model": ["Bytes"],
            "Threads": ["Bytes", "Model"],
            "Columns": ["Bytes", "Model"],
            "Encoding": ["Bytes", "Model", "Columns"],
            "Files": ["Bytes", "Model", "Threads"],
        ]
        // Folders of storage stand on top of each other, those of the query layer likewise.
        var stored: Set<String> = ["Bytes", "Model", "Threads", "Columns", "Encoding", "Files"]
        for folder in [
            "Storage/Manifest", "Storage/Segment", "Storage/Log",
            "Storage/Memtable", "Storage/Reading", "Storage/Rewriting", "Storage/Engine",
            "Storage/Damage", "Storage/Backup",
        ] {
            mayName[folder] = stored
            stored.insert(folder)
        }
        // Of storage, Query sees snapshots and their cursors.
        var below: Set<String> = ["Bytes", "Model", "Threads", "Columns", "Storage/Reading"]
        for folder in [
            "Query/Time", "Query/Regex", "Query/Interface", "Query/Language", "Query/Functions",
            "Query/Planning", "Query/Execution", "Query",
        ] {
            mayName[folder] = below
            below.insert(folder)
        }
        mayName[""] = below.union(mayName.keys)
        return mayName
    }()

    private struct Home {
        var file: SourceFile
        var layer: String
    }

    /// Top-level names that exactly one file of the library declares, with that file.
    private static func homes(_ files: [SourceFile]) -> [String: Home] {
        let declaration =
            #/
            ^ (?:@\S+\ )* (?:(?:public|package|internal|final|indirect|nonisolated)\ )*
            (?:struct|enum|class|actor|protocol|typealias|func|let|var)\ ([A-Za-z_]\w*)
            /#
        var homes: [String: Home] = [:]
        var shared: Set<String> = []
        for file in files {
            guard let layer = file.layer else { continue }
            for line in file.codeLines {
                guard let match = try? declaration.prefixMatch(in: line) else { continue }
                let name = String(match.1)
                if let other = homes[name], other.file.path != file.path { shared.insert(name) }
                homes[name] = Home(file: file, layer: layer)
            }
        }
        for name in shared { homes[name] = nil }
        return homes
    }

    @Test func `every folder of the library is in the table`() {
        for file in Project.swiftFiles {
            guard let layer = file.layer else { continue }
            #expect(Self.mayName[layer] != nil, "\(file.path): \(layer) is not in the table")
        }
    }

    @Test func `folders name only the layers below them`() {
        let word = /[A-Za-z_]\w*/
        let files = Project.swiftFiles.filter { $0.layer != nil }
        let homes = Self.homes(files)
        #expect(homes.count > 20, "found the library's declarations")
        let nested = /(?:struct|enum|class|actor|protocol|typealias|func) ([A-Za-z_]\w*)/
        for file in files {
            guard let layer = file.layer, let allowed = Self.mayName[layer] else { continue }
            // A type or function of its own hides one of the same name elsewhere.
            let own = Set(file.code.matches(of: nested).map(\.1))
            for (number, line) in file.codeLines.enumerated() {
                for match in line.matches(of: word) where !own.contains(match.0) {
                    guard let home = homes[String(match.0)], home.layer != layer else { continue }
                    if allowed.contains(home.layer) { continue }
                    // A member or an argument label of the same name is no reference.
                    if Self.isMember(match.range, in: line) { continue }
                    Issue.record(
                        """
                        \(file.path):\(number + 1) names \(match.0) of \(home.file.path), but \
                        \(layer) may name only \(allowed.sorted().joined(separator: ", "))
                        """)
                }
            }
        }
    }

    private static func isMember(_ range: Range<Substring.Index>, in line: Substring) -> Bool {
        if line[..<range.lowerBound].last == "." { return true }
        guard line[range].first?.isLowercase == true else { return false }
        // Only a call is a sure sign of a top-level function; other lower case words are names
        // of parameters and variables.
        let isCall = line[range.upperBound...].first == "("
        let isDeclared = line[..<range.lowerBound].hasSuffix("func ")
        return !isCall || isDeclared
    }
}
