// Every input that a fuzzer found worth keeping, and every one that once went wrong, again.

internal import Foundation
internal import Testing

struct CorpusTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Corpus")

    /// The inputs of a target, by name.
    private static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = Self.folder.appendingPathComponent(target.rawValue)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0))))
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `inputs of the corpus end in an answer or an error`(target: FuzzTarget) throws {
        let inputs = try Self.inputs(target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(throws: Never.self, "\(target) \(input.name)") { try target.run(input.bytes) }
        }
    }
}
