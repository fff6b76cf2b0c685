// Real data and documentation that lie beside the package where it is developed.

internal import Foundation

enum SharedData {
    /// The path of a file; nil, with a note, where it is missing.
    static func path(_ name: String) -> String? {
        let path = CatalogueSources.directory?.appendingPathComponent(name).path
        guard let path, FileManager.default.isReadableFile(atPath: path) else {
            print("skipped: ../shared/\(name) is not there")
            return nil
        }
        return path
    }

    static func read(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
