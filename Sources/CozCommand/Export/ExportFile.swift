// Where an export goes: standard output, or a file that is there as a whole or not at all.

internal import CozDB
internal import Glibc

/// The output of `cozdb export`.
struct ExportFile {
    let output: OutputWriter
    private let path: String?
    private let temporary: String?

    /// Refuses a file in the folder of the database or below, by whatever name: there it would
    /// take the place of one of the database's own, now or later.
    ///
    /// - Throws: `usage`.
    static func check(_ path: String, apartFrom database: String) throws(DatabaseError) {
        let files = PosixFileSystem()
        let own = try? files.openDirectory(database, create: false, access: .ownerOnly)
        guard let own else { return }
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = names.dropLast().joined(separator: "/")
        let place = path.contains("/") ? (folder.isEmpty ? "/" : folder) : "."
        switch files.place(of: place, seenFrom: own) {
        case .apart, .around: return
        case .same, .inside:
            throw DatabaseError(
                .usage,
                "--output: found a file inside the database \(database), expected one outside; "
                    + "nothing was written",
                file: path)
        }
    }

    /// - Parameter path: nil is standard output.
    /// - Throws: `notFound` and `io` for a file that cannot be made; `cancelled` after Ctrl-C.
    init(_ path: String?) throws(DatabaseError) {
        guard let path else {
            (self.path, temporary) = (nil, nil)
            output = OutputWriter()
            return
        }
        var status = stat()
        // Sound: fills in a local value; the path ends with a zero byte during the call.
        let isThere = unsafe stat(path, &status) == 0
        // A device or a pipe is written to; it cannot be replaced.
        let isReplaced = !isThere || status.st_mode & S_IFMT == S_IFREG
        let target = isReplaced ? "\(path).partial" : path
        // A link in place of the new file would lead the export to a file that nobody named.
        let descriptor = try FileOpening.open(
            target, O_WRONLY | O_CREAT | O_TRUNC | (isReplaced ? O_NOFOLLOW : 0))
        guard descriptor >= 0 else {
            let code = errno
            throw DatabaseError(
                code == ENOENT || code == ENOTDIR ? .notFound : .io,
                "cannot be made: \(SystemMessage.text(code))", file: target)
        }
        self.path = path
        temporary = isReplaced ? target : nil
        output = OutputWriter(descriptor: descriptor, name: target)
    }

    /// Writes the rest and puts the file in its place.
    ///
    /// - Throws: `io`.
    func finish() throws(DatabaseError) {
        try output.flush()
        guard let path, let temporary else { return }
        guard unsafe rename(temporary, path) == 0 else {
            throw DatabaseError(
                .io, "cannot be renamed to \(path): \(SystemMessage.text(errno))", file: temporary)
        }
    }

    /// Takes back a file that will not be finished.
    func abandon() {
        if let temporary { _ = unsafe unlink(temporary) }
    }
}
