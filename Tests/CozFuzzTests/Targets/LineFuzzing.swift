// Line protocol: read whole and in pieces, printed and read again, committed.

internal import Glibc

@testable internal import CozDB
@testable internal import CozImport

/// First byte: unit of the times (bits 0 and 1), a participant for lines without one (2), short
/// strings alone (3), size of the pieces (5 to 7).
enum LineFuzzing {
    static func run(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        let options = options(choice)
        let whole = try ReadLines(bytes, options, pieceSizeBytes: .max)
        let pieces = try ReadLines(bytes, options, pieceSizeBytes: 1 + Int(choice >> 5))
        try require(whole == pieces, "pieces read otherwise: \(whole) \(pieces)")
        let again = try ReadLines(
            Array(whole.lines.utf8), LineProtocolParser.Options(), pieceSizeBytes: .max)
        try require(again.refusals.isEmpty, "refuses what it printed: \(again.refusals)")
        try require(
            again.text.utf8.elementsEqual(whole.lines.utf8), "reads otherwise: \(whole) \(again)")
        guard !whole.items.isEmpty else { return }
        let (items, refusals) = try ReadLines.readItems(whole.items)
        try require(refusals.isEmpty, "refuses the items that it printed: \(refusals)")
        try require(
            items.utf8.elementsEqual(whole.items.utf8), "reads items otherwise: \(whole) \(items)")
    }

    /// Values that find their field locked to another type are refused; nothing else is lost.
    static func commit(_ bytes: [UInt8], _ choice: UInt8) throws(FuzzFailure) {
        let options = options(choice)
        try Sample.attempt(allowing: [.usage]) { () throws(DatabaseError) in
            var batch = WriteBatch()
            _ = try ReadLines.read(bytes, options, pieceSizeBytes: .max, into: &batch)
            let database = try Sample.open(MemoryFiles(), .readWrite)
            _ = try database.write(batch)
            try database.rejects { _ throws(DatabaseError) in true }
            _ = try database.query("SELECT * FROM /.*/", options: Sample.queryOptions)
            try database.close()
        }
    }

    private static func options(_ choice: UInt8) -> LineProtocolParser.Options {
        var options = LineProtocolParser.Options()
        options.precision = TimestampPrecision.allCases[Int(choice & 3)]
        options.participant = choice & 4 == 0 ? nil : "p 1"
        if choice & 8 != 0 { options.stringSizeBytesMax = 16 }
        return options
    }
}

/// What a parser made of some bytes.
private struct ReadLines: Equatable {
    /// The points as line protocol, or as items of JSON where that cannot represent their names.
    var text: String
    /// Those that are line protocol, and those that are items of JSON.
    var lines: String
    var items = ""
    var refusals: [Refusal]

    init(
        _ bytes: [UInt8], _ options: LineProtocolParser.Options, pieceSizeBytes: Int
    ) throws(FuzzFailure) {
        var batch = WriteBatch()
        var isRead = true
        do throws(DatabaseError) {
            isRead = try ReadLines.read(
                bytes, options, pieceSizeBytes: pieceSizeBytes, into: &batch)
        } catch {
            // An export of several databases.
            try Sample.check(error, allowing: [.usage])
        }
        try require(isRead, "the parser does not come to an end")
        refusals = batch.refusals
        // A mark of byte order is one at the beginning of a file alone, else it is part of a name.
        text = "# points\n"
        lines = text
        for line in ReadLines.points(batch) {
            text += line
            if line.utf8.first == UInt8(ascii: "{") { items += line } else { lines += line }
        }
    }

    private static func points(_ batch: WriteBatch) -> [String] {
        var start = 0
        return batch.rows.map { row in
            defer { start = Int(row.cellEnd) }
            return LineText.point(row, start..<Int(row.cellEnd), of: batch) + "\n"
        }
    }

    /// Reads items of JSON as an import does, and prints them again.
    static func readItems(_ text: String) throws(FuzzFailure) -> (String, [Refusal]) {
        var batch = WriteBatch()
        do {
            var options = ImportOptions()
            options.settings.identity = .allTags
            var reader = ObjectReader(options)
            let bytes = Array(text.utf8)
            // Sound: the stream is closed once, and the bytes are those of an array of as many.
            guard let stream = unsafe tmpfile() else { throw FuzzFailure("no temporary file") }
            let descriptor = unsafe dup(fileno(stream))
            _ = unsafe fclose(stream)
            _ = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            lseek(descriptor, 0, SEEK_SET)
            let file = InputFile(name: "items", descriptor: descriptor, sizeBytes: bytes.count)
            reader.begin(file)
            let limits = BatchLimits(points: .max, sizeBytes: .max)
            while try !reader.read(file, into: &batch, limits: limits) {}
        } catch {
            throw FuzzFailure("items are not read: \(error)")
        }
        return (points(batch).joined(), batch.refusals)
    }

    /// Whether the parser came to the end.
    static func read(
        _ bytes: [UInt8], _ options: LineProtocolParser.Options, pieceSizeBytes: Int,
        into batch: inout WriteBatch
    ) throws(DatabaseError) -> Bool {
        var parser = LineProtocolParser(options: options)
        var offset = 0
        for _ in 0..<(2 * bytes.count + 4) {
            switch try parser.parse(into: &batch, points: .max) {
            case .needsInput where offset < bytes.count:
                let end = offset + min(pieceSizeBytes, bytes.count - offset)
                parser.append(bytes.span.extracting(offset..<end))
                offset = end
            case .needsInput: parser.finish()
            case .batchFull: break
            case .finished: return true
            }
        }
        return false
    }

    static func == (left: ReadLines, right: ReadLines) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8) && left.refusals == right.refusals
    }
}
