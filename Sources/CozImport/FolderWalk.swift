// Lists the files below a folder in an order that does not depend on the file system.

internal import CozDB
internal import CozPlatform

/// The files below a folder, in byte order of their paths.
///
/// Symbolic links are not followed, so the walk ends and stays inside the folder. Hidden entries
/// (names that begin with a dot) and `__MACOSX` folders, which macOS adds to archives, are ignored.
struct FolderWalk {
    /// Regular files. Each path begins with the path of the folder.
    private(set) var files: [String] = []
    /// Symbolic links and special files.
    private(set) var others: [String] = []

    /// - Throws: `notFound` or `io` if a folder or the kind of a file cannot be read.
    init(_ folder: String) throws(DatabaseError) {
        try walk(folder.hasByteSuffix("/") ? folder : folder + "/")
        files.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        others.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    static func isFolder(_ path: String) -> Bool {
        guard !path.utf8.contains(0) else { return false }
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private mutating func walk(_ folder: String) throws(DatabaseError) {
        // A list instead of recursion: deeply nested folders would overflow the stack.
        var waiting = [folder]
        while let folder = waiting.popLast() {
            for name in try FolderWalk.names(in: folder)
            where !name.hasBytePrefix(".") && name != "__MACOSX" {
                let path = folder + name
                var status = stat()
                guard unsafe lstat(path, &status) == 0 else {
                    throw FolderWalk.unreadable(path, errno)
                }
                switch status.st_mode & S_IFMT {
                case S_IFREG: files.append(path)
                case S_IFDIR: waiting.append(path + "/")
                default: others.append(path)
                }
            }
        }
    }

    /// The error for a path whose kind cannot be determined.
    private static func unreadable(_ path: String, _ code: Int32) -> DatabaseError {
        let isRepaired = path.unicodeScalars.contains("\u{FFFD}")
        if code == ENOENT && isRepaired {
            return DatabaseError(
                .io, "the name is not valid UTF-8; rename it, or move it out of the directory",
                file: path)
        }
        return DatabaseError(
            code == ENOENT ? .notFound : .io, "cannot be read: \(InputFile.message(code))",
            file: path)
    }

    /// Returns the names in a folder. Invalid UTF-8 is repaired; the caller then fails to find the
    /// file.
    private static func names(in folder: String) throws(DatabaseError) -> [String] {
        guard let directory = unsafe opendir(folder) else {
            let code = errno
            throw DatabaseError(
                code == ENOENT || code == ENOTDIR ? .notFound : .io,
                "cannot be read as a directory: \(InputFile.message(code))", file: folder)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            // Sound: the name is a field of the entry and ends with a zero byte.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            names.append(name)
        }
        return names
    }
}
