// Real data and conformance cases that lie beside the package where it is developed. Tests that
// need them are skipped where they are missing.

internal import Glibc

@testable internal import CozDB
@testable internal import CozImport

enum SharedFiles {
    /// The directory, or nil.
    static let directory: String? = {
        var path = String(#filePath)
        // The file, CozImportTests, Tests: what is left is the package. Worktrees lie deeper.
        for _ in 0..<3 { path = parent(path) }
        for _ in 0..<3 {
            path = parent(path)
            if unsafe access(path + "/shared/conformance/README.md", R_OK) == 0 {
                return path + "/shared"
            }
        }
        return nil
    }()

    private static func parent(_ path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    static func path(_ name: String) -> String? {
        guard let directory, unsafe access("\(directory)/\(name)", R_OK) == 0 else { return nil }
        return "\(directory)/\(name)"
    }

    static func read(_ path: String) throws(DatabaseError) -> [UInt8] {
        let file = try InputFile(path: path)
        var buffer = PaddedBuffer()
        while true {
            let before = buffer.count
            unsafe try buffer.append(upTo: 1 << 20) { (target) throws(DatabaseError) -> Int in
                unsafe try file.read(into: target)
            }
            if buffer.count == before { return buffer.bytes.copy(0..<before) }
        }
    }
}
