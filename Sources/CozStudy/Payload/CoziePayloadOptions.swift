// What the reading of payloads can be told.

/// How payloads of the Cozie app are read. The defaults take what the app sends, as it is.
public struct CoziePayloadOptions: Sendable {
    /// Whether one comma before a closing bracket or brace is passed over, as in the examples of
    /// Cozie's documentation. Everything else is strict in any case.
    public var acceptsTrailingCommas = false
    /// Whether nothing is stored where an item or value cannot be.
    public var isAtomic = false
    /// What is added to each item; nil: nothing.
    public var enrichment: CozieEnrichment?
    /// Name of an integer field that the offset of `time` from UTC goes to, in minutes east; nil:
    /// it is used to find the time, and then forgotten. 1 to 65,535 bytes.
    public var offsetField: String?

    /// The defaults.
    public init() {}
}
