// What forgetting participants took away.

/// The outcome of forgetting. When the call that gives it returns, nothing of the participants is
/// in any file of the database, and their digests are in the manifest.
public struct ForgetReport: Hashable, Sendable {
    /// Participants that were not on the list before.
    public var newlyForgotten = 0
    /// Participants on the list now.
    public var listed = 0
    /// Rows, values and refusals that went, by experiment; also experiments that lost nothing.
    public var deletion = DeletionReport()
    /// Segments written again without their rows.
    public var rewrittenSegments = 0
    /// Segments that had nothing else.
    public var removedSegments = 0
    /// Files of the rejects journal that were written again or had nothing else.
    public var rewrittenRejects = 0
    /// Bytes of the files that went.
    public var removedBytes = 0
    /// Bytes of the files written in their place.
    public var writtenBytes = 0
    /// Columns that only they had.
    public var removedColumns = 0
    /// Experiments that only they had.
    public var removedExperiments = 0
    /// Files that a repair had set aside: those that went, or in a dry run those that are there.
    public var setAsideFiles = 0

    /// Nothing forgotten.
    public init() {}
}
