// What fuzzers run: bytes go in, and nothing may come out but an answer or an error of a documented
// kind. The fuzzers (Fuzz/) and the tests that replay their corpus call the same code.

/// One part of the program that reads bytes from outside.
///
/// The first byte of an input chooses what is done with the rest; each target says how.
enum FuzzTarget: String, CaseIterable, Sendable {
    /// Line protocol, as imports read it.
    case lines
    /// The same, committed and queried.
    case imports
    /// The decompressing input of imports.
    case gzip
    /// Statements: parsed, planned and run.
    case query
    /// A write-ahead log: replayed, recovered, repaired.
    case log
    /// A segment: checked, queried, merged, repaired.
    case segment
    /// `MANIFEST` and `LOCK`.
    case manifest
    /// A file of the rejects journal.
    case rejects
    /// Blocks of values, strings and presence.
    case block
    /// Calls that write: batches, commits, openings.
    case batch

    /// Runs the target on one input.
    ///
    /// - Throws: where two ways to the same answer disagree, or an error is of no documented kind.
    func run(_ input: [UInt8]) throws(FuzzFailure) {
        guard let choice = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch self {
        case .lines: try LineFuzzing.run(bytes, choice)
        case .imports: try LineFuzzing.commit(bytes, choice)
        case .gzip: try GzipFuzzing.run(bytes, choice)
        case .query: try QueryFuzzing.run(bytes, choice)
        case .log: try LogFuzzing.run(bytes, choice)
        case .segment: try SegmentFuzzing.run(bytes, choice)
        case .manifest: try ManifestFuzzing.run(bytes, choice)
        case .rejects: try RejectsFuzzing.run(bytes, choice)
        case .block: try BlockFuzzing.run(bytes, choice)
        case .batch: try BatchFuzzing.run(bytes, choice)
        }
    }
}

/// Something that must not be.
struct FuzzFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

func require(
    _ condition: Bool, _ message: @autoclosure () -> String
) throws(FuzzFailure) {
    if !condition { throw FuzzFailure(message()) }
}
