// All file system calls of the database as protocols, so that tests can inject faults. Retries of
// short and interrupted calls are above the protocols, so tests cover them.

internal import CozPlatform
internal import Synchronization

extension DatabaseError {
    /// The error for a file that the manifest names: a missing file is damage.
    var asDamageIfMissing: DatabaseError {
        guard kind == .notFound else { return self }
        return DatabaseError(
            .damaged,
            "the manifest names this file, but it is missing, and its data is lost without it; "
                + "put the file back, or repair the database without it",
            file: file, offset: 0, remedy: .repair)
    }

    /// Creates an error from a failed system call.
    ///
    /// - Parameter purpose: What was being done, for the message.
    init(_ error: FileError, while purpose: String) {
        let reason: String
        switch error.code {
        case FileError.notRegular: reason = "found something other than a regular file"
        case FileError.notDirectory: reason = "found a link or a file, expected a directory"
        default: reason = unsafe String(cString: strerror(error.code))
        }
        let advice: String
        var remedy: Remedy?
        switch error.code {
        case ENOENT: advice = "check the path"
        case ENOTDIR: advice = "a database is a directory; check the path"
        case EACCES, EPERM:
            advice =
                "this user has no permission; run as the owner, or have the owner grant access "
                + "(ls -ld, chmod)"
        case EROFS:
            advice =
                "mount it for writing, or write to a restored backup on another file system; "
                + "reading still works"
            remedy = .backup
        case ENOSPC, EDQUOT:
            advice =
                "free space or raise the quota, then open the database again; no repair is needed"
        case EFBIG:
            advice =
                "raise the file size limit (ulimit -f), then open the database again; no repair "
                + "is needed"
        case EMFILE: advice = "this process has too many; raise the limit (ulimit -n)"
        case ENOMEM: advice = "free memory or raise the limit (ulimit -v)"
        case ENFILE: advice = "the system has too many; raise its limit (sysctl fs.file-max)"
        case FileError.notDirectory:
            advice =
                "links are not followed inside a database; put the directory back, or remove the "
                + "link or file"
        case ELOOP:
            advice =
                "symbolic links are not followed inside a database; put the file itself here, or "
                + "remove the link and repair the database without it"
            remedy = .repair
        case FileError.notRegular, EISDIR, ENXIO:
            advice =
                "database files must be regular files; put the right file back, or remove this "
                + "one and repair the database without it"
            remedy = .repair
        default: advice = "check the system log for device errors"
        }
        self.init(
            error.code == ENOENT || error.code == ENOTDIR ? .notFound : .io,
            "\(error.call) failed while \(purpose): \(reason); \(advice)", file: error.path,
            remedy: remedy)
        cause = error
    }
}

/// The location of a path relative to a directory.
package enum DirectoryRelation: Sendable {
    case apart
    case same
    /// Below the directory.
    case inside
    /// Above the directory.
    case around
}

/// Access to files.
package protocol FileSystem: Sendable {
    /// Opens a directory. With `create`, also creates it if missing and syncs its parent.
    func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory
    /// Returns the location of a path relative to an open directory. Follows symbolic links. The
    /// path need not exist. Returns `apart` if the location is unknown.
    func relation(of path: String, to directory: any Directory) -> DirectoryRelation
    /// Returns nanoseconds since 1970. Tests make it deterministic.
    func now() -> Int64
    /// Returns a unique nonzero number for a new database. Tests make it deterministic.
    func makeIdentity() -> UInt64
}

extension FileSystem {
    package func relation(of path: String, to directory: any Directory) -> DirectoryRelation {
        .apart
    }

    package func now() -> Int64 { Timestamp.now.nanoseconds }
    package func makeIdentity() -> UInt64 { .random(in: 1...UInt64.max) }
}

/// An open directory. Files are named relative to it, and symbolic links are not followed.
package protocol Directory: AnyObject, Sendable {
    var path: String { get }
    /// Returns the names of all entries except `.` and `..`.
    func list() throws(FileError) -> [String]
    /// Creates a file for reading and writing. Fails if the name exists.
    func create(_ name: String) throws(FileError) -> any File
    /// Opens an existing regular file.
    func open(_ name: String, writable: Bool) throws(FileError) -> any File
    /// Whether the name still refers to this open file and the file was not written to since it was
    /// opened. False if unknown.
    func isUnchanged(_ name: String, since file: any File) -> Bool
    /// Whether the name still refers to this open file.
    func isNamed(_ name: String, _ file: any File) -> Bool
    /// Opens a subdirectory. With `create`, creates it if missing.
    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory
    func rename(_ source: String, to target: String) throws(FileError)
    func remove(_ name: String) throws(FileError)
    /// Removes an empty directory.
    func removeDirectory(_ name: String) throws(FileError)
    /// Makes created, renamed and removed names durable.
    func sync() throws(FileError)
    /// Opens and locks a file, creating it if missing. Returns nil if another process holds the
    /// lock.
    func lock(_ name: String) throws(FileError) -> (any File)?
}

extension Directory {
    package func isUnchanged(_ name: String, since file: any File) -> Bool { false }
    package func isNamed(_ name: String, _ file: any File) -> Bool { true }

    /// Opens a file for reading; nil if it is missing.
    func openIfPresent(_ name: String) throws(FileError) -> (any File)? {
        do throws(FileError) {
            return try open(name, writable: false)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// Removes a file unless it is missing.
    func removeIfPresent(_ name: String) throws(FileError) {
        do throws(FileError) {
            try remove(name)
        } catch {
            guard error.isNotFound else { throw error }
        }
    }

    /// Removes a directory and its contents. Durable once this directory is synced.
    ///
    /// - Returns: The number of files removed.
    package func removeTree(_ name: String) throws(FileError) -> Int {
        let folder = try openDirectory(name, create: false)
        var count = 0
        for entry in try folder.list() {
            do throws(FileError) {
                try folder.remove(entry)
                count += 1
            } catch {
                // The errno of unlink for a directory: EISDIR on Linux, EPERM elsewhere.
                guard error.code == EISDIR || error.code == EPERM else { throw error }
                count += try folder.removeTree(entry)
            }
        }
        try folder.sync()
        try removeDirectory(name)
        return count
    }
}

/// An open file, closed when its last reference is released.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    func size() throws(FileError) -> Int
    /// Reads at most as many bytes as fit into the buffer. Returns 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
    /// Writes at least one byte, possibly not all. Returns the number written.
    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int
    /// Reserves space, so that writes below `size` need no new blocks. May do nothing.
    func allocate(size: Int) throws(FileError)
    func truncate(to size: Int) throws(FileError)
    /// fdatasync: makes data durable, and the metadata needed to read it.
    func syncData() throws(FileError)
    /// Maps `size` bytes of the file for reading.
    func map(size: Int) throws(FileError) -> FileMapping
}

/// A memory-mapped file, unmapped when the last reference is released.
@safe package final class FileMapping: @unchecked Sendable {
    // Unchecked: the bytes are never written after init.
    package let bytes: UnsafeRawBufferPointer
    private let release: @Sendable (UnsafeRawBufferPointer) -> Void
    /// For each chunk, whether its pages were read successfully.
    private let isRead: UnsafeMutablePointer<Atomic<Bool>>
    private let chunkCount: Int
    /// Size of a chunk, about the system's read-ahead.
    private static let chunkSizeBytes = 128 << 10

    package init(
        _ bytes: UnsafeRawBufferPointer,
        release: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) {
        unsafe self.bytes = bytes
        unsafe self.release = release
        let size = FileMapping.chunkSizeBytes
        chunkCount = (bytes.count + size - 1) / size
        unsafe isRead = .allocate(capacity: chunkCount)
        for chunk in 0..<chunkCount { unsafe (isRead + chunk).initialize(to: Atomic(false)) }
    }

    deinit {
        unsafe isRead.deinitialize(count: chunkCount)
        unsafe isRead.deallocate()
        unsafe release(bytes)
    }

    /// Whether the pages of a range can be read. The first access to a chunk makes the system read
    /// it. If the file was truncated or the device fails, this returns false; touching the pages
    /// would raise SIGBUS and kill the process. Later changes to the file are not detected.
    package func isReadable(_ range: Range<Int>) -> Bool {
        guard let last = range.last else { return true }
        let size = FileMapping.chunkSizeBytes
        for chunk in (range.lowerBound / size)...(last / size) {
            if unsafe isRead[chunk].load(ordering: .relaxed) { continue }
            let start = chunk * size
            let count = min(size, self.count - start)
            let address = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress! + start)
            let failed = unsafe madvise(address, count, FileMapping.populateRead) != 0
            if failed, errno == EFAULT || errno == EIO { return false }
            unsafe isRead[chunk].store(true, ordering: .relaxed)
        }
        return true
    }

    /// MADV_POPULATE_READ. Systems before Linux 5.14 reject it; the error is ignored.
    private static let populateRead: Int32 = 22

    package var count: Int { unsafe bytes.count }
}

extension File {
    /// Writes all bytes, with as many calls as needed.
    package func writeAll(_ bytes: Span<UInt8>, at offset: Int) throws(FileError) {
        var written = 0
        while written < bytes.count {
            do throws(FileError) {
                let rest = bytes.extracting(written...)
                // A typed throw cannot pass through rethrowing withUnsafeBytes.
                let result = unsafe rest.withUnsafeBytes { buffer in
                    Result { () throws(FileError) in
                        unsafe try write(buffer, at: offset + written)
                    }
                }
                written += try result.get()
            } catch  where error.code == EINTR {
                continue
            }
        }
    }

    /// Reads up to `count` bytes into the start of a reusable buffer.
    ///
    /// - Returns: The number of bytes read, less than `count` only at the end of the file.
    package func read(
        _ count: Int, at offset: Int, into memory: inout [UInt8]
    ) throws(FileError) -> Int {
        if memory.count < count { memory = [UInt8](repeating: 0, count: count) }
        // A typed throw cannot pass through rethrowing withUnsafeMutableBytes.
        let result = unsafe memory.withUnsafeMutableBytes { buffer in
            Result { () throws(FileError) in
                unsafe try fill(.init(rebasing: buffer[..<count]), at: offset)
            }
        }
        return try result.get()
    }

    /// Reads up to `count` bytes; fewer only at the end of the file.
    package func readAll(count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                let wanted = unsafe UnsafeMutableRawBufferPointer(buffer)[..<count]
                initialized = unsafe try fill(.init(rebasing: wanted), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills a buffer with as many calls as needed. Returns the number of bytes read.
    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(FileError) -> Int {
        var done = 0
        while done < buffer.count {
            do throws(FileError) {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                let got = unsafe try read(into: rest, at: offset + done)
                if got == 0 { break }
                done += got
            } catch  where error.code == EINTR {
                continue
            }
        }
        return done
    }
}
