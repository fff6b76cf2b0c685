// Whether the manifest is the newest one, as the witness in the lock file knows it.

/// Lock file and manifest, compared.
struct WitnessCheck {
    private(set) var found = Witness.Found.nothing
    /// Which of the two is not what was written; nil where they agree.
    private(set) var problem: (name: FileName, error: DatabaseError)?

    private static let attemptCountMax = 20

    /// - Throws: `io` where the lock file cannot be read.
    init(_ manifest: Manifest, in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            var lock = try Witness.readBytes(in: directory)
            // A writer that opens or closes the database may be seen in the middle of a write: only
            // what is there twice is what it left.
            for _ in 0..<WitnessCheck.attemptCountMax {
                found = lock.found
                problem = try WitnessCheck.problem(
                    of: found, lock.bytes, sizeBytes: lock.sizeBytes, manifest, in: directory)
                if problem == nil { return }
                let again = try Witness.readBytes(in: directory)
                if again.bytes == lock.bytes { return }
                lock = again
            }
            problem = nil
        } catch {
            guard error.isUnreadable else { throw error }
            (found, problem) = (.noRecord, (.lock, error))
        }
    }

    /// Whether the manifest is the one that the witness saw last.
    static func isNewest(_ manifest: Manifest, _ witness: Witness?) -> Bool {
        witness?.generation == manifest.generation
            && witness?.manifestChecksum == manifest.fileChecksum
            && witness?.databaseID == manifest.databaseID
    }

    private static func problem(
        of found: Witness.Found, _ bytes: [UInt8], sizeBytes: Int, _ manifest: Manifest,
        in directory: any Directory
    ) throws(DatabaseError) -> (name: FileName, error: DatabaseError)? {
        do throws(DatabaseError) {
            try found.check(manifest, in: directory)
        } catch {
            if let witness = found.witness, witness.databaseID != manifest.databaseID,
                try FoundFiles.owner(in: directory) == manifest.databaseID
            {
                return (
                    .lock,
                    DatabaseError(
                        .damaged,
                        "LOCK is of another database than the manifest and the other files")
                )
            }
            let isLock = error.file?.hasSuffix("/" + FileName.lock.text) ?? false
            return (isLock ? .lock : .manifest, error)
        }
        switch found {
        case .nothing:
            guard try isMissing(beside: manifest, in: directory) else { return nil }
            return (
                .lock,
                DatabaseError(
                    .damaged,
                    "LOCK is missing, or nothing is in it; the next opening for writing makes it "
                        + "anew")
            )
        case .noRecord: return nil
        case .witness(let witness):
            return witness.change(bytes, sizeBytes: sizeBytes, beside: manifest).map { (.lock, $0) }
        }
    }

    /// Whether there should be a witness where none was found: beside every manifest of a version
    /// that has one, but in a backup. A lock that this reader may not read is none of its business.
    private static func isMissing(
        beside manifest: Manifest, in directory: any Directory
    ) throws(DatabaseError) -> Bool {
        guard manifest.fileVersion >= Manifest.versionWithWitness else { return false }
        return try calling("looking for the lock") { () throws(FileError) in
            let names = try directory.list()
            if names.contains(FileName.backupMark.text) { return false }
            do throws(FileError) {
                _ = try directory.open(FileName.lock.text, writable: false)
                return true
            } catch {
                if error.isForbidden { return false }
                guard error.isNotFound else { throw error }
                return true
            }
        }
    }
}

extension Witness {
    /// What shows that a lock file that agrees with the manifest is not what its writer left.
    fileprivate func change(
        _ bytes: [UInt8], sizeBytes: Int, beside manifest: Manifest
    ) -> DatabaseError? {
        if sizeBytes > Witness.sizeBytes {
            return DatabaseError(
                .damaged, "LOCK has \(sizeBytes) bytes, expected \(Witness.sizeBytes)",
                offset: Witness.sizeBytes)
        }
        if isClosed {
            if isAsClosed(bytes, beside: manifest) { return nil }
            return DatabaseError(
                .damaged, "LOCK is not what was written when it was closed")
        }
        guard manifest.logs.isEmpty, !mayBeBeside(manifestWithoutLogs: manifest) else { return nil }
        return DatabaseError(
            .damaged,
            "LOCK was replaced by an older one: it was open and saw generation \(generation), but "
                + "the manifest is of generation \(manifest.generation) and names no log, which "
                + "is announced in LOCK before")
    }

    /// Whether a lock file can be what closing left: both records say the same but for their
    /// serial, or writing ended before the other one was whole, or before it was begun.
    private func isAsClosed(_ bytes: [UInt8], beside manifest: Manifest) -> Bool {
        guard bytes.count == Witness.sizeBytes else { return false }
        let place = serial % 2 == 1 ? 0 : Witness.recordSizeBytes
        guard let other = Witness(bytes, at: place) else {
            return Witness.isUnfinished(bytes, at: place)
        }
        var expected = self
        expected.serial &-= 1
        if other == expected { return true }
        return !other.isClosed && other.mayBeBeside(manifestWithoutLogs: manifest)
    }

    /// Whether a record of an open lock can be beside a manifest that names no log: it was
    /// announced durably before, whatever ended when.
    private func mayBeBeside(manifestWithoutLogs manifest: Manifest) -> Bool {
        switch state {
        case .unannounced: true
        case .settling where generation + 1 == manifest.generation: true
        default: generation == manifest.generation
        }
    }
}
