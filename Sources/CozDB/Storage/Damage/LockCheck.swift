// Compares lock file and manifest: whether the manifest is the last acknowledged one.

/// What a check finds out about the lock file and the manifest.
struct LockCheck {
    private(set) var found = AcknowledgedState.Found.nothing
    /// Which of the two files is damaged; nil if they agree.
    private(set) var problem: (name: FileName, error: DatabaseError)?
    /// Whether one of the two records is not whole, which a crash can leave.
    private(set) var hasTornRecord = false

    private static let attemptCountMax = 20

    /// - Throws: `io` if the lock file cannot be read.
    init(_ manifest: Manifest, in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            var lock = try AcknowledgedState.readBytes(in: directory)
            // A writer may be in the middle of a write: only what is read twice counts.
            for _ in 0..<LockCheck.attemptCountMax {
                found = lock.found
                problem = try LockCheck.problem(
                    of: found, sizeBytes: lock.sizeBytes, manifest, in: directory)
                hasTornRecord =
                    lock.bytes.count == AcknowledgedState.sizeBytes
                    && [0, AcknowledgedState.recordSizeBytes].contains {
                        AcknowledgedState(lock.bytes, at: $0) == nil
                    }
                if problem == nil, !hasTornRecord { return }
                let again = try AcknowledgedState.readBytes(in: directory)
                if again.bytes == lock.bytes { return }
                lock = again
            }
            (problem, hasTornRecord) = (nil, false)
        } catch {
            guard error.isReadFailure else { throw error }
            (found, problem) = (.noRecord, (.lock, error))
        }
    }

    private static func problem(
        of found: AcknowledgedState.Found, sizeBytes: Int, _ manifest: Manifest,
        in directory: any Directory
    ) throws(DatabaseError) -> (name: FileName, error: DatabaseError)? {
        func damage(_ text: String, offset: Int? = nil) -> (name: FileName, error: DatabaseError) {
            (.lock, DatabaseError(.damaged, text, offset: offset))
        }
        do throws(DatabaseError) {
            try found.check(manifest, in: directory)
        } catch {
            if let state = found.state, state.databaseID != manifest.databaseID,
                try FoundFiles.owner(in: directory) == manifest.databaseID
            {
                return damage(
                    "LOCK belongs to another database than the manifest and the other files")
            }
            let isLock = error.file?.hasByteSuffix("/" + FileName.lock.text) ?? false
            return (isLock ? .lock : .manifest, error)
        }
        if case .nothing = found {
            guard try isMissing(in: directory) else { return nil }
            return damage("LOCK is missing or empty; the next writer makes a new one")
        }
        guard sizeBytes > AcknowledgedState.sizeBytes else { return nil }
        return damage(
            "LOCK has \(sizeBytes) bytes, expected \(AcknowledgedState.sizeBytes)",
            offset: AcknowledgedState.sizeBytes)
    }

    /// Whether the directory should have a lock file and has none with a record. A backup has none,
    /// and other users may not read the owner's.
    private static func isMissing(in directory: any Directory) throws(DatabaseError) -> Bool {
        try calling("looking for the lock") { () throws(FileError) in
            let names = try directory.list()
            if names.contains(FileName.backupMark.text) { return false }
            do throws(FileError) {
                _ = try directory.openIfPresent(FileName.lock.text)
                return true
            } catch {
                if error.isPermissionDenied { return false }
                throw error
            }
        }
    }
}
