// Every system call the database makes, as protocols: the seam where tests inject faults.
// Loops over short writes and interrupted calls stand here, above the seam, where tests reach.

internal import Glibc
internal import Synchronization

extension DatabaseError {
    /// The same of opening a file that a manifest names: one that is not there, or is no file, is
    /// damage.
    var ofNamedFile: DatabaseError {
        guard kind == .notFound else { return self }
        return DatabaseError(
            .damaged,
            "this file is missing: the manifest names it, and what it holds is lost without it; "
                + "put it back, or see what is left: cozdb repair", file: file, offset: 0)
    }

    /// What a failed call means to the caller, with what was being done.
    init(_ error: FileError, while purpose: String) {
        let reason: String
        switch error.code {
        case FileError.notRegular: reason = "found no regular file"
        case FileError.notFolder: reason = "found a link or a file, expected a folder"
        default: reason = unsafe String(cString: strerror(error.code))
        }
        let advice: String
        switch error.code {
        case ENOENT: advice = "check the path"
        case ENOTDIR: advice = "a database is a directory; check the path"
        case EACCES, EPERM:
            advice = "this user may not; be its owner, or have the owner allow it (ls -ld, chmod)"
        case EROFS:
            advice =
                "mount it for writing, or write to a copy elsewhere (cozdb backup, cozdb restore); "
                + "reading goes on as it is"
        case ENOSPC, EDQUOT:
            advice =
                "free space or raise the quota, then open the database or run the command again: "
                + "no repair is needed"
        case EFBIG:
            advice =
                "raise the limit of file sizes (ulimit -f), then open the database or run the "
                + "command again: no repair is needed"
        case EMFILE: advice = "this process may have no more; raise the limit (ulimit -n)"
        case ENOMEM: advice = "free memory or raise the limit (ulimit -v)"
        case ENFILE: advice = "the system has no more; raise its limit (sysctl fs.file-max)"
        case FileError.notFolder:
            advice = "links are not followed inside a database; put the folder back, or remove this"
        case ELOOP:
            advice =
                "symbolic links are not followed inside a database; put the file itself here, or "
                + "remove the link and keep what the other files hold: cozdb repair"
        case FileError.notRegular, EISDIR, ENXIO:
            advice =
                "files of a database are regular files; put the file back that belongs here, or "
                + "remove this and keep what the other files hold: cozdb repair"
        default: advice = "see the system's log for the device"
        }
        self.init(
            error.code == ENOENT || error.code == ENOTDIR ? .notFound : .io,
            "\(error.call) failed while \(purpose): \(reason); \(advice)", file: error.path)
        cause = error
    }
}

/// Where a path lies, seen from a directory.
package enum DirectoryPlace: Sendable {
    case apart
    case same
    /// Below the directory.
    case inside
    /// Above it.
    case around
}

/// The operating system's files.
package protocol FileSystem: Sendable {
    /// Opens a directory; with `create` makes it where it is missing and syncs its parent.
    func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory
    /// Where a path lies, seen from an open directory: symbolic links are followed, and nothing
    /// needs to be there yet. `apart` where that cannot be told.
    func place(of path: String, seenFrom directory: any Directory) -> DirectoryPlace
    /// Nanoseconds since 1970: what a database writes of the time. Tests repeat it.
    func now() -> Int64
    /// A number like no other, for a new database; never 0. Tests repeat it.
    func makeIdentity() -> UInt64
}

extension FileSystem {
    package func place(of path: String, seenFrom directory: any Directory) -> DirectoryPlace {
        .apart
    }

    package func now() -> Int64 { SystemClock.now() }
    package func makeIdentity() -> UInt64 { .random(in: 1...UInt64.max) }
}

/// The clock of the system.
package enum SystemClock {
    /// Nanoseconds since 1970.
    package static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// An open directory; files are named relative to it and never through symbolic links.
package protocol Directory: AnyObject, Sendable {
    var path: String { get }
    /// Names of everything in it except `.` and `..`.
    func list() throws(FileError) -> [String]
    /// A new file for reading and writing; fails where the name exists.
    func create(_ name: String) throws(FileError) -> any File
    /// An existing regular file.
    func open(_ name: String, writable: Bool) throws(FileError) -> any File
    /// Whether a name still stands for a file that was opened by it, and nobody has written to that
    /// since. False where that cannot be told.
    func isUnchanged(_ name: String, since file: any File) -> Bool
    /// Whether a name still stands for a file that was opened by it, whatever was written to it.
    func isNamed(_ name: String, _ file: any File) -> Bool
    /// A directory inside this one; with `create` made where it is missing.
    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory
    func rename(_ source: String, to target: String) throws(FileError)
    func remove(_ name: String) throws(FileError)
    /// Removes an empty directory.
    func removeDirectory(_ name: String) throws(FileError)
    /// Makes created, renamed and removed names durable.
    func sync() throws(FileError)
    /// Takes the lock of a file that stays there for good; nil where somebody holds it.
    func lock(_ name: String) throws(FileError) -> (any File)?
}

extension Directory {
    package func isUnchanged(_ name: String, since file: any File) -> Bool { false }
    package func isNamed(_ name: String, _ file: any File) -> Bool { true }

    /// Removes a directory with all that is in it. The names are durable once this one is synced.
    ///
    /// - Returns: how many files there were.
    package func removeTree(_ name: String) throws(FileError) -> Int {
        let folder = try openDirectory(name, create: false)
        var count = 0
        for entry in try folder.list() {
            do throws(FileError) {
                try folder.remove(entry)
                count += 1
            } catch {
                // What it says of a directory, on Linux and elsewhere.
                guard error.code == EISDIR || error.code == EPERM else { throw error }
                count += try folder.removeTree(entry)
            }
        }
        try folder.sync()
        try removeDirectory(name)
        return count
    }
}

/// An open file. Closed when the last reference goes.
package protocol File: AnyObject, Sendable {
    var path: String { get }
    func size() throws(FileError) -> Int
    /// Reads at most as many bytes as the buffer holds; 0 at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int
    /// Writes at least one byte, perhaps not all; returns how many.
    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int
    /// Reserves space so that writes below `size` need no new blocks. May do nothing.
    func allocate(size: Int) throws(FileError)
    func truncate(to size: Int) throws(FileError)
    /// fdatasync: data, and what is needed to read it back.
    func syncData() throws(FileError)
    /// The bytes of the file, `size` of them, for reading.
    func map(size: Int) throws(FileError) -> FileMapping
}

/// Bytes of a file in memory; unmapped when the last reference goes.
@safe package final class FileMapping: @unchecked Sendable {
    // Unchecked: the bytes are never written after init.
    package let bytes: UnsafeRawBufferPointer
    private let release: @Sendable (UnsafeRawBufferPointer) -> Void
    /// For each chunk whether its pages were read once without trouble.
    private let isRead: UnsafeMutablePointer<Atomic<Bool>>
    private let chunkCount: Int
    /// Read at a time: about what the system reads ahead.
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

    /// Whether pages can be read. The first look at each chunk has the system read it: where the
    /// file was made shorter, or its device fails, that is an error here and not a signal that ends
    /// the process. What happens to the file after that look is not seen.
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

    /// MADV_POPULATE_READ; systems before Linux 5.14 refuse it, which is ignored.
    private static let populateRead: Int32 = 22

    package var count: Int { unsafe bytes.count }
}

extension File {
    /// Writes everything, however many calls it takes.
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

    /// Reads up to `count` bytes into the beginning of memory that is used again.
    ///
    /// - Returns: how many there are; fewer than asked for only at the end of the file.
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

    /// Fills a buffer, however many calls it takes; returns how many bytes there were.
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
