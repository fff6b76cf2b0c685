// Options for reading payloads of the Cozie app.

/// How to read payloads of the Cozie app. The defaults accept what the app sends.
public struct CoziePayloadOptions: Sendable {
    /// Whether to accept one comma before a closing bracket or brace, as in the examples of Cozie's
    /// documentation. All other JSON syntax is strict.
    public var acceptsTrailingCommas = false
    /// Whether one refused item or value makes the write store nothing.
    public var isAtomic = false
    /// The fields to add to each item. Nil adds none.
    public var enrichment: CozieEnrichment?
    /// The integer field that stores the UTC offset of `time`, in minutes east. Nil stores no
    /// offset. The name has 1 to 65,535 bytes.
    public var offsetField: String?

    /// Creates the default options.
    public init() {}
}
