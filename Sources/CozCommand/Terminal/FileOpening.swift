// Opens what people name, and makes new files outside of databases. What is named may be a pipe,
// which waits until somebody opens its other end.

internal import CozDB
internal import Glibc

enum FileOpening {
    /// The descriptor, closed for other programs; -1 with the reason in `errno`. Makes no file.
    ///
    /// - Throws: `cancelled` after Ctrl-C.
    static func open(_ path: String, _ flags: Int32) throws(DatabaseError) -> Int32 {
        while true {
            // The path ends with a zero byte during the call.
            let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC)
            if descriptor >= 0 || errno != EINTR { return descriptor }
            try DatabaseError.checkInterrupt()
        }
    }

    /// Makes a file that only its owner reads, whatever the umask. -1 with the reason in `errno`,
    /// `EEXIST` where there is anything of this name: a link, a pipe or the file of somebody else
    /// is never written to.
    static func make(_ path: String) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        // The path ends with a zero byte during the call.
        return unsafe Glibc.open(path, flags, 0o600)
    }

    /// Makes a file beside one whose place it will take, by a name that nobody can foresee.
    ///
    /// - Returns: the descriptor, or -1 with the reason in `errno`; and the name.
    static func make(beside path: String) -> (descriptor: Int32, path: String) {
        // Two to the 64 names: that one is taken twice is no accident, and an error.
        let name = "\(path).\(String(UInt64.random(in: 1...UInt64.max), radix: 16)).partial"
        return (make(name), name)
    }
}
