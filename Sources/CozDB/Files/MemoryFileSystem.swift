// Files in the memory of this process, for databases that nobody needs later.

internal import CozPlatform

/// A file system for one database in memory. It has one directory, whatever path is opened.
struct MemoryFileSystem: FileSystem {
    private let root = MemoryDirectory("memory")

    func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory {
        root
    }
}

private final class MemoryDirectory: Directory {
    private enum Entry {
        case file(MemoryFile)
        case directory(MemoryDirectory)
    }

    let path: String
    private let entries = Monitor<[String: Entry]>([:])

    init(_ path: String) {
        self.path = path
    }

    private func error(_ call: String, _ name: String, _ code: Int32) -> FileError {
        FileError(code: code, call: call, path: "\(path)/\(name)")
    }

    func list() throws(FileError) -> [String] {
        entries.withLock { Array($0.keys) }
    }

    func create(_ name: String) throws(FileError) -> any File {
        let file = MemoryFile("\(path)/\(name)")
        let isNew = entries.withLock { entries in
            if entries[name] != nil { return false }
            entries[name] = .file(file)
            return true
        }
        guard isNew else { throw error("open", name, EEXIST) }
        return file
    }

    func open(_ name: String, writable: Bool) throws(FileError) -> any File {
        switch entries.withLock({ $0[name] }) {
        case .file(let file): return file
        case .directory: throw error("open", name, FileError.notRegular)
        case nil: throw error("open", name, ENOENT)
        }
    }

    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
        let entry = entries.withLock { entries in
            if entries[name] == nil, create {
                entries[name] = .directory(MemoryDirectory("\(path)/\(name)"))
            }
            return entries[name]
        }
        switch entry {
        case .directory(let directory): return directory
        case .file: throw error("open", name, FileError.notDirectory)
        case nil: throw error("open", name, ENOENT)
        }
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        let isFound = entries.withLock { entries in
            guard let entry = entries.removeValue(forKey: source) else { return false }
            entries[target] = entry
            return true
        }
        guard isFound else { throw error("rename", source, ENOENT) }
    }

    func remove(_ name: String) throws(FileError) {
        let code = entries.withLock { entries in
            switch entries[name] {
            case .file:
                entries[name] = nil
                return Int32(0)
            case .directory: return EISDIR
            case nil: return ENOENT
            }
        }
        if code != 0 { throw error("unlink", name, code) }
    }

    func removeDirectory(_ name: String) throws(FileError) {
        let code = try entries.withLock { entries throws(FileError) in
            switch entries[name] {
            case .directory(let directory):
                if try !directory.list().isEmpty { return ENOTEMPTY }
                entries[name] = nil
                return Int32(0)
            case .file: return ENOTDIR
            case nil: return ENOENT
            }
        }
        if code != 0 { throw error("rmdir", name, code) }
    }

    func sync() throws(FileError) {}

    /// Nobody else can open this directory.
    func lock(_ name: String) throws(FileError) -> (any File)? {
        try entries.withLock { $0[name] == nil } ? create(name) : open(name, writable: true)
    }
}

private final class MemoryFile: File {
    /// Bytes that grow by moving, so that mappings of them stay valid.
    @safe private final class Storage: @unchecked Sendable {
        // Unchecked: a mapping sees only bytes that are not written any more.
        let bytes: UnsafeMutableRawBufferPointer

        init(capacity: Int) {
            unsafe bytes = .allocate(byteCount: capacity, alignment: 16)
        }

        deinit { unsafe bytes.deallocate() }
    }

    private struct Content {
        var storage = Storage(capacity: 0)
        var count = 0

        /// Grows to at least `capacity`.
        mutating func reserve(_ capacity: Int) {
            let size = unsafe storage.bytes.count
            guard capacity > size else { return }
            let grown = Storage(capacity: max(capacity, 2 * size, 4096))
            unsafe grown.bytes.copyMemory(
                from: UnsafeRawBufferPointer(rebasing: storage.bytes[..<count]))
            storage = grown
        }

        /// Sets the size. New bytes are zero.
        mutating func resize(_ size: Int) {
            reserve(size)
            if size > count {
                unsafe storage.bytes[count..<size].withMemoryRebound(to: UInt8.self) {
                    unsafe $0.update(repeating: 0)
                }
            }
            count = size
        }
    }

    let path: String
    private let content = Monitor(Content())

    init(_ path: String) {
        self.path = path
    }

    func size() throws(FileError) -> Int {
        content.withLock { $0.count }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        content.withLock { content in
            let count = min(buffer.count, max(0, content.count - offset))
            if count > 0 {
                let source = unsafe content.storage.bytes[offset..<(offset + count)]
                unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
            }
            return count
        }
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        content.withLock { content in
            let end = offset + buffer.count
            if end > content.count { content.resize(end) }
            let target = unsafe content.storage.bytes[offset..<end]
            unsafe UnsafeMutableRawBufferPointer(rebasing: target).copyMemory(from: buffer)
        }
        return buffer.count
    }

    func allocate(size: Int) throws(FileError) {}

    func truncate(to size: Int) throws(FileError) {
        content.withLock { $0.resize(size) }
    }

    func syncData() throws(FileError) {}

    func map(size: Int) throws(FileError) -> FileMapping {
        let (storage, count) = content.withLock { ($0.storage, $0.count) }
        guard size <= count else { throw FileError(code: EINVAL, call: "mmap", path: path) }
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: storage.bytes[..<size])
        return unsafe FileMapping(bytes) { _ in withExtendedLifetime(storage) {} }
    }
}
