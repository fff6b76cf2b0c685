// Whether the manifest is the newest one, as the witness in the lock file knows it.

/// Lock file and manifest, compared.
struct WitnessCheck {
    private(set) var found = Witness.Found.nothing
    /// Which of the two is not what was written; nil where they agree.
    private(set) var problem: (name: FileName, error: DatabaseError)?

    /// - Throws: `io` where the lock file cannot be read.
    init(_ manifest: Manifest, in directory: any Directory) throws(DatabaseError) {
        found = try Witness.read(in: directory)
        do throws(DatabaseError) {
            try found.check(manifest, in: directory)
        } catch {
            let isLock = error.file?.hasSuffix("/" + FileName.lock.text) ?? false
            problem = (isLock ? .lock : .manifest, error)
            return
        }
        guard let witness = found.witness, witness.isClosed else { return }
        let bytes = try calling("reading the lock") { () throws(FileError) in
            let file = try directory.open(FileName.lock.text, writable: false)
            return try file.readAll(count: file.size(), at: 0)
        }
        if bytes != witness.fileWhenClosed {
            problem = (
                .lock,
                DatabaseError(.damaged, "the lock is not what was written when it was closed")
            )
        }
    }
}

extension Witness {
    /// The lock file after the end of writing: both records, the older one but for its number.
    fileprivate var fileWhenClosed: [UInt8] {
        var older = self
        older.serial &-= 1
        let isSecond = serial % 2 == 1
        return isSecond
            ? older.record(at: 0) + record(at: Witness.recordSizeBytes)
            : record(at: 0) + older.record(at: Witness.recordSizeBytes)
    }
}
