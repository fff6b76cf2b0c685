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
        guard witness.isAsClosed(bytes) else {
            problem = (
                .lock,
                DatabaseError(.damaged, "the lock is not what was written when it was closed")
            )
            return
        }
    }
}

extension Witness {
    /// Whether a lock file can be what closing left: both records say the same but for their
    /// serial. Where it ended between the two, the other one is of before, or says of itself that
    /// it was not closed, as the beginning of a record does that ends like the one before it.
    fileprivate func isAsClosed(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == Witness.sizeBytes else { return false }
        let isSecond = serial % 2 == 1
        var other = self
        if isSecond { other.serial &-= 1 } else { other.serial &+= 1 }
        let start = isSecond ? 0 : Witness.recordSizeBytes
        let found = bytes[start..<(start + Witness.recordSizeBytes)]
        if found.elementsEqual(other.record(at: start)) { return true }
        return found[start + Witness.closedOffset] == 0
    }
}
