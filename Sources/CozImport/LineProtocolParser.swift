// Parses line protocol of InfluxDB 1.x into a WriteBatch: state, input and lines.
// LineProtocolParser+Series.swift and +Fields.swift read the parts of a line.
//
// One pass, without allocation per line or value. The layout cache makes it fast. It expects the
// series key of the previous line, the field that followed last time, and the last string of a
// field.

public import CozDB

/// Reads line protocol in chunks of any size and adds its points to batches.
///
/// Accepts what InfluxDB 1.8 accepts and refuses with its wording, with these exceptions:
/// - A newline ends a line except inside a quoted string, also after a backslash.
/// - If a line with a newline in a string is bad, only its first physical line is refused, and
///   parsing resumes at the next one. So a missing quote costs one line, not the rest of the file.
///   A string may have `Options.stringSizeBytesMax` bytes.
/// - A line may have `lineSizeBytesMax` bytes.
///
/// Not safe for use by several threads at once.
public struct LineProtocolParser: ~Copyable {
    /// Defaults for what lines leave out, and limits.
    public struct Options: Sendable {
        /// The unit of timestamps.
        public var precision = TimestampPrecision.nanoseconds
        /// The time of points without a timestamp; `LineProtocolParser.now` can change it later.
        public var now = Timestamp(nanoseconds: 0)
        /// Whether `now` is truncated to the precision, as InfluxDB does.
        public var cutsNow = true
        /// The tag added to lines that lack it, if `participant` is set.
        public var participantTag: String {
            get { participantTags.standard }
            set { participantTags.standard = newValue }
        }
        /// This tag, and those of the experiments that have another one.
        package var participantTags = ParticipantTags()
        /// The names of tags that are stored under another name.
        package var renames = Renames()
        /// The participant of lines without that tag; nil: such lines stay as they are.
        public var participant: String?
        /// The database of the export to take; nil: the only one.
        public var database: String?
        /// The retention policy of the export to take; nil: the only one.
        public var policy: String?
        /// The longest string value, in bytes as written between the quotes.
        public var stringSizeBytesMax = 1 << 20

        /// Creates the defaults: nanoseconds, the tag `id_participant`.
        public init() {}
    }

    /// Why `parse` returned.
    public enum Progress: Sendable {
        /// The batch has as many points as requested.
        case batchFull
        /// The rest of the input is not a complete line. After a newline in a string, that is so
        /// until a newline outside of strings, or until the string is too long.
        case needsInput
        /// All input was read, and `finish` was called.
        case finished
    }

    /// The longest line, in bytes.
    public static let lineSizeBytesMax = 32 << 20

    /// Points skipped because they belong to other databases or policies.
    public private(set) var skippedPoints = 0
    /// Fields named `time` that were dropped, as InfluxDB does.
    public private(set) var droppedTimeFields = 0

    /// The time of points without a timestamp, for all points read from now on.
    public var now: Timestamp

    let options: Options
    /// Nanoseconds per unit of the timestamps.
    let timeFactor: UInt64
    var export: ExportReader
    private var input = PaddedBuffer(capacity: 1 << 16)
    /// Index in the input where the next line begins.
    private var position = 0
    /// Index after the last newline in the input. Lines that begin before it are complete, unless a
    /// string contains that newline.
    private var wholeEnd = 0
    private var isFinished = false
    /// The line at `position`, if it was read and has not been received whole.
    private var unfinished: UnfinishedLine?
    /// The first bytes of an overlong line whose end has not been read yet.
    private var overlong: [UInt8]?
    private var lineNumber = 1
    /// Points in the batch so far, including refused lines.
    private var batchPoints = 0
    private var isFileStart = true
    /// Whether skipped points left names and strings in the batch.
    private var hasSkipped = false

    // The layout cache; valid for one batch.
    var seriesKeys = KeyTable()
    var series: [SeriesEntry] = []
    var lastSeries = -1
    var fieldKeys = KeyTable()
    var fields: [FieldEntry] = []
    /// The last string of each field, in slots of `FieldEntry.stringSlotSize` bytes.
    var lastStrings = PaddedBuffer()
    /// The first field of the last line, per experiment of the batch; -1 if unknown.
    var firstFields: [Int] = []

    var problem = LineProblem(reason: "", index: 0, decidedAt: 0)
    /// The time of the current point.
    var pointTime: Int64 = 0
    /// Newlines inside strings of the current line.
    var newlinesInStrings = 0
    /// Index of the quote that opens the first string with a newline in the current line.
    var firstOpenQuote = 0
    /// Fields named `time` in the current line.
    var timeFieldsInLine = 0
    var scratch: [UInt8] = []
    var tags: [TagRange] = []

    /// Creates a parser that has read nothing yet.
    public init(options: Options = Options()) {
        self.options = options
        now = options.now
        timeFactor = UInt64(options.precision.nanoseconds)
        export = ExportReader(database: options.database, policy: options.policy)
    }

    /// The database and policy whose points were taken; nil if the input names none.
    public var context: ExportContext? { export.chosen }
    /// All databases and policies with points, in order of appearance.
    public var contexts: [ExportContext] { export.found }
    /// See `ExportReader.checksDeclarations`.
    var checksDeclarations: Bool {
        get { export.checksDeclarations }
        set { export.checksDeclarations = newValue }
    }

    /// Bytes received and not parsed yet.
    public var pendingSizeBytes: Int { input.count - position }

    // MARK: Input

    /// Starts another file: line numbers restart at 1, contexts are forgotten.
    public mutating func beginFile() {
        input.removeAll()
        position = 0
        wholeEnd = 0
        isFinished = false
        unfinished = nil
        overlong = nil
        lineNumber = 1
        isFileStart = true
        export.beginFile()
    }

    /// Appends the next bytes of the input.
    public mutating func append(_ bytes: Span<UInt8>) {
        dropReadBytes()
        let start = input.count
        input.append(bytes)
        findWholeEnd(from: start)
    }

    /// Reads the next bytes of a file into the parser's own buffer.
    ///
    /// - Returns: the number of bytes; 0 at the end of the file.
    /// - Throws: as `InputFile.read`.
    mutating func append(
        from file: InputFile, sizeBytesMax: Int
    ) throws(DatabaseError) -> Int {
        dropReadBytes()
        let start = input.count
        unsafe try input.append(upTo: sizeBytesMax) { (target) throws(DatabaseError) -> Int in
            unsafe try file.read(into: target)
        }
        findWholeEnd(from: start)
        return input.count - start
    }

    /// Declares the end of the file: the remaining input is its last line.
    public mutating func finish() {
        isFinished = true
        wholeEnd = input.count
    }

    private mutating func dropReadBytes() {
        guard position > 0 else { return }
        input.removeFirst(position)
        wholeEnd = Swift.max(0, wholeEnd - position)
        position = 0
    }

    private mutating func findWholeEnd(from start: Int) {
        let bytes = input.bytes
        if let last = bytes.lastIndex(of: newline, in: start..<bytes.count) { wholeEnd = last + 1 }
    }

    // MARK: Lines

    /// Adds points to a batch until it has `points` of them, including refused lines, or the input
    /// is used up. The batch must be empty or the one of the previous call.
    ///
    /// - Throws: `usage` at a point of a second database or policy if the caller chose none. Do not
    ///   commit the points added so far.
    public mutating func parse(
        into batch: inout WriteBatch, points: Int
    ) throws(DatabaseError) -> Progress {
        if batch.isEmpty {
            if hasSkipped { batch.removeAll() }
            hasSkipped = false
            forgetNumbers()
        }
        batchPoints = batch.rowCount + batch.refusals.count
        guard !isFileStart || skipByteOrderMark() else { return .needsInput }
        if overlong != nil { skipOverlongLine(&batch) }
        guard mayEndLine() else { return .needsInput }
        let waiting = unfinished
        unfinished = nil
        let start = position
        while position < wholeEnd {
            if batchPoints >= points { return .batchFull }
            if try !parseLine(&batch) {
                noteUnfinished(position == start ? waiting : nil)
                break
            }
        }
        if isFinished && position >= input.count {
            return .finished
        }
        if pendingSizeBytes > LineProtocolParser.lineSizeBytesMax { refuseOverlongLine(&batch) }
        return .needsInput
    }

    /// False if the next line was read before and has still not been received whole.
    private mutating func mayEndLine() -> Bool {
        guard !isFinished, pendingSizeBytes <= LineProtocolParser.lineSizeBytesMax,
            var line = unfinished
        else { return true }
        defer { unfinished = line }
        return line.mayEnd(
            input.bytes, at: position, stringSizeBytesMax: options.stringSizeBytesMax)
    }

    /// Remembers that the next line has not been received whole. Only a string can have a newline
    /// and go on.
    private mutating func noteUnfinished(_ waiting: UnfinishedLine?) {
        guard newlinesInStrings > 0 else { return }
        unfinished = waiting ?? UnfinishedLine(openQuote: firstOpenQuote - position)
    }

    /// Forgets the handles of the previous batch.
    private mutating func forgetNumbers() {
        seriesKeys.removeAll()
        series.removeAll(keepingCapacity: true)
        lastSeries = -1
        fieldKeys.removeAll()
        fields.removeAll(keepingCapacity: true)
        lastStrings.removeAll()
        firstFields.removeAll(keepingCapacity: true)
    }

    /// False if more input is needed to tell whether the file begins with a byte order mark.
    private mutating func skipByteOrderMark() -> Bool {
        let bytes = input.bytes
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let isMark = (0..<Swift.min(mark.count, bytes.count)).allSatisfy { bytes[$0] == mark[$0] }
        if isMark && bytes.count < mark.count && !isFinished { return false }
        isFileStart = false
        if isMark && bytes.count >= mark.count { position = mark.count }
        return true
    }

    /// Reads one line; false if its end has not been received yet.
    private mutating func parseLine(_ batch: inout WriteBatch) throws(DatabaseError) -> Bool {
        let text = input.bytes
        var index = skipLineBlanks(text, position)
        if text[index] == UInt8(ascii: "s") { index = skipNotices(text, index) }
        switch text[index] {
        case newline:
            return advance(to: index + 1)
        case hash:
            let end = lineEnd(text, from: index)
            export.comment(text, index..<end)
            return advance(to: end + 1)
        case carriageReturn where text[index + 1] == newline:
            return advance(to: index + 2)
        default:
            if export.isInDefinitions && isStatement(text, index) {
                return endStatement(text, index)
            }
        }
        if export.needsDecision { try export.resolve() }
        newlinesInStrings = 0
        timeFieldsInLine = 0
        let end = point(text, at: index, into: &batch)
        guard end >= 0 && (end < text.count || isFinished) else {
            return endBadLine(text, end, &batch)
        }
        if export.isSkipping {
            batch.abandonRow()
            skippedPoints += 1
            hasSkipped = true
        } else {
            batch.endRow(tagSet: series[lastSeries].tagSet, time: pointTime, line: lineNumber)
            batchPoints += 1
        }
        droppedTimeFields += timeFieldsInLine
        lineNumber += newlinesInStrings
        return advance(to: end + 1)
    }

    @inline(__always) private mutating func advance(to index: Int) -> Bool {
        position = Swift.min(index, input.count)
        lineNumber += 1
        return true
    }

    private func lineEnd(_ text: PaddedBytes, from index: Int) -> Int {
        text.firstIndex(of: newline, in: index..<text.count) ?? text.count
    }

    @inline(never) private func skipNotices(_ text: PaddedBytes, _ start: Int) -> Int {
        let end = lineEnd(text, from: start)
        var index = start
        while let after = SkippedFileNotice.end(text, at: index, lineEnd: end) { index = after }
        return index
    }

    private func isStatement(_ text: PaddedBytes, _ index: Int) -> Bool {
        let words: [StaticString] = ["CREATE ", "ALTER ", "DROP ", "GRANT ", "SET "]
        return words.contains { text.starts(with: $0, at: index, end: text.count) }
    }

    private mutating func endStatement(_ text: PaddedBytes, _ index: Int) -> Bool {
        let end = lineEnd(text, from: index)
        export.definition(text, index..<end)
        return advance(to: end + 1)
    }

    // MARK: Bad lines

    /// Refuses a bad line; false if the line is not complete yet.
    @inline(never) private mutating func endBadLine(
        _ text: PaddedBytes, _ end: Int, _ batch: inout WriteBatch
    ) -> Bool {
        batch.abandonRow()
        // At or past `wholeEnd`, more input may change the result.
        if !isFinished && (end >= 0 || problem.decidedAt >= wholeEnd) { return false }
        let start = skipLineBlanks(text, position)
        let end = lineEnd(text, from: start)
        if text.starts(with: "CREATE DATABASE ", at: start, end: end)
            || text.starts(with: "CREATE RETENTION POLICY ", at: start, end: end)
        {
            return endStatement(text, start)
        }
        if export.isSkipping {
            skippedPoints += 1
            return advance(to: end + 1)
        }
        var reason = problem.reason
        if newlinesInStrings > 0 && reason != unbalancedQuotes {
            reason =
                "\(unbalancedQuotes), or \(reason) after a multi-line string that ends in line "
                + "\(lineNumber + newlinesInStrings)"
        }
        let place = newlinesInStrings > 0 ? firstOpenQuote : problem.index
        refuse(text, position..<end, reason, column: place - position + 1, &batch)
        return advance(to: end + 1)
    }

    private mutating func refuse(
        _ text: PaddedBytes, _ range: Range<Int>, _ reason: String, column: Int,
        _ batch: inout WriteBatch
    ) {
        var range = range
        if let last = range.last, text[last] == carriageReturn { range.removeLast() }
        batchPoints += 1
        batch.refuse(
            Refusal(
                subject: .line(text.copy(range.prefix(Refusal.lineSizeBytesMax))), reason: reason,
                source: batch.source, line: lineNumber, column: column))
    }

    /// Refuses the first physical line if the pending input exceeds the line limit. If it has no
    /// newline, its rest is dropped as it arrives (`skipOverlongLine`).
    private mutating func refuseOverlongLine(_ batch: inout WriteBatch) {
        unfinished = nil
        let text = input.bytes
        guard wholeEnd <= position else {
            let end = lineEnd(text, from: position)
            refuse(text, position..<end, unbalancedQuotes, column: 0, &batch)
            _ = advance(to: end + 1)
            return
        }
        if overlong == nil {
            let kept = position..<Swift.min(text.count, position + Refusal.lineSizeBytesMax)
            overlong = text.copy(kept)
        }
        position = text.count
    }

    /// Drops the rest of an overlong line and refuses the line at its end.
    private mutating func skipOverlongLine(_ batch: inout WriteBatch) {
        guard let start = overlong else { return }
        let text = input.bytes
        let found = text.firstIndex(of: newline, in: position..<text.count)
        guard found != nil || isFinished else {
            position = text.count
            return
        }
        overlong = nil
        if export.isSkipping {
            skippedPoints += 1
        } else {
            let limit = LineProtocolParser.lineSizeBytesMax
            batchPoints += 1
            batch.refuse(
                Refusal(
                    subject: .line(start), reason: "a line of more than \(limit) bytes",
                    source: batch.source, line: lineNumber, column: 0))
        }
        _ = advance(to: (found ?? text.count) + 1)
    }
}
