// A directory for one test, removed afterwards.

import Foundation

/// A fresh directory; gone when the last reference goes.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() {
        let name = "cozdb-test-\(UUID().uuidString)"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Names of all files, with their sizes.
    public var files: [String: Int] {
        var files: [String: Int] = [:]
        let all = FileManager.default.enumerator(atPath: path)
        while let name = all?.nextObject() as? String {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            if attributes?[.type] as? FileAttributeType == .typeRegular {
                files[name] = attributes?[.size] as? Int ?? 0
            }
        }
        return files
    }
}
