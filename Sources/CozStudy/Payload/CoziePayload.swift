// What the Cozie app posts, read and stored with one call each: for services that take the place
// of Cozie's backend.

public import CozDB
internal import CozImport

/// A payload of the Cozie app: one item, or several in arrays.
///
///     let payload = try CoziePayload(body.span)
///     let report = try payload.write(to: database)
///     if !report.issues.isEmpty { ... }
///
/// An item is an object with `time`, `measurement` (the experiment), `tags` with `id_participant`,
/// and `fields`; the objects `fields_int`, `fields_float` and `fields_str` say the types of their
/// values. Items may stand alone, in an array, in arrays within arrays, one after the other, and in
/// a string of JSON.
///
/// - The payload is one commit. Items that cannot be stored are reported with their number and
///   kept in the rejects journal, and so are single values; the others are stored, unless
///   `CoziePayloadOptions.isAtomic` asks for all or nothing.
/// - Times have any offset from UTC, or none, which means UTC. They are read by the calendar and
///   digits of ISO 8601; what a phone with another calendar writes is refused, not guessed.
/// - `null` is no value. An empty string is none where the field is a number.
/// - A number does not say its type: a new field becomes a float, and one that is declared or
///   stored as integer takes whole numbers of 64 bits exactly.
/// - Of two values for one field in an item the later one counts.
public struct CoziePayload: Sendable {
    /// What is wrong with an item, or with one value of it.
    public struct Issue: Hashable, Sendable, CustomStringConvertible {
        /// Number of the item in the payload: the first one is 1.
        public var item: Int
        /// Why, in words, with the item's number.
        public var reason: String
        /// Whether only a value was refused, and the rest of the item is stored.
        public var isValue: Bool

        /// `item 17: missing tags.id_participant`.
        public var description: String { reason }
    }

    /// What became of a payload.
    public struct Report: Sendable {
        /// Items in the payload.
        public var itemCount = 0
        /// Everything that was refused: what reading the payload showed, and the first few
        /// (`WriteReport.exampleCountMax`) values that their fields could not take.
        public var issues: [Issue] = []
        /// Counts, and the commit that stored them.
        public var write = WriteReport()
    }

    /// Items in the payload, those with faults too.
    public let itemCount: Int
    /// What reading it showed to be wrong. More may turn up when it is written: only the database
    /// knows the types of its fields.
    public let issues: [Issue]

    private let batch: WriteBatch

    /// Reads a payload; stores nothing.
    ///
    /// Cost: about ten nanoseconds a byte or less.
    ///
    /// - Parameters:
    ///   - json: the body of the request, UTF-8.
    ///   - options: how it is read.
    ///   - settings: of the experiments that it creates. They get the preset `cozie-v3`, unless
    ///     `settings.preset` says otherwise.
    ///   - source: what the rejects journal calls it.
    /// - Throws: `usage` where it is no JSON, with line and column. Then nothing of it can be used.
    public init(
        _ json: Span<UInt8>, options: CoziePayloadOptions = CoziePayloadOptions(),
        settings: ExperimentSettings = ExperimentSettings(), source: String = "payload"
    ) throws(DatabaseError) {
        var decoding = PayloadDecoder.Settings(options, settings)
        decoding.arrival = options.enrichment?.arrival ?? PayloadReader.clock()
        decoding.numbersRowsByItems = true
        var batch = WriteBatch()
        batch.source = source
        batch.settings = settings
        batch.suggestedPreset = .cozieV3
        batch.isAllOrNothing = options.isAtomic
        var decoder = PayloadDecoder(decoding)
        var input = JSONInput(
            bytes: json, acceptsTrailingCommas: options.acceptsTrailingCommas)
        _ = try decoder.read(
            &input, from: nil, into: &batch, limits: BatchLimits(points: .max, sizeBytes: .max))
        itemCount = decoder.itemCount
        issues = batch.refusals.map { Issue($0) }
        self.batch = batch
    }

    /// The same for bytes in an array.
    public init(
        _ json: [UInt8], options: CoziePayloadOptions = CoziePayloadOptions(),
        settings: ExperimentSettings = ExperimentSettings(), source: String = "payload"
    ) throws(DatabaseError) {
        try self.init(json.span, options: options, settings: settings, source: source)
    }

    /// The experiments that items of it belong to.
    public var experiments: [String] { batch.experimentNames }

    /// Stores the payload with one commit: on return it is durable, as the database's durability
    /// says, and so is what was refused, in the rejects journal.
    ///
    /// - Throws: `usage` where an item or value was refused and the options want all or nothing;
    ///   what `Database.write` throws. Then nothing is stored.
    @discardableResult
    public func write(to database: Database) throws(DatabaseError) -> Report {
        var report = Report(itemCount: itemCount, issues: issues)
        report.write = try database.write(batch)
        for refusal in report.write.examples {
            let issue = Issue(refusal)
            if !report.issues.contains(issue) { report.issues.append(issue) }
        }
        return report
    }
}

extension CoziePayload.Issue {
    /// - Parameter refusal: of a batch whose rows are numbered by items.
    init(_ refusal: Refusal) {
        item = refusal.line
        if case .value(_, _, _, let field, _, _) = refusal.subject {
            isValue = true
            reason = "item \(item), \"\(PayloadTime.excerpt(field))\": \(refusal.reason)"
        } else {
            isValue = false
            let hasPlace = refusal.reason.hasPrefix("item ")
            reason = hasPlace ? refusal.reason : "item \(item): \(refusal.reason)"
        }
    }
}
