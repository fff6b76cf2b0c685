// Files written below a folder, for commands whose output is more than one.

internal import CozDB
internal import Glibc

/// Writes new files by their paths inside a folder; makes folders as needed. Only their owner reads
/// them.
struct FolderOutput {
    private let root: String
    private var made: Set<String> = []

    /// - Throws: `io` where the folder is there already, or cannot be made.
    init(_ path: String) throws(DatabaseError) {
        root = path
        // The path ends with a zero byte during the call.
        guard unsafe path.withCString({ unsafe mkdir($0, 0o700) }) == 0 else {
            throw DatabaseError(
                .io, "cannot be made as a new folder: \(SystemMessage.text(errno))", file: path)
        }
    }

    /// - Parameter path: inside the folder, with `/` between names.
    mutating func write(_ bytes: [UInt8], to path: String) throws(DatabaseError) {
        var folder = root
        for name in path.split(separator: "/").dropLast() {
            folder += "/" + name
            // It may be there; opening the file fails where it is not.
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
        DatabaseError(.io, "cannot be written: \(SystemMessage.text(errno))", file: path)
    }
}
