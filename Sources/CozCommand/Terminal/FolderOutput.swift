// Writes files below a folder, for commands that write several files.

internal import CozDB
internal import CozPlatform

/// Creates files by their paths inside a new folder, and folders as needed. Only their owner can
/// read them.
struct FolderOutput {
    private let root: String
    private var made: Set<String> = []

    /// - Throws: `io` if the folder exists or cannot be created.
    init(_ path: String) throws(DatabaseError) {
        root = path
        // Sound: the path is null-terminated during the call.
        guard unsafe path.withCString({ unsafe mkdir($0, 0o700) }) == 0 else {
            throw DatabaseError(
                .io, "cannot create the folder: \(SystemMessage.text(errno))", file: path)
        }
    }

    /// - Parameter path: The path inside the folder, with `/` between names.
    mutating func write(_ bytes: [UInt8], to path: String) throws(DatabaseError) {
        var folder = root
        for name in path.parts(separatedBy: "/", keepsEmpty: false).dropLast() {
            folder += "/" + name
            // The folder may exist. If it cannot be created, opening the file fails.
            if made.insert(folder).inserted {
                _ = unsafe folder.withCString { unsafe mkdir($0, 0o700) }
            }
        }
        let target = root + "/" + path
        let descriptor = FileOpening.make(target)
        guard descriptor >= 0 else { throw failure(target) }
        defer { close(descriptor) }
        let code = OutputWriter.write(bytes, to: descriptor)
        if code != 0 {
            errno = code
            throw failure(target)
        }
    }

    private func failure(_ path: String) -> DatabaseError {
        DatabaseError(.io, "cannot write the file: \(SystemMessage.text(errno))", file: path)
    }
}
