// Opens files that users name, and creates files outside of databases. A named file may be a pipe,
// whose opening waits for the other end.

internal import CozDB
internal import CozPlatform

enum FileOpening {
    /// Opens an existing file, with close-on-exec. Returns the descriptor, or -1 with the reason in
    /// `errno`.
    ///
    /// - Throws: `cancelled` after Ctrl-C.
    static func open(_ path: String, _ flags: Int32) throws(DatabaseError) -> Int32 {
        while true {
            // Sound: the path is null-terminated during the call.
            let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC)
            if descriptor >= 0 || errno != EINTR { return descriptor }
            try DatabaseError.checkInterrupt()
        }
    }

    /// Waits until a descriptor can be read from or written to. Another program that shares it may
    /// have set it to non-blocking mode.
    static func wait(for events: Int32, on descriptor: Int32) {
        var waiting = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
        unsafe poll(&waiting, 1, -1)
    }

    /// Creates a file that only its owner can read, whatever the umask. Returns -1 with the reason
    /// in `errno`. It is `EEXIST` if the name exists in any form, so a link, a pipe or another
    /// user's file is never written to.
    static func make(_ path: String) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return repeatingInterrupted {
            // Sound: the path is null-terminated during the call.
            unsafe Glibc.open(path, flags, 0o600)
        }
    }

    /// Repeats a system call that a signal interrupts.
    static func repeatingInterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result >= 0 || errno != EINTR { return result }
        }
    }

    /// Creates a file with an unpredictable name next to the file that it will replace.
    ///
    /// - Returns: The descriptor, or -1 with the reason in `errno`; and the path of the new file.
    static func make(beside path: String) -> (descriptor: Int32, path: String) {
        // Of 2^64 names none is taken by accident, so an existing one is an error.
        let name = "\(path).\(String(UInt64.random(in: 1...UInt64.max), radix: 16)).partial"
        return (make(name), name)
    }
}
