// A call of the operating system that failed, as the seam of files reports it.

internal import Glibc

/// A system call that failed. Becomes a `DatabaseError` where the purpose is known.
package struct FileError: Error, Equatable, Sendable {
    /// The call, as in its manual page.
    package var call: String
    /// Path of the file or directory.
    package var path: String
    /// The value of errno.
    package var code: Int32

    /// The code comes first: what makes the path may change errno, and arguments are evaluated in
    /// their order.
    package init(code: Int32, call: String, path: String) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// In place of errno: a directory, a pipe or a device where a file should be.
    package static let notRegular: Int32 = -1
    /// In place of errno: a file, a link or a pipe where a folder of the database should be.
    package static let notFolder: Int32 = -2

    package var isNotFound: Bool { code == ENOENT }
    package var isExisting: Bool { code == EEXIST }
    package var isForbidden: Bool { code == EACCES || code == EPERM }
    /// Whether a device failed to give bytes that are there.
    package var isUnreadable: Bool { code == EIO && call == "pread" }
    /// Whether something else than a file, or than a folder, has its name.
    package var isOdd: Bool {
        [FileError.notRegular, FileError.notFolder, ELOOP, EISDIR, ENXIO, ENOTDIR]
            .contains(code)
    }
    /// No space, or none that this user may have.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether it is a sync that failed: what was written before is not known to be there then.
    package var isOfSync: Bool { call == "fsync" || call == "fdatasync" }
}
