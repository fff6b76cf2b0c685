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
        // A device or a pipe is written to; it cannot be replaced. What the system names for its
        // own open files looks like one of them.
        let isSystems = ["/dev/", "/proc/"].contains { path.utf8.starts(with: $0.utf8) }
        let isReplaced = !isSystems && (!isThere || status.st_mode & S_IFMT == S_IFREG)
        let (descriptor, target) =
            isReplaced
            ? FileOpening.make(beside: path)
            : (try FileOpening.open(path, O_WRONLY | O_APPEND | O_NOCTTY), path)
        guard descriptor >= 0 else {
            let code = errno
            throw DatabaseError(
                code == ENOENT || code == ENOTDIR ? .notFound : .io,
                "cannot be made: \(SystemMessage.text(code))", file: target)
        }
        // Sound: as above. A file that came there meanwhile is not what was looked at.
        let isFile =
            unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        if !isReplaced, !isSystems, isFile {
            close(descriptor)
            throw DatabaseError(.io, "was replaced by a file; run the command again", file: path)
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
