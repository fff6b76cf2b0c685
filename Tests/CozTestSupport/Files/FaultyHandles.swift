// Open directories and files of a file system in memory: each call of the protocols as the calls
// that the operating system gets, in their order.

internal import CozDB
internal import Foundation

final class FaultyDirectory: Directory, Sendable {
    private let system: FaultyFileSystem
    private let number: Int
    let path: String

    init(_ system: FaultyFileSystem, _ number: Int, path: String) {
        self.system = system
        self.number = number
        self.path = path
    }

    private func path(of name: String) -> String { path.isEmpty ? name : path + "/" + name }

    private func error(_ call: String, _ name: String, _ code: Int32) -> FileError {
        FileError(code: code, call: call, path: path(of: name))
    }

    private func entry(_ name: String, _ tree: FileTree) -> Int? {
        tree.directories[number]?.entries[name]
    }

    func list() throws(FileError) -> [String] {
        try system.call("readdir", path) { tree, _ in
            (tree.directories[number]?.entries.keys).map { $0.sorted() } ?? []
        }
    }

    func create(_ name: String) throws(FileError) -> any File {
        try system.call("create", path(of: name), takesSpace: true) { tree, _ throws(FileError) in
            guard entry(name, tree) == nil else { throw error("create", name, EEXIST) }
            let file = tree.makeFile()
            tree.apply(.link(name, file), in: number)
            return FaultyFile(system, file, path: path(of: name))
        }
    }

    func open(_ name: String, writable: Bool) throws(FileError) -> any File {
        try system.call("open", path(of: name)) { tree, _ throws(FileError) in
            guard let found = entry(name, tree) else { throw error("open", name, ENOENT) }
            guard let file = tree.files[found] else {
                throw error("open", name, FileError.notRegular)
            }
            return FaultyFile(system, found, path: path(of: name), version: file.version)
        }
    }

    func isUnchanged(_ name: String, since file: any File) -> Bool {
        let version = try? system.call("fstatat", path(of: name)) { tree, _ in
            entry(name, tree).flatMap { found in
                tree.files[found].map { (number: found, version: $0.version) }
            }
        }
        guard let version, let file = file as? FaultyFile else { return false }
        return file.isUnchanged(version.number, version.version)
    }

    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
        try openDirectory(name, create: create, syncsAlways: false)
    }

    /// - Parameter syncsAlways: also where the directory is there already.
    func openDirectory(
        _ name: String, create: Bool, syncsAlways: Bool
    ) throws(FileError) -> any Directory {
        if create {
            let isNew = try system.call("mkdir", path(of: name), takesSpace: true) { tree, _ in
                guard entry(name, tree) == nil else { return false }
                let directory = tree.makeDirectory()
                tree.apply(.link(name, directory), in: number)
                return true
            }
            if isNew || syncsAlways { try sync() }
        }
        return try system.call("opendir", path(of: name)) { tree, _ throws(FileError) in
            guard let found = entry(name, tree) else { throw error("opendir", name, ENOENT) }
            guard tree.directories[found] != nil else {
                throw error("opendir", name, syncsAlways ? ENOTDIR : FileError.notDirectory)
            }
            return FaultyDirectory(system, found, path: path(of: name))
        }
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        try system.call("rename", path(of: source), takesSpace: true) { tree, _ throws(FileError) in
            guard let file = entry(source, tree) else { throw error("rename", source, ENOENT) }
            tree.apply(.rename(source, target, file), in: number)
        }
    }

    func remove(_ name: String) throws(FileError) {
        try system.call("unlink", path(of: name)) { tree, _ throws(FileError) in
            guard let found = entry(name, tree) else { throw error("unlink", name, ENOENT) }
            guard tree.files[found] != nil else { throw error("unlink", name, EISDIR) }
            tree.apply(.unlink(name), in: number)
            system.endShortage()
        }
    }

    func removeDirectory(_ name: String) throws(FileError) {
        try system.call("rmdir", path(of: name)) { tree, _ throws(FileError) in
            guard let found = entry(name, tree) else { throw error("rmdir", name, ENOENT) }
            guard let directory = tree.directories[found] else {
                throw error("rmdir", name, ENOTDIR)
            }
            guard directory.entries.isEmpty else { throw error("rmdir", name, ENOTEMPTY) }
            tree.apply(.unlink(name), in: number)
        }
    }

    func sync() throws(FileError) {
        try system.call(
            "fsync", path, takesSpace: true,
            remains: { tree, remains, _ in
                // Journaling file systems try again, or end all writing; a test may ask for more. A
                // directory without a name nobody could save: there is nothing in it yet.
                guard case .reverted = remains else { return }
                let directories = Set(tree.directories.keys)
                tree.directories[number]?.forget { directories.contains($0) }
            }
        ) { tree, _ in tree.directories[number]?.sync() }
    }

    func lock(_ name: String) throws(FileError) -> (any File)? {
        do throws(FileError) {
            _ = try create(name)
            try sync()
        } catch {
            guard error.alreadyExists else { throw error }
        }
        _ = try open(name, writable: true)
        return try system.call("flock", path(of: name)) { tree, _ in
            guard let found = entry(name, tree), tree.files[found]?.isLocked == false else {
                return nil
            }
            tree.files[found]?.isLocked = true
            return FaultyFile(system, found, path: path(of: name), isLock: true)
        }
    }
}

final class FaultyFile: File, Sendable {
    private let system: FaultyFileSystem
    private let number: Int
    private let isLock: Bool
    /// As it was when the file was opened by its name; nil for one that was made.
    private let version: Int?
    let path: String

    init(
        _ system: FaultyFileSystem, _ number: Int, path: String, isLock: Bool = false,
        version: Int? = nil
    ) {
        self.system = system
        self.number = number
        self.path = path
        self.isLock = isLock
        self.version = version
    }

    deinit {
        // Closing makes nothing durable.
        if isLock { system.unlock(number) }
    }

    func isUnchanged(_ number: Int, _ version: Int) -> Bool {
        self.number == number && self.version == version
    }

    private func content(_ tree: FileTree) -> FileBytes {
        tree.files[number]?.content ?? FileBytes()
    }

    func size() throws(FileError) -> Int {
        try system.call("fstat", path) { tree, _ in content(tree).count }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        try system.call("pread", path) { tree, isShort throws(FileError) in
            let content = content(tree)
            var count = max(0, min(buffer.count, content.count - offset))
            if isShort { count = (count + 1) / 2 }
            guard count > 0 else { return 0 }
            if let bad = tree.files[number]?.unreadable, bad.overlaps(offset..<(offset + count)) {
                count = bad.lowerBound - offset
                guard count > 0 else { throw FileError(code: EIO, call: "pread", path: path) }
            }
            unsafe content.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            system.noteRead(count)
            return count
        }
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        func write(_ count: Int, _ tree: inout FileTree) -> Int {
            let part = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
            let order = tree.nextOrder()
            unsafe tree.files[number]?.write(part, at: offset, order: order)
            return count
        }
        let half = (buffer.count + 1) / 2
        return try system.call(
            "pwrite", path, takesSpace: true,
            remains: { tree, remains, call in
                switch remains {
                case .killed(let tear):
                    _ = write(tear.size(buffer.count, at: offset, call: call), &tree)
                case .failed: _ = write(half, &tree)
                case .reverted: break
                }
            }
        ) { tree, isShort in write(isShort ? half : buffer.count, &tree) }
    }

    func allocate(size: Int) throws(FileError) {
        try system.call("posix_fallocate", path, takesSpace: true) { tree, _ in
            if content(tree).count < size { resize(to: size, &tree) }
        }
    }

    func truncate(to size: Int) throws(FileError) {
        try system.call("ftruncate", path) { tree, _ in
            if size < content(tree).count { system.endShortage() }
            resize(to: size, &tree)
        }
    }

    private func resize(to size: Int, _ tree: inout FileTree) {
        let order = tree.nextOrder()
        tree.files[number]?.resize(to: size, order: order)
    }

    func syncData() throws(FileError) {
        try system.call(
            "fdatasync", path, takesSpace: true,
            remains: { tree, remains, _ in
                switch remains {
                case .killed: break
                case .failed: tree.files[number]?.forget(isReverted: false)
                case .reverted: tree.files[number]?.forget(isReverted: true)
                }
            }
        ) { tree, _ in tree.files[number]?.sync() }
    }

    func map(size: Int) throws(FileError) -> FileMapping {
        try system.call("mmap", path) { tree, _ throws(FileError) in
            guard tree.files[number]?.unreadable == nil else {
                throw FileError(code: EIO, call: "mmap", path: path)
            }
            let content = content(tree)
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
            unsafe content.read(
                into: UnsafeMutableRawBufferPointer(
                    rebasing: memory[..<min(size, content.count)]), at: 0)
            return unsafe FileMapping(UnsafeRawBufferPointer(memory)) { bytes in
                unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.deallocate()
            }
        }
    }
}
