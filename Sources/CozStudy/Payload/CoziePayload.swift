// Reads and stores what the Cozie app posts, for services that replace Cozie's backend.

public import CozDB
internal import CozImport

/// A payload of the Cozie app: one item, or several in arrays.
///
///     let payload = try CoziePayload(body.span)
///     let report = try payload.write(to: database)
///     if !report.issues.isEmpty { ... }
///
/// An item is an object with `time`, `measurement` (the experiment), `tags` with `id_participant`,
/// and `fields`. The objects `fields_int`, `fields_float` and `fields_str` hold values of a known
/// type. Items may be single, in an array, in nested arrays, concatenated, or inside a JSON string.
///
/// - The payload is one commit. Items and single values that cannot be stored are reported with
///   their item number and kept in the rejects journal. The others are stored, unless
///   `CoziePayloadOptions.isAtomic` is set.
/// - Times may have any offset from UTC. Without an offset they are UTC. They must use the calendar
///   and digits of ISO 8601; times from phones with another calendar are refused.
/// - `null` means no value. So does an empty string for a numeric field.
/// - Numbers are untyped: a new field becomes a float. A field declared or stored as integer takes
///   64-bit whole numbers exactly.
/// - If an item has two values for one field, the later one wins.
public struct CoziePayload: Sendable {
    /// A fault in an item or in one of its values.
    public struct Issue: Hashable, Sendable, CustomStringConvertible {
        /// The number of the item in the payload, from 1.
        public var item: Int
        /// The reason in words, with the item number.
        public var reason: String
        /// Whether only one value was refused and the rest of the item is stored.
        public var isValue: Bool

        /// The reason, such as `item 17: missing tags.id_participant`.
        public var description: String { reason }
    }

    /// The result of writing a payload.
    public struct Report: Sendable {
        /// The number of items in the payload.
        public var itemCount = 0
        /// The faults found while reading, and the first few values (`WriteReport.exampleCountMax`)
        /// that did not fit the type of their field.
        public var issues: [Issue] = []
        /// Counts, and the commit that stored the payload.
        public var write = WriteReport()
    }

    /// The number of items in the payload, including faulty ones.
    public let itemCount: Int
    /// The faults found while reading. Writing may find more, because only the database knows the
    /// types of its fields.
    public let issues: [Issue]

    private let batch: WriteBatch

    /// Reads a payload without storing it.
    ///
    /// Cost: about ten nanoseconds per byte of what the apps send. A body that is made to be slow
    /// takes up to 300 nanoseconds and 210 bytes of memory per byte, so limit the size of bodies
    /// before this call.
    ///
    /// - Parameters:
    ///   - json: the request body, UTF-8.
    ///   - options: how to read it.
    ///   - settings: for experiments that the payload creates. They get the preset `cozie-v3`
    ///     unless `settings.preset` names another.
    ///   - source: the name of the payload in the rejects journal.
    /// - Throws: `usage` with line and column if it is not JSON. The payload is then unusable.
    public init(
        _ json: Span<UInt8>, options: CoziePayloadOptions = CoziePayloadOptions(),
        settings: ExperimentSettings = ExperimentSettings(), source: String = "payload"
    ) throws(DatabaseError) {
        var decoding = PayloadDecoder.Settings(options, settings)
        decoding.arrival = options.enrichment?.arrival ?? .now
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

    /// Reads a payload from an array of bytes without storing it. See
    /// `init(_:options:settings:source:)` for spans.
    public init(
        _ json: [UInt8], options: CoziePayloadOptions = CoziePayloadOptions(),
        settings: ExperimentSettings = ExperimentSettings(), source: String = "payload"
    ) throws(DatabaseError) {
        try self.init(json.span, options: options, settings: settings, source: source)
    }

    /// The experiments that the items belong to.
    public var experiments: [String] { batch.experimentNames }

    /// Stores the payload and its refusals in one commit. On return both are as durable as the
    /// database's durability setting promises.
    ///
    /// - Throws: `usage` if an item or value is refused and the options are atomic; the errors of
    ///   `Database.write`. Nothing is stored then.
    public func write(to database: Database) throws(DatabaseError) -> Report {
        report(try database.write(batch))
    }

    /// Stores the payload and its refusals in one commit, on a thread of the database. Cancelling
    /// the task has no effect.
    ///
    /// - Throws: as the synchronous form; `busy` if too many calls wait for the database
    ///   (`DatabaseOptions.waitingCallCountMax`).
    public func write(to database: Database) async throws(DatabaseError) -> Report {
        report(try await database.write(batch))
    }

    private func report(_ write: WriteReport) -> Report {
        var report = Report(itemCount: itemCount, issues: issues)
        report.write = write
        for refusal in report.write.examples {
            let issue = Issue(refusal)
            if !report.issues.contains(issue) { report.issues.append(issue) }
        }
        return report
    }
}

extension CoziePayload.Issue {
    /// - Parameter refusal: from a batch that numbers rows by items.
    init(_ refusal: Refusal) {
        item = refusal.line
        if case .value(_, _, _, let field, _, _) = refusal.subject {
            isValue = true
            // Senders get these, and logs.
            let why = CredentialColumns.contains(field) ? refusal.redacted.reason : refusal.reason
            reason = "item \(item), \"\(PayloadTime.excerpt(field))\": \(why)"
        } else {
            isValue = false
            let hasPlace = refusal.reason.hasBytePrefix("item ")
            reason = hasPlace ? refusal.reason : "item \(item): \(refusal.reason)"
        }
    }
}
