// Seeds of random tests: fixed for every commit, so that a failure belongs to the change that shows
// it; random in the nightly run.

internal import Foundation

/// Where a random test takes its seed from.
public enum TestSeed {
    private static let environment = ProcessInfo.processInfo.environment

    /// The seed in `COZDB_SEED`; a random one if `COZDB_RANDOM` is set; otherwise one that only
    /// depends on the calling line. The test prints it.
    public static func seed(file: String = #fileID, line: Int = #line) -> UInt64 {
        if let seed = environment["COZDB_SEED"].flatMap({ UInt64($0) }) { return seed }
        if environment["COZDB_RANDOM"] != nil { return UInt64.random(in: 0 ... .max) }
        // FNV-1a
        return "\(file):\(line)".utf8.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
            (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
    }
}
