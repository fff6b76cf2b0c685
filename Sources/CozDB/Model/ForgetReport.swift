// The result of forgetting participants.

/// The result of forgetting participants. When it is returned, no file of the database holds their
/// data, and the manifest has their digests.
public struct ForgetReport: Hashable, Sendable {
    /// Number of participants added to the list.
    public var newlyForgotten = 0
    /// Number of participants on the list now.
    public var listed = 0
    /// Deleted rows, values and refusals by experiment, including experiments that lost nothing.
    public var deletion = DeletionReport()
    /// Number of segments rewritten without the participants' rows.
    public var rewrittenSegments = 0
    /// Number of segments removed because they had no other rows.
    public var removedSegments = 0
    /// Number of rejects files rewritten or removed.
    public var rewrittenRejects = 0
    /// Size of the removed files in bytes.
    public var removedBytes = 0
    /// Size in bytes of the files that replace them.
    public var writtenBytes = 0
    /// Number of columns removed because no other participant had values in them.
    public var removedColumns = 0
    /// Number of experiments removed because no other participant had data in them.
    public var removedExperiments = 0
    /// Number of deleted files that a repair had set aside; in a dry run, of existing ones.
    public var setAsideFiles = 0

    /// Creates an empty report.
    public init() {}
}
