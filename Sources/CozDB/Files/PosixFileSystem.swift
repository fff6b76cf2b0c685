// The POSIX implementation of FileSystem. It opens files relative to directory descriptors, follows
// no symbolic links, and sets modes regardless of the umask.

internal import CozKernels
internal import CozPlatform
internal import Synchronization

package struct PosixFileSystem: FileSystem {
    package init() {}

    package func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory {
        let mode: mode_t = access == .ownerOnly ? 0o700 : 0o750
        // System calls would take the path for the part before the zero byte.
        guard !path.utf8.contains(0) else {
            throw FileError(code: EINVAL, call: "open", path: path)
        }
        if create {
            if uninterrupted({ unsafe mkdir(path, mode) }) == 0 {
                try PosixFileSystem.setMode(of: path, in: AT_FDCWD, path: path, mode)
            } else if errno != EEXIST {
                throw FileError(code: errno, call: "mkdir", path: path)
            }
            // Also if it exists: its creator may have crashed before the sync.
            try PosixFileSystem.syncParent(of: path)
        }
        let descriptor = uninterrupted {
            unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw FileError(code: errno, call: "open", path: path) }
        let directory = Descriptor(descriptor, path: path)
        return PosixDirectory(directory, access: PosixFileSystem.access(of: directory, access))
    }

    /// A group-readable database stays so, whoever writes to it next.
    private static func access(
        of directory: Descriptor, _ access: DatabaseOptions.FileAccess
    ) -> DatabaseOptions.FileAccess {
        var status = stat()
        let result = unsafe fstatat(
            directory.number, FileName.manifest.text, &status, AT_SYMLINK_NOFOLLOW)
        return result == 0 && status.st_mode & S_IRGRP != 0 ? .groupReadable : access
    }

    /// Sets a mode from which the umask may have removed bits. Keeps the set-group-ID bit inherited
    /// from the parent directory.
    fileprivate static func setMode(
        of name: String, in directory: Int32, path: String, _ mode: mode_t
    ) throws(FileError) {
        var status = stat()
        guard unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw FileError(code: errno, call: "fstatat", path: path)
        }
        guard unsafe fchmodat(directory, name, mode | (status.st_mode & S_ISGID), 0) == 0 else {
            throw FileError(code: errno, call: "fchmodat", path: path)
        }
    }

    package func relation(of path: String, to directory: any Directory) -> DirectoryRelation {
        guard let directory = directory as? PosixDirectory else { return .apart }
        var (path, isThere) = (path, true)
        var number = PosixFileSystem.openForInspection(path)
        while number < 0, errno == ENOENT, path != PosixFileSystem.parent(of: path) {
            (path, isThere) = (PosixFileSystem.parent(of: path), false)
            number = PosixFileSystem.openForInspection(path)
        }
        guard number >= 0 else { return .apart }
        let other = PosixFileSystem.ancestry(of: Descriptor(number, path: path))
        let own = PosixFileSystem.ancestry(of: directory.descriptor)
        guard let itself = own.first else { return .apart }
        if isThere, other.first == itself { return .same }
        if other.contains(itself) { return .inside }
        return isThere && other.first.map(own.contains) == true ? .around : .apart
    }

    private static func openForInspection(_ path: String) -> Int32 {
        uninterrupted { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Returns a directory and its ancestors up to the root, as far as permissions allow.
    private static func ancestry(of descriptor: Descriptor) -> [DirectoryIdentity] {
        var found: [DirectoryIdentity] = []
        var current = descriptor
        while true {
            var status = stat()
            let next = withExtendedLifetime(current) { () -> Int32 in
                guard unsafe fstat(current.number, &status) == 0 else { return -1 }
                return uninterrupted {
                    unsafe openat(current.number, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                }
            }
            let parent = next < 0 ? nil : Descriptor(next, path: "")
            let identity = DirectoryIdentity(
                device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(status.st_ino))
            // The root is its own parent.
            if found.last == identity { return found }
            if identity.number != 0 { found.append(identity) }
            guard let parent else { return found }
            current = parent
        }
    }

    private struct DirectoryIdentity: Equatable {
        var device: UInt64
        var number: UInt64
    }

    private static func parent(of path: String) -> String {
        var names = path.parts(separatedBy: "/")
        while names.count > 1, names.last == "" { names.removeLast() }
        if names.count == 1 { return names[0].isEmpty ? "/" : "." }
        let parent = names.dropLast().joined(separator: "/")
        return parent.isEmpty ? "/" : parent
    }

    private static func syncParent(of path: String) throws(FileError) {
        let parent = parent(of: path)
        let descriptor = uninterrupted {
            unsafe Glibc.open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        if descriptor < 0, errno == EACCES { return }
        guard descriptor >= 0 else { throw FileError(code: errno, call: "open", path: parent) }
        let directory = Descriptor(descriptor, path: parent)
        try directory.check("fsync", coz_sync_directory(directory.number))
    }
}

/// Retries a call that returns -1 while a signal interrupts it.
private func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 || errno != EINTR { return result }
    }
}

/// A file descriptor, closed exactly once.
private final class Descriptor: Sendable {
    let number: Int32
    let path: String

    init(_ number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    deinit { _ = close(number) }

    /// Runs a call that returns 0 or -1. Retries if a signal interrupts it.
    func check(_ call: String, _ body: @autoclosure () -> Int32) throws(FileError) {
        while body() != 0 {
            guard errno == EINTR else { throw FileError(code: errno, call: call, path: path) }
        }
    }
}

private final class PosixDirectory: Directory {
    fileprivate let descriptor: Descriptor
    private let access: DatabaseOptions.FileAccess

    init(_ descriptor: Descriptor, access: DatabaseOptions.FileAccess) {
        self.descriptor = descriptor
        self.access = access
    }

    var path: String { descriptor.path }

    private func path(of name: String) -> String { path + "/" + name }

    func list() throws(FileError) -> [String] {
        // fdopendir takes ownership of the descriptor, so it gets a new one.
        let copy = uninterrupted {
            unsafe openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        }
        guard copy >= 0, let stream = unsafe fdopendir(copy) else {
            throw FileError(code: errno, call: "opendir", path: path)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            // Reset before each call: code that handled the previous entry may have set it.
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileError(code: errno, call: "readdir", path: path) }
        return names.sorted()
    }

    func create(_ name: String) throws(FileError) -> any File {
        let mode: mode_t =
            access == .ownerOnly || name == FileName.lock.text ? PosixDirectory.privateMode : 0o640
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = uninterrupted { unsafe openat(descriptor.number, name, flags, mode) }
        guard number >= 0 else { throw FileError(code: errno, call: "open", path: path(of: name)) }
        let file = Descriptor(number, path: path(of: name))
        try file.check("fchmod", fchmod(number, mode))
        return PosixFile(file)
    }

    func open(_ name: String, writable: Bool) throws(FileError) -> any File {
        // O_NONBLOCK: a FIFO in place of a file must not block the open.
        let flags = (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        let number = uninterrupted { unsafe openat(descriptor.number, name, flags) }
        guard number >= 0 else { throw FileError(code: errno, call: "open", path: path(of: name)) }
        let file = Descriptor(number, path: path(of: name))
        var status = stat()
        try file.check("fstat", unsafe fstat(number, &status))
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw FileError(code: FileError.notRegular, call: "open", path: file.path)
        }
        return PosixFile(file, FileIdentity(status))
    }

    func isUnchanged(_ name: String, since file: any File) -> Bool {
        // The inode number cannot be reused while the file is open.
        guard let identity = (file as? PosixFile)?.identity else { return false }
        var status = stat()
        let result = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        return result == 0 && FileIdentity(status) == identity
    }

    func isNamed(_ name: String, _ file: any File) -> Bool {
        guard let file = file as? PosixFile else { return false }
        return (try? file.isNamed(name, in: descriptor)) ?? false
    }

    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
        if create {
            let mode: mode_t = access == .ownerOnly ? 0o700 : 0o750
            if uninterrupted({ unsafe mkdirat(descriptor.number, name, mode) }) == 0 {
                try PosixFileSystem.setMode(
                    of: name, in: descriptor.number, path: path(of: name), mode)
                try sync()
            } else if errno != EEXIST {
                throw FileError(code: errno, call: "mkdir", path: path(of: name))
            }
        }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let number = uninterrupted { unsafe openat(descriptor.number, name, flags) }
        guard number >= 0 else {
            let code = errno == ENOTDIR || errno == ELOOP ? FileError.notDirectory : errno
            throw FileError(code: code, call: "open", path: path(of: name))
        }
        return PosixDirectory(Descriptor(number, path: path(of: name)), access: access)
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        let result = uninterrupted {
            unsafe renameat(descriptor.number, source, descriptor.number, target)
        }
        guard result == 0 else {
            throw FileError(code: errno, call: "rename", path: path(of: source))
        }
    }

    func remove(_ name: String) throws(FileError) {
        guard uninterrupted({ unsafe unlinkat(descriptor.number, name, 0) }) == 0 else {
            throw FileError(code: errno, call: "unlink", path: path(of: name))
        }
    }

    func removeDirectory(_ name: String) throws(FileError) {
        guard uninterrupted({ unsafe unlinkat(descriptor.number, name, AT_REMOVEDIR) }) == 0 else {
            throw FileError(code: errno, call: "rmdir", path: path(of: name))
        }
    }

    func sync() throws(FileError) {
        try descriptor.check("fsync", coz_sync_directory(descriptor.number))
    }

    /// The mode of LOCK, even in a group-readable database: any process that can open the file can
    /// take its lock and keep the writer out.
    fileprivate static var privateMode: mode_t { 0o600 }

    func lock(_ name: String) throws(FileError) -> (any File)? {
        do throws(FileError) {
            _ = try create(name)
            try sync()
        } catch {
            guard error.alreadyExists else { throw error }
        }
        while true {
            guard let file = try open(name, writable: true) as? PosixFile else { return nil }
            guard try file.lock() else { return nil }
            // If the name now refers to another file, retry with that one.
            guard try file.isNamed(name, in: descriptor) else { continue }
            if name == FileName.lock.text { file.makePrivate() }
            return file
        }
    }
}

/// Identifies a file and its version.
private struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64
    private let sizeBytes: Int64
    private let changed: Int64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(status.st_ino)
        sizeBytes = Int64(status.st_size)
        var status = status
        changed = unsafe coz_modification_time(&status)
    }
}

private final class PosixFile: File {
    private let descriptor: Descriptor
    /// When it was opened; nil for a file that was created.
    fileprivate let identity: FileIdentity?
    /// The process that holds the lock through this file; 0 if none does.
    private let lockHolder = Atomic<pid_t>(0)

    init(_ descriptor: Descriptor, _ identity: FileIdentity? = nil) {
        self.descriptor = descriptor
        self.identity = identity
    }

    var path: String { descriptor.path }

    func size() throws(FileError) -> Int {
        var status = stat()
        try descriptor.check("fstat", unsafe fstat(descriptor.number, &status))
        return Int(status.st_size)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        let got = unsafe pread(descriptor.number, buffer.baseAddress, buffer.count, offset)
        guard got >= 0 else { throw FileError(code: errno, call: "pread", path: path) }
        return got
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        let put = withFileSizeSignalBlocked {
            unsafe pwrite(descriptor.number, buffer.baseAddress, buffer.count, offset)
        }
        // A write of zero bytes would loop forever in `writeAll`. No file system should do it.
        guard put > 0 else {
            throw FileError(code: put == 0 ? ENOSPC : errno, call: "pwrite", path: path)
        }
        return put
    }

    func allocate(size: Int) throws(FileError) {
        var code = EINTR
        while code == EINTR { code = coz_allocate(descriptor.number, Int64(size)) }
        // Not every file system supports it. Writes then allocate as they go.
        guard code == 0 || code == EOPNOTSUPP || code == EINVAL else {
            throw FileError(code: code, call: "posix_fallocate", path: path)
        }
    }

    func truncate(to size: Int) throws(FileError) {
        let result = withFileSizeSignalBlocked {
            Int(uninterrupted { ftruncate(descriptor.number, size) })
        }
        guard result == 0 else { throw FileError(code: errno, call: "ftruncate", path: path) }
    }

    func syncData() throws(FileError) {
        try descriptor.check("fdatasync", coz_sync_data(descriptor.number))
    }

    func map(size: Int) throws(FileError) -> FileMapping {
        guard size > 0 else {
            return unsafe FileMapping(UnsafeRawBufferPointer(start: nil, count: 0)) { _ in }
        }
        if size <= PosixFile.copiedSizeBytesMax, let copy = copy(size: size) { return copy }
        let address = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor.number, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw FileError(code: errno, call: "mmap", path: path)
        }
        return unsafe FileMapping(UnsafeRawBufferPointer(start: address, count: size)) { bytes in
            unsafe munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        }
    }

    /// Files up to this size are read into memory. Databases can have more small files than the
    /// kernel lets a process map.
    private static let copiedSizeBytesMax = 16 << 10

    /// Reads the file into memory. Returns nil if that fails: a mapping reports it where the bytes
    /// are needed.
    private func copy(size: Int) -> FileMapping? {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        var done = 0
        while done < size {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: copy[done...])
            let count = (try? unsafe read(into: rest, at: done)) ?? 0
            if count == 0 {
                unsafe copy.deallocate()
                return nil
            }
            done += count
        }
        return unsafe FileMapping(UnsafeRawBufferPointer(copy)) { bytes in
            unsafe bytes.deallocate()
        }
    }

    func isNamed(_ name: String, in directory: Descriptor) throws(FileError) -> Bool {
        var (own, named) = (stat(), stat())
        try descriptor.check("fstat", unsafe fstat(descriptor.number, &own))
        let result = unsafe fstatat(directory.number, name, &named, AT_SYMLINK_NOFOLLOW)
        return result == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    /// Removes access by group and others, which `chmod -R g+r` may have granted. Only the owner
    /// can do so; otherwise nothing happens.
    func makePrivate() {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0,
            status.st_mode & 0o777 & ~PosixDirectory.privateMode != 0
        else { return }
        _ = fchmod(descriptor.number, PosixDirectory.privateMode)
    }

    deinit {
        // A forked child also has the file open, so closing would not release the lock. The child
        // must not release it.
        if lockHolder.load(ordering: .relaxed) == getpid() { flock(descriptor.number, LOCK_UN) }
    }

    func lock() throws(FileError) -> Bool {
        if uninterrupted({ flock(descriptor.number, LOCK_EX | LOCK_NB) }) == 0 {
            lockHolder.store(getpid(), ordering: .relaxed)
            return true
        }
        guard errno == EWOULDBLOCK else {
            throw FileError(code: errno, call: "flock", path: path)
        }
        return false
    }
}

/// Runs a write with SIGXFSZ blocked in this thread, so that exceeding the file size limit fails
/// the write and does not kill the process. The host's signal handling is not changed.
private func withFileSizeSignalBlocked(_ write: () -> Int) -> Int {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGXFSZ)
    var before = sigset_t()
    guard unsafe pthread_sigmask(SIG_BLOCK, &signals, &before) == 0 else { return write() }
    let result = write()
    let code = errno
    if result < 0, code == EFBIG {
        // Consume the signal that was sent to this thread, before it is unblocked.
        coz_take_signal(SIGXFSZ)
    }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return result
}
