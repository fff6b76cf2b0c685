// The error of a failed system call.

internal import CozPlatform

/// A failed system call. Converted to a `DatabaseError` where the purpose of the call is known.
package struct FileError: Error, Equatable, Sendable {
    /// Name of the system call, as in its manual page.
    package var call: String
    package var path: String
    /// The value of errno.
    package var code: Int32

    /// `code` is the first parameter because arguments are evaluated in order: computing the path
    /// may change errno.
    package init(code: Int32, call: String, path: String) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// Pseudo errno: a directory, pipe or device where a file is expected.
    package static let notRegular: Int32 = -1
    /// Pseudo errno: a file, link or pipe where a directory of the database is expected.
    package static let notDirectory: Int32 = -2

    package var isNotFound: Bool { code == ENOENT }
    package var alreadyExists: Bool { code == EEXIST }
    package var isPermissionDenied: Bool { code == EACCES || code == EPERM }
    /// Whether a device failed to return stored bytes.
    package var isReadFailure: Bool { code == EIO && call == "pread" }
    /// Whether the path is not the expected kind of file.
    package var isWrongFileType: Bool {
        [FileError.notRegular, FileError.notDirectory, ELOOP, EISDIR, ENXIO, ENOTDIR]
            .contains(code)
    }
    /// Whether the disk or the user's quota is full.
    package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
    /// Whether a sync failed. Earlier writes may be lost then.
    package var isSyncFailure: Bool { call == "fsync" || call == "fdatasync" }
}
