// What the import of a Beiwe export is told beside the options of all imports.

/// How Beiwe files are read that do not lie in an export's folders.
public struct BeiweOptions: Sendable {
    /// The stream of files that lie in no folder of one, such as `gps`; nil: seen by their
    /// headers.
    public var stream: String?

    /// Streams are seen by folders and headers.
    public init() {}
}
