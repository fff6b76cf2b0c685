// Opens what people name. That may be a pipe, which waits until somebody opens its other end.

internal import CozDB
internal import Glibc

enum FileOpening {
    /// The descriptor, closed for other programs; -1 with the reason in `errno`. New files have
    /// the rights that the user gives to new files.
    ///
    /// - Throws: `cancelled` after Ctrl-C.
    static func open(_ path: String, _ flags: Int32) throws(DatabaseError) -> Int32 {
        while true {
            // The path ends with a zero byte during the call.
            let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o666)
            if descriptor >= 0 || errno != EINTR { return descriptor }
            try DatabaseError.checkInterrupt()
        }
    }
}
