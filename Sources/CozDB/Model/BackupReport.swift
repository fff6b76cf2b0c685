// Options and reports of backup and restore.

/// Options for `Database.backup`.
public struct BackupOptions: Sendable {
    /// Who may read the backup's files; only the owner by default.
    public var fileAccess: DatabaseOptions.FileAccess = .ownerOnly
    /// Whether to read and verify every file that an earlier backup left. Damaged files are copied
    /// again. If false, only the size and both ends of each file are checked.
    public var verifiesReused = false
    /// Called between pieces of a few megabytes. If it returns true, the call throws `cancelled`.
    /// The target is then left as after a crash: unchanged, or marked as unfinished.
    public var isCancelled: (@Sendable () -> Bool)?

    /// Creates options with the default values.
    public init() {}
}

/// Options for `Database.restore`.
public struct RestoreOptions: Sendable {
    /// Who may read the database's files; only the owner by default.
    public var fileAccess: DatabaseOptions.FileAccess = .ownerOnly
    /// See `BackupOptions.isCancelled`.
    public var isCancelled: (@Sendable () -> Bool)?
    /// Participants who were forgotten since the backup was made. Their data is removed from the
    /// restored database before it can be opened.
    public var forgotten: ForgottenList?

    /// Creates options with the default values.
    public init() {}
}

/// The result of a backup or a restore.
public struct BackupReport: Sendable, Equatable {
    /// Whether the target had an earlier backup, which was updated.
    public var isIncremental = false
    /// Number of files copied, including the manifest.
    public var copiedFiles = 0
    /// Size of the copied files in bytes.
    public var copiedBytes = 0
    /// Number of files that the target already had.
    public var reusedFiles = 0
    /// Size of the reused files in bytes.
    public var reusedBytes = 0
    /// Number of files removed from the target because the database does not have them anymore.
    /// They come from an earlier or an unfinished backup.
    public var removedFiles = 0
    /// What was deleted for `RestoreOptions.forgotten`; nil if no list was given.
    public var forgotten: ForgetReport?
    /// Sequence number of the last commit in the copy.
    public var lastCommit: UInt64 = 0
    /// Duration of the call.
    public var seconds = 0.0

    /// Creates an empty report.
    public init() {}
}
