// The manifest that a repair starts from. None, if it cannot be read or belongs to another
// database.

/// The manifest and the last acknowledged state, and what is wrong with them.
struct FoundManifest {
    /// A problem of one of the two files.
    struct Problem {
        var name: FileName
        var error: DatabaseError
        /// Whether the whole content of the file could still be read.
        var isHarmless = false
        /// Whether there is a file to keep in the damaged folder.
        var hasFile = true
    }

    /// nil if the repair must rebuild it.
    private(set) var manifest: Manifest?
    /// The last acknowledged state of this database; nil if the lock file has none.
    private(set) var acknowledged: AcknowledgedState?
    private(set) var problems: [Problem] = []

    /// - Throws: `notFound` if there is no database; `unsupportedFormat` if it has a newer format.
    init(in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            manifest = try FoundManifest.read(directory)
            if manifest == nil {
                let error = DatabaseError(.damaged, "the manifest is missing")
                problems = [Problem(name: .manifest, error: error, hasFile: false)]
            }
        } catch {
            guard error.kind == .damaged || error.isReadFailure else { throw error }
            manifest = error.kind == .damaged ? try Manifest.readBeforeEnd(in: directory) : nil
            problems = [Problem(name: .manifest, error: error, isHarmless: manifest != nil)]
        }
        guard let read = manifest else {
            try readLock(in: directory)
            return
        }
        let check = try LockCheck(read, in: directory)
        acknowledged = check.found.state
        if let (name, error) = check.problem {
            var problem = Problem(name: name, error: error)
            if case .nothing = check.found { problem.hasFile = false }
            problems.append(problem)
        }
        guard let acknowledged, acknowledged.databaseID != read.databaseID else { return }
        // Segments and logs tell which of the two belongs here.
        if try FoundFiles.owner(in: directory) == acknowledged.databaseID {
            manifest = nil
        } else {
            self.acknowledged = nil
        }
    }

    /// Reads the lock file when there is no manifest to compare it with.
    private mutating func readLock(in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            let found = try AcknowledgedState.read(in: directory)
            acknowledged = found.state
            guard case .noRecord = found else { return }
            let error = DatabaseError(.damaged, "LOCK has no intact record", offset: 0)
            problems.append(Problem(name: .lock, error: error))
        } catch {
            guard error.isReadFailure else { throw error }
        }
    }

    /// Reads the manifest; nil if it is missing although the directory has data.
    private static func read(_ directory: any Directory) throws(DatabaseError) -> Manifest? {
        do throws(DatabaseError) {
            if let manifest = try Manifest.read(in: directory) { return manifest }
        } catch {
            // A flipped bit in the version makes a manifest look like one of a newer format.
            guard error.kind == .unsupportedFormat, try !Manifest.isWhole(in: directory) else {
                throw error
            }
            throw DatabaseError(
                .damaged, error.message, file: error.file, offset: error.offset,
                remedy: error.remedy)
        }
        let names = try directory.names()
        if DirectoryMark.hasSegmentsOrLogs(names) { return nil }
        let lock = try AcknowledgedState.read(in: directory)
        guard DirectoryMark.hasData(names, lock) else {
            throw DirectoryMark.noManifest(names, lock, path: directory.path)
        }
        return nil
    }
}
