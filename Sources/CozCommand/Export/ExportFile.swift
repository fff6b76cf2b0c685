// The target of an export: standard output, or a file that is written completely or not at all.

internal import CozDB
internal import CozPlatform

struct ExportFile {
    let output: OutputWriter
    private let path: String?
    private let temporary: String?

    /// Refuses a path inside the directory of the database, even through links: the export could
    /// overwrite a file of the database, now or later.
    ///
    /// - Throws: `usage`.
    static func check(_ path: String, apartFrom database: String) throws(DatabaseError) {
        let files = PosixFileSystem()
        let own = try? files.openDirectory(database, create: false, access: .ownerOnly)
        guard let own else { return }
        let names = path.parts(separatedBy: "/")
        let folder = names.dropLast().joined(separator: "/")
        let place = names.count > 1 ? (folder.isEmpty ? "/" : folder) : "."
        switch files.relation(of: place, to: own) {
        case .apart, .around: return
        case .same, .inside:
            throw DatabaseError(
                .usage,
                "--output: found a file inside the database \(database), expected a file outside "
                    + "of it; nothing was written",
                file: path)
        }
    }

    /// - Parameter path: Path of the file; nil for standard output.
    /// - Throws: `notFound` or `io` if the file cannot be created; `cancelled` after Ctrl-C.
    init(_ path: String?) throws(DatabaseError) {
        guard let path else {
            (self.path, temporary) = (nil, nil)
            output = OutputWriter()
            return
        }
        var status = stat()
        // Sound: fills in a local value; the path is null-terminated during the call.
        let isThere = unsafe stat(path, &status) == 0
        // Devices and pipes are written to in place; they cannot be replaced. Links in /dev and
        // /proc to open files look like regular files but are treated alike.
        let isSystemPath = ["/dev/", "/proc/"].contains { path.utf8.starts(with: $0.utf8) }
        let isReplaced = !isSystemPath && (!isThere || status.st_mode & S_IFMT == S_IFREG)
        let (descriptor, target) =
            isReplaced
            ? FileOpening.make(beside: path)
            : (try FileOpening.open(path, O_WRONLY | O_APPEND | O_NOCTTY), path)
        guard descriptor >= 0 else {
            let code = errno
            throw DatabaseError(
                code == ENOENT || code == ENOTDIR ? .notFound : .io,
                "cannot create the file: \(SystemMessage.text(code))", file: target)
        }
        // Sound: as above. A regular file here has replaced the device since the check.
        let isFile =
            unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        if !isReplaced, !isSystemPath, isFile {
            close(descriptor)
            throw DatabaseError(
                .io, "another process replaced it with a regular file; run the command again",
                file: path)
        }
        self.path = path
        temporary = isReplaced ? target : nil
        output = OutputWriter(descriptor: descriptor, name: target)
    }

    /// Writes the rest and renames the file to its final name.
    ///
    /// - Throws: `io`.
    func finish() throws(DatabaseError) {
        try output.flush()
        guard let path, let temporary else { return }
        guard unsafe rename(temporary, path) == 0 else {
            throw DatabaseError(
                .io, "cannot rename it to \(path): \(SystemMessage.text(errno))", file: temporary)
        }
    }

    /// Removes the unfinished file.
    func abandon() {
        if let temporary { _ = unsafe unlink(temporary) }
    }
}
