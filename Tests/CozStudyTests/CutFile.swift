// A compressed file that ends early, as a broken transfer leaves it.

internal import CozTestSupport
internal import Foundation

/// The first half of the text's gzip.
func halfOfGzip(_ text: String) throws -> Data {
    let directory = TemporaryDirectory()
    try FileManager.default.createDirectory(
        atPath: directory.path, withIntermediateDirectories: true)
    let path = directory.path + "/file"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let gzip = Process()
    gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    gzip.arguments = ["gzip", path]
    try gzip.run()
    gzip.waitUntilExit()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path + ".gz"))
    return whole.prefix(whole.count / 2)
}
