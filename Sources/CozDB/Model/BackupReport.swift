// What a backup and a restore are told, and what they tell.

/// How a backup is made.
public struct BackupOptions: Sendable {
    /// Who may read the files of the backup; the owner alone unless told otherwise.
    public var fileAccess: DatabaseOptions.FileAccess = .ownerOnly
    /// Whether files that an earlier backup left are read and checked byte by byte, too. What is
    /// damaged among them is copied again. Otherwise their size and both of their ends are checked.
    public var verifiesReused = false
    /// Asked between pieces of a few megabytes; true ends the call with an error of kind
    /// `cancelled`. The target is then as after a crash: as it was, or marked as unfinished.
    public var isCancelled: (@Sendable () -> Bool)?

    /// The defaults.
    public init() {}
}

/// How a backup is restored.
public struct RestoreOptions: Sendable {
    /// Who may read the files of the database; the owner alone unless told otherwise.
    public var fileAccess: DatabaseOptions.FileAccess = .ownerOnly
    /// As `BackupOptions.isCancelled`.
    public var isCancelled: (@Sendable () -> Bool)?

    /// The defaults.
    public init() {}
}

/// What a backup or a restore did.
public struct BackupReport: Sendable, Equatable {
    /// Whether the target held an earlier backup, which was brought up to date.
    public var isIncremental = false
    /// Files that were copied, the manifest included.
    public var copiedFiles = 0
    /// Their size in bytes.
    public var copiedBytes = 0
    /// Files that the target had already.
    public var reusedFiles = 0
    /// Their size in bytes.
    public var reusedBytes = 0
    /// Files of an earlier backup, or of one that did not finish, that were removed because the
    /// database does not have them any more.
    public var removedFiles = 0
    /// Number of the last commit that the copy holds.
    public var lastCommit: UInt64 = 0
    /// How long it took.
    public var seconds = 0.0

    /// Nothing done.
    public init() {}
}
