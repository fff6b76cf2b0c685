// Whether the manifest is the newest one, as the witness in the lock file knows it.

/// Lock file and manifest, compared.
struct WitnessCheck {
    private(set) var found = Witness.Found.nothing
    /// Which of the two is not what was written; nil where they agree.
    private(set) var problem: (name: FileName, error: DatabaseError)?

    /// - Throws: `io` where the lock file cannot be read.
    init(_ manifest: Manifest, in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            found = try Witness.read(in: directory)
            problem = try WitnessCheck.problem(of: found, manifest, in: directory)
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
        of found: Witness.Found, _ manifest: Manifest, in directory: any Directory
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
            let bytes = try calling("reading the lock") { () throws(FileError) in
                let file = try directory.open(FileName.lock.text, writable: false)
                return try file.readAll(count: file.size(), at: 0)
            }
            if bytes.count > Witness.sizeBytes {
                return (
                    .lock,
                    DatabaseError(
                        .damaged,
                        "LOCK has \(bytes.count) bytes, expected \(Witness.sizeBytes)",
                        offset: Witness.sizeBytes)
                )
            }
            if !witness.isClosed || witness.isAsClosed(bytes) { return nil }
            return (
                .lock,
                DatabaseError(.damaged, "LOCK is not what was written when it was closed")
            )
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
                return try directory.open(FileName.lock.text, writable: false).size() == 0
            } catch {
                if error.isForbidden { return false }
                guard error.isNotFound else { throw error }
                return true
            }
        }
    }
}

extension Witness {
    /// Whether a lock file can be what closing left: both records say the same but for their
    /// serial. Where the write ended inside of one of them, its beginning is new and the rest of
    /// before: it has another turn and the same holder, and was not closed or names a log.
    fileprivate func isAsClosed(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == Witness.sizeBytes else { return false }
        let isSecond = serial % 2 == 1
        var other = self
        if isSecond { other.serial &-= 1 } else { other.serial &+= 1 }
        let own = isSecond ? Witness.recordSizeBytes : 0
        let start = Witness.recordSizeBytes - own
        let found = Array(bytes[start..<(start + Witness.recordSizeBytes)])
        let turn = Witness.turnOffset
        let hasTail = bytes[own + turn] != 0
        let expected = other.record(at: start, hasTail: hasTail)
        func isSame(_ range: Range<Int>) -> Bool {
            found[range].elementsEqual(expected[range])
        }
        if isSecond, isBegunOpening(found, over: expected) { return true }
        if hasTail, found[turn] == expected[turn] { return found == expected }
        guard isSame(0..<12), isSame(Witness.holderOffset..<Witness.tailRange.lowerBound),
            isSame(Witness.tailRange.upperBound..<Witness.recordSizeBytes),
            hasTail ? found[turn] != 0 : isSame(Witness.tailRange)
        else { return false }
        let closed = Witness.closedOffset..<(Witness.closedOffset + 4)
        return found[closed].allSatisfy { $0 == 0 } || isSame(0..<closed.upperBound)
    }

    /// Whether a first record can be what opening wrote of its own over the one that closing left,
    /// and the rest of that: the checksum is another one, then come the next serial and what is
    /// known of the new record, then its holder, who is not.
    private func isBegunOpening(_ found: [UInt8], over expected: [UInt8]) -> Bool {
        let holder = Witness.holderOffset
        let tail = Witness.tailRange
        guard found[..<12] == expected[..<12], found[12] != expected[12],
            found[tail.upperBound...] == expected[tail.upperBound...]
        else { return false }
        if found[16...] == expected[16...] { return true }
        var opened = self
        opened.serial &+= 1
        opened.isClosed = false
        let new = opened.record(at: 0)
        let end = (16..<holder).first { found[$0] != new[$0] } ?? holder
        return end > 16 && (end == holder || found[end...] == expected[end...])
    }
}
