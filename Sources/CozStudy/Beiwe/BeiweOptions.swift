// Options of the Beiwe import, in addition to the options of every import.

/// How to read Beiwe files that are outside the folders of an export.
public struct BeiweOptions: Sendable {
    /// The stream of files outside a stream folder, such as `gps`. Nil detects it by their headers.
    public var stream: String?
    /// Limits that tests lower.
    package var ordinalLimits = RowOrdinalLimits()

    /// Detects streams by folders and headers.
    public init() {}
}
