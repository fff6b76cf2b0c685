// Which manifest a repair begins with: the one that is there, or none where it cannot be read or
// belongs to another database.

/// What a repair finds out about manifest and lock before it looks at anything else.
struct FoundManifest {
    /// Something that is wrong with one of the two.
    struct Problem {
        var name: FileName
        var error: DatabaseError
        /// Whether everything that the file should hold was understood.
        var isHarmless = false
        /// Whether the file has anything that is worth keeping.
        var hasFile = true
    }

    /// nil where there is none to begin with.
    private(set) var manifest: Manifest?
    /// The last acknowledged state of this database; nil if the lock does not know it.
    private(set) var acknowledged: AcknowledgedState?
    private(set) var problems: [Problem] = []

    /// - Throws: `notFound` where there is no database; `unsupportedFormat` for a newer one.
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
        // Segments and logs tell which of the two is from elsewhere.
        if try FoundFiles.owner(in: directory) == acknowledged.databaseID {
            manifest = nil
        } else {
            self.acknowledged = nil
        }
    }

    /// Where there is no manifest that it could be compared with.
    private mutating func readLock(in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            let found = try AcknowledgedState.read(in: directory)
            acknowledged = found.state
            guard case .noRecord = found else { return }
            let error = DatabaseError(.damaged, "LOCK holds no whole record", offset: 0)
            problems.append(Problem(name: .lock, error: error))
        } catch {
            guard error.isReadFailure else { throw error }
        }
    }

    /// nil where there is none, although there is a database.
    private static func read(_ directory: any Directory) throws(DatabaseError) -> Manifest? {
        do throws(DatabaseError) {
            if let manifest = try Manifest.read(in: directory) { return manifest }
        } catch {
            // A flipped bit may make it look like one of a newer version.
            guard error.kind == .unsupportedFormat, try !Manifest.isWhole(in: directory) else {
                throw error
            }
            throw DatabaseError(
                .damaged, error.message, file: error.file, offset: error.offset)
        }
        let names = try calling("listing the database") { () throws(FileError) in
            try directory.list()
        }
        guard DirectoryMark.hasData(names) else {
            throw DirectoryMark.noManifest(
                names, try AcknowledgedState.read(in: directory), path: directory.path)
        }
        return nil
    }
}
