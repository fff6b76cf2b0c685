// Decodes payloads to batches: documents, arrays and JSON strings around the items. See
// PayloadDecoder+Items.swift and +Fields.swift for the items themselves.

internal import CozDB
internal import CozImport

/// Reads payloads item by item into batches. One decoder serves all files of an import.
struct PayloadDecoder: ~Copyable {
    struct Settings {
        var options = CoziePayloadOptions()
        /// Whether an item must have the tag that names participants. If not, the identity of the
        /// experiment decides.
        var needsParticipant = true
        /// The participant of items without the participant tag.
        var participant: String?
        var participantTags = ParticipantTags()
        /// The experiments whose identity is not the participant.
        var experimentsWithoutParticipant: Set<[UInt8]> = []
        var arrival = Timestamp(nanoseconds: 0)
        /// Whether to refuse invalid JSON and continue after it, instead of throwing.
        var recovers = false
        /// Whether rows are numbered by items instead of lines.
        var numbersRowsByItems = false
        /// The new names of fields and tags.
        var renames = Renames()
        var stringSizeBytesMax = DatabaseOptions().stringSizeBytesMax
    }

    /// The maximum nesting of JSON strings in JSON strings.
    static let stringDepthMax = 4

    let settings: Settings
    /// The number of items in the file so far.
    var itemCount = 0
    /// Where the current item begins.
    var place = JSONPlace()
    /// Where the JSON string around the item begins. Nil if there is none.
    var stringPlace: JSONPlace?
    var item = PayloadItem()
    var times = PayloadTime()
    var caches = PayloadCaches()
    var scratch: [UInt8] = []
    /// The tags of an item with refused members.
    var refusedItem: (item: Int, experiment: String, key: SeriesKey)?
    /// The names of the fields of the item, once a renamed one was refused.
    var refusedNames: (item: Int, names: Set<[UInt8]>)?

    private var isRecovering = false

    init(_ settings: Settings) {
        self.settings = settings
    }

    /// Prepares for the next file or payload.
    mutating func begin() {
        itemCount = 0
        refusedItem = nil
        refusedNames = nil
        isRecovering = false
    }

    /// Reads items until the batch is full. Returns true at the end of the input.
    ///
    /// - Throws: `usage` for invalid JSON unless `recovers` is set; the errors of `JSONInput.next`.
    mutating func read(
        _ input: inout JSONInput, from file: InputFile?, into batch: inout WriteBatch,
        limits: BatchLimits
    ) throws(DatabaseError) -> Bool {
        if batch.isEmpty { caches.removeAll() }
        return try readList(&input, file, &batch, limits, stringDepth: 0)
    }

    private mutating func readList(
        _ input: inout JSONInput, _ file: InputFile?, _ batch: inout WriteBatch,
        _ limits: BatchLimits, stringDepth: Int
    ) throws(DatabaseError) -> Bool {
        let start = file?.decodedBytes ?? 0
        while true {
            let points = max(batch.rowCount + batch.refusedLineCount, batch.refusals.count)
            if points >= limits.points { return false }
            if let file, file.decodedBytes - start >= limits.sizeBytes, !batch.isEmpty {
                return false
            }
            let token = try input.next(from: file)
            switch token {
            case .arrayStart, .arrayEnd: break
            case .end: return true
            case .objectStart: try readItem(&input, file, &batch)
            case .string: try readString(&input, &batch, stringDepth: stringDepth)
            case .invalid: try recover(&input, file, &batch, isInItem: false)
            default:
                beginItem(&input)
                refuseItem(
                    input.scanner.text.copy(input.scanner.start..<input.scanner.index),
                    "found \(token.kindName), expected an object", &batch)
            }
        }
    }

    /// Counts a new item that begins at the token read last.
    private mutating func beginItem(_ input: inout JSONInput) {
        itemCount += 1
        if stringPlace == nil { place = input.place(of: input.scanner.start) }
    }

    private mutating func readItem(
        _ input: inout JSONInput, _ file: InputFile?, _ batch: inout WriteBatch
    ) throws(DatabaseError) {
        beginItem(&input)
        input.keep(from: input.scanner.start)
        guard try item.read(&input, from: file) else {
            return try recover(&input, file, &batch, isInItem: true)
        }
        store(input.scanner.text, at: input.keptStart, &batch)
        input.release()
    }

    private mutating func readString(
        _ input: inout JSONInput, _ batch: inout WriteBatch, stringDepth: Int
    ) throws(DatabaseError) {
        var contents: [UInt8] = []
        input.scanner.appendContents(to: &contents)
        let opening = contents.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        let isDocument = opening.map { "[{\"".utf8.contains($0) } ?? false
        guard isDocument, stringDepth < PayloadDecoder.stringDepthMax else {
            beginItem(&input)
            let reason =
                isDocument
                ? "found JSON in more than \(PayloadDecoder.stringDepthMax) nested strings, "
                    + "expected fewer"
                : "found a string that is not JSON, expected an object"
            return refuseItem(contents, reason, &batch)
        }
        let outer = stringPlace
        if outer == nil { stringPlace = input.place(of: input.scanner.start) }
        place = stringPlace ?? place
        var inner = JSONInput(
            bytes: contents.span,
            acceptsTrailingCommas: settings.options.acceptsTrailingCommas)
        let all = BatchLimits(points: .max, sizeBytes: .max)
        _ = try readList(&inner, nil, &batch, all, stringDepth: stringDepth + 1)
        stringPlace = outer
    }

    // MARK: Invalid JSON

    /// Refuses the input from the invalid JSON up to the next line that may begin an item.
    private mutating func recover(
        _ input: inout JSONInput, _ file: InputFile?, _ batch: inout WriteBatch, isInItem: Bool
    ) throws(DatabaseError) {
        // After a recovery the depth of the surrounding arrays is unknown, so their commas and
        // brackets look invalid. Skip them.
        let problem = input.scanner.problem.index
        let byte = problem < input.scanner.text.count ? input.scanner.text[problem] : 0
        if isRecovering, input.scanner.depth == 0, byte == UInt8(ascii: ",") || byte == 0x5D {
            return input.scanner.restart(at: problem + 1)
        }
        guard settings.recovers else {
            let number = isInItem ? "item \(itemCount): " : ""
            let inside = stringPlace.map { "in the string at \($0.description): " } ?? ""
            throw DatabaseError(
                .usage, "\(number)JSON, \(inside)\(input.problemMessage())\(hint(input))",
                remedy: input.scanner.isTrailingComma ? .change([.trailingCommas]) : nil)
        }
        // The refusal has the place, except inside a JSON string.
        let inside =
            stringPlace == nil ? "" : ", \(input.place(of: problem).description) of this string"
        let found = input.scanner.problem.message(in: input.scanner.text)
        let message = "\(itemNumber)invalid JSON\(inside): \(found)\(hint(input))"
        if stringPlace == nil { place = input.place(of: problem) }
        let limit = Refusal.lineSizeBytesMax
        let passed = try input.recover(from: file, sizeBytesMax: limit)
        isRecovering = true
        let reason =
            passed.count < limit ? message : "\(message). Only the first \(limit) bytes are kept"
        batch.refuse(
            Refusal(
                subject: .line(passed), reason: reason, source: batch.source, line: place.line,
                column: place.column))
    }

    /// Returns advice on how to accept a trailing comma, or an empty string.
    private func hint(_ input: borrowing JSONInput) -> String {
        guard input.scanner.isTrailingComma else { return "" }
        return "; accept trailing commas to read it"
    }

    mutating func refuseItem(
        _ bytes: [UInt8], _ reason: String, participant: String? = nil, _ batch: inout WriteBatch
    ) {
        let kept = Array(bytes.prefix(Refusal.lineSizeBytesMax))
        var refusal = Refusal(
            subject: .line(kept), reason: itemNumber + reason, source: batch.source,
            line: rowNumber, column: settings.numbersRowsByItems ? 0 : place.column)
        refusal.participant = participant
        batch.refuse(refusal)
    }

    /// The item's number as the beginning of a reason. Empty where line and column tell the item:
    /// equal items then have equal reasons, and the rejects journal counts them as one.
    var itemNumber: String {
        stringPlace == nil || settings.numbersRowsByItems ? "" : "item \(itemCount): "
    }

    /// The number of the item, or the line where it begins.
    var rowNumber: Int { settings.numbersRowsByItems ? itemCount : place.line }
}
