// Line protocol as an input format.

internal import CozDB
internal import CozPlatform

extension InputFormat {
    /// Line protocol of InfluxDB 1.x, including the output of `influx_inspect export`. Never
    /// detected: it is the fallback for files that no other format recognizes.
    public static let lineProtocol = InputFormat(
        name: "lp", recognizes: { _, _ in false },
        makeReader: { options in LineProtocolReader(options) })
}

/// A reader whose copies share one parser.
struct LineProtocolReader: PointReader {
    /// Bytes per read: few enough to be in the processor's cache when parsed.
    static let chunkSizeBytes = 1 << 18

    private let parser: ParserBox

    /// A class, because parsers cannot be copied and readers can.
    private final class ParserBox {
        var parser: LineProtocolParser

        init(_ options: LineProtocolParser.Options) {
            parser = LineProtocolParser(options: options)
        }
    }

    init(_ options: ImportOptions) {
        var lines = LineProtocolParser.Options()
        lines.precision = options.precision
        lines.now = options.now ?? .now
        lines.participant = options.participant
        lines.participantTags = options.participantTags
        lines.renames = options.stored
        lines.database = options.database
        lines.policy = options.policy
        parser = ParserBox(lines)
    }

    mutating func begin(_ file: InputFile) {
        parser.parser.beginFile()
        parser.parser.checksDeclarations = !file.isRepeatable
    }

    mutating func read(
        _ file: InputFile, into batch: inout WriteBatch, limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        try LineProtocolReader.read(file, with: &parser.parser, into: &batch, limits)
    }

    /// A separate function, so that the parser is borrowed once rather than per use.
    private static func read(
        _ file: InputFile, with parser: inout LineProtocolParser, into batch: inout WriteBatch,
        _ limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        var size = 0
        while true {
            switch try parser.parse(into: &batch, points: limits.points) {
            case .batchFull: return false
            case .finished: return true
            case .needsInput: break
            }
            if size >= limits.sizeBytes && !batch.isEmpty { return false }
            let count = try parser.append(from: file, sizeBytesMax: chunkSizeBytes)
            if count == 0 { parser.finish() }
            size += count
        }
    }

    func complete(_ report: inout ImportReport) {
        report.skippedOtherDatabases += parser.parser.skippedPoints
        report.droppedTimeFields += parser.parser.droppedTimeFields
        report.databases += parser.parser.contexts
    }
}
