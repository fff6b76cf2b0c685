// Which manifest a repair begins with: the one that is there, or none where it cannot be read or
// belongs to another database.

/// What a repair finds out about manifest and lock before it looks at anything else.
struct FoundManifest {
    /// nil where there is none to begin with.
    private(set) var manifest: Manifest?
    /// What the lock knows of the newest state, where it is of this database.
    private(set) var witness: Witness?
    /// What is wrong with manifest or lock.
    private(set) var problem: (name: FileName, error: DatabaseError)?
    /// Whether the file of the problem has anything that is worth keeping.
    private(set) var hasFile = true

    /// - Throws: `notFound` where there is no database; `unsupportedFormat` for a newer one.
    init(in directory: any Directory) throws(DatabaseError) {
        do throws(DatabaseError) {
            manifest = try FoundManifest.read(directory)
            if manifest == nil {
                hasFile = false
                problem = (.manifest, DatabaseError(.damaged, "the manifest is missing"))
            }
        } catch {
            guard error.kind == .damaged || error.isUnreadable else { throw error }
            problem = (.manifest, error)
        }
        guard let read = manifest else {
            do throws(DatabaseError) {
                witness = try Witness.read(in: directory).witness
            } catch {
                guard error.isUnreadable else { throw error }
            }
            return
        }
        let check = try WitnessCheck(read, in: directory)
        problem = check.problem
        witness = check.found.witness
        if case .nothing = check.found { hasFile = false }
        guard let witness, witness.databaseID != read.databaseID else { return }
        // Segments and logs tell which of the two is from elsewhere.
        if try FoundFiles.owner(in: directory) == witness.databaseID {
            manifest = nil
        } else {
            self.witness = nil
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
                names, try Witness.read(in: directory), path: directory.path)
        }
        return nil
    }
}
