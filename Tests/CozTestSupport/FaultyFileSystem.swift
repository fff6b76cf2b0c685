// A file system in memory that fails, crashes and loses power when a test tells it to.
//
// It keeps what is durable apart from what programs see: file contents by sectors of 512 bytes,
// names by the operations of each directory since its last sync. Every call is numbered.

package import CozDB
internal import Foundation

/// Files in memory, with faults at numbered calls.
///
/// A crash or a fault leaves the tree as it is; `survivor` hands it to a new file system, as the
/// next process finds it.
@safe package final class FaultyFileSystem: FileSystem, @unchecked Sendable {
    // Unchecked: everything below, and every node, is only touched inside `locked`.
    private let lock = NSRecursiveLock()
    private let root: DirectoryNode
    private var faults: [Fault]
    private var count = 0
    private var isDown = false
    private var names: [String] = []

    /// What goes wrong at a call.
    package struct Fault: Sendable {
        package enum Kind: Sendable {
            /// The process ends in the middle of the call: this and all later calls fail. A write
            /// gets as far as its middle.
            case crash
            /// The call fails; a write gets as far as its middle, a failed sync forgets what it
            /// should have made durable, as Linux does.
            case failure(Int32)
            /// This call and all later ones that take space fail.
            case noSpace
            /// A read or write is interrupted by a signal; other calls go on.
            case interruption
            /// A read or write does less than asked for; other calls go on.
            case short
        }

        package var call: Int
        package var kind: Kind

        /// - Parameter call: number of the call, from 0.
        package init(at call: Int, _ kind: Kind) {
            self.call = call
            self.kind = kind
        }
    }

    /// What is left of unsynced data and names.
    package enum Loss: Sendable {
        /// Only the process ended: everything is left.
        case nothing
        /// Everything unsynced is gone.
        case everything
        /// Unsynced sectors and names are left or gone by chance.
        case random(seed: UInt64)
    }

    package init(faults: [Fault] = []) {
        root = DirectoryNode()
        self.faults = faults
    }

    private init(root: DirectoryNode, faults: [Fault]) {
        self.root = root
        self.faults = faults
    }

    /// Calls so far.
    package var callCount: Int { locked { count } }

    /// What the calls were, for messages.
    package var calls: [String] { locked { names } }

    /// The next process's file system.
    package func survivor(_ loss: Loss, faults: [Fault] = []) -> FaultyFileSystem {
        locked {
            var random = SeededRandom(seed: 0)
            if case .random(let seed) = loss { random = SeededRandom(seed: seed) }
            var copies: [ObjectIdentifier: Node] = [:]
            let copy = root.survivor(loss, &random, &copies)
            return FaultyFileSystem(root: copy, faults: faults)
        }
    }

    /// From now on, besides the faults that are set already.
    package func add(_ fault: Fault) {
        locked { faults.append(fault) }
    }

    // MARK: Contents, for tests that damage them

    /// Paths of all files.
    package var files: [String] {
        locked {
            var found: [String] = []
            root.list(prefix: "", into: &found)
            return found.sorted()
        }
    }

    /// The bytes of a file, for reading and for damaging.
    package subscript(path: String) -> [UInt8] {
        get { locked { root.file(path)?.bytes ?? [] } }
        set {
            locked {
                guard let file = root.file(path) else { return }
                file.bytes = newValue
                file.durable = newValue
            }
        }
    }

    /// Adds a file, durably, with the directories it needs.
    package func add(_ path: String, _ bytes: [UInt8]) {
        locked {
            var directory = root
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                let next = directory.entries[part] as? DirectoryNode ?? DirectoryNode()
                directory.entries[part] = next
                directory.durable[part] = next
                directory = next
            }
            let file = FileNode()
            file.bytes = bytes
            file.durable = bytes
            directory.entries[parts[parts.count - 1]] = file
            directory.durable[parts[parts.count - 1]] = file
        }
    }

    /// Removes a file, durably.
    package func erase(_ path: String) {
        locked {
            let parts = path.split(separator: "/").map(String.init)
            guard let name = parts.last,
                let parent = root.directory(parts.dropLast())
            else { return }
            parent.entries[name] = nil
            parent.durable[name] = nil
        }
    }

    // MARK: Calls

    fileprivate enum Effect {
        case whole
        case part
    }

    fileprivate func locked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Counts a call, then lets it happen, happen in part, or fail.
    ///
    /// - Parameter half: what the call leaves behind where it fails in its middle.
    fileprivate func call<Result>(
        _ name: String, _ path: String, takesSpace: Bool = false, half: () -> Void = {},
        _ body: (Effect) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        lock.lock()
        defer { lock.unlock() }
        let number = count
        count += 1
        names.append("\(name) \(path)")
        func failure(_ code: Int32) -> FileError { FileError(call: name, path: path, code: code) }
        guard !isDown else { throw failure(EIO) }
        for fault in faults {
            switch fault.kind {
            case .noSpace where number >= fault.call && takesSpace:
                half()
                throw failure(ENOSPC)
            case .crash where number == fault.call:
                isDown = true
                half()
                throw failure(EIO)
            case .failure(let code) where number == fault.call:
                half()
                throw failure(code)
            case .interruption where number == fault.call && (name == "pread" || name == "pwrite"):
                throw failure(EINTR)
            case .short where number == fault.call: return try body(.part)
            default: break
            }
        }
        return try body(.whole)
    }

    package func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory {
        let parent = FaultyDirectory(self, root, path: "")
        return try parent.openDirectory(path, create: create)
    }
}

// MARK: The tree

private class Node {
    func survivor(
        _ loss: FaultyFileSystem.Loss, _ random: inout SeededRandom,
        _ copies: inout [ObjectIdentifier: Node]
    ) -> Node { self }
}

private final class FileNode: Node {
    static let sectorSizeBytes = 512

    var bytes: [UInt8] = []
    var durable: [UInt8] = []
    /// Sectors written since the last sync, also a failed one.
    var dirty: Set<Int> = []
    var isLocked = false

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) {
        let end = offset + buffer.count
        if bytes.count < end { grow(to: end) }
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe target[offset..<end].copyBytes(from: buffer)
        }
        guard end > offset else { return }
        for sector in (offset / FileNode.sectorSizeBytes)...((end - 1) / FileNode.sectorSizeBytes) {
            dirty.insert(sector)
        }
    }

    func truncate(to size: Int) {
        if size < bytes.count {
            bytes.removeLast(bytes.count - size)
        } else {
            grow(to: size)
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 1 << 18)

    private func grow(to size: Int) {
        while bytes.count < size {
            bytes.append(contentsOf: FileNode.zeros.prefix(size - bytes.count))
        }
    }

    func sync() {
        if dirty.count * FileNode.sectorSizeBytes >= bytes.count {
            durable = bytes
        } else {
            durable = merged { dirty.contains($0) }
        }
        dirty.removeAll()
    }

    /// What a failed sync leaves: the kernel marks the sectors clean, so no later sync tries again.
    func forget() {
        dirty.removeAll()
    }

    /// The file with some sectors as programs see them, the others as they are durable.
    private func merged(_ isNew: (Int) -> Bool) -> [UInt8] {
        let result = FileNode()
        result.grow(to: bytes.count)
        let size = FileNode.sectorSizeBytes
        for sector in 0..<((bytes.count + size - 1) / size) {
            let source = isNew(sector) ? bytes : durable
            let start = sector * size
            guard start < source.count else { continue }
            let range = start..<min(start + size, source.count, bytes.count)
            result.bytes.replaceSubrange(range, with: source[range])
        }
        return result.bytes
    }

    override func survivor(
        _ loss: FaultyFileSystem.Loss, _ random: inout SeededRandom,
        _ copies: inout [ObjectIdentifier: Node]
    ) -> Node {
        if let known = copies[ObjectIdentifier(self)] { return known }
        let copy = FileNode()
        copies[ObjectIdentifier(self)] = copy
        switch loss {
        case .nothing:
            copy.bytes = bytes
            copy.durable = durable
            copy.dirty = dirty
            return copy
        case .everything:
            copy.bytes = durable
        case .random:
            // Most often each sector by chance; sometimes all or none of them.
            let mode = Int.random(in: 0..<4, using: &random)
            switch mode {
            case 0: copy.bytes = durable
            case 1: copy.bytes = bytes
            default:
                copy.bytes = merged { _ in Bool.random(using: &random) }
                if mode == 2, bytes.count > durable.count {
                    let size = Int.random(in: durable.count...bytes.count, using: &random)
                    copy.bytes.removeLast(copy.bytes.count - size)
                }
            }
        }
        copy.durable = copy.bytes
        return copy
    }
}

private final class DirectoryNode: Node {
    /// A change of names since the last sync.
    enum Change {
        case link(String, Node)
        case rename(String, String, Node)
        case unlink(String)
    }

    var entries: [String: Node] = [:]
    var durable: [String: Node] = [:]
    var changes: [Change] = []

    func apply(_ change: Change) {
        DirectoryNode.apply(change, to: &entries)
        changes.append(change)
    }

    func sync() {
        durable = entries
        changes.removeAll()
    }

    private static func apply(_ change: Change, to entries: inout [String: Node]) {
        switch change {
        case .link(let name, let node): entries[name] = node
        case .unlink(let name): entries[name] = nil
        case .rename(let source, let target, let node):
            entries[source] = nil
            entries[target] = node
        }
    }

    override func survivor(
        _ loss: FaultyFileSystem.Loss, _ random: inout SeededRandom,
        _ copies: inout [ObjectIdentifier: Node]
    ) -> DirectoryNode {
        let copy = DirectoryNode()
        func copied(
            _ entries: [String: Node], _ random: inout SeededRandom
        ) -> [String: Node] {
            var result: [String: Node] = [:]
            for (name, node) in entries.sorted(by: { $0.key < $1.key }) {
                result[name] = node.survivor(loss, &random, &copies)
            }
            return result
        }
        switch loss {
        case .nothing:
            copy.entries = copied(entries, &random)
            copy.durable = copied(durable, &random)
            copy.changes = changes.map { change in
                switch change {
                case .link(let name, let node):
                    .link(name, node.survivor(loss, &random, &copies))
                case .unlink(let name): .unlink(name)
                case .rename(let source, let target, let node):
                    .rename(source, target, node.survivor(loss, &random, &copies))
                }
            }
            return copy
        case .everything:
            copy.entries = copied(durable, &random)
        case .random:
            var left = durable
            for change in changes where Bool.random(using: &random) {
                DirectoryNode.apply(change, to: &left)
            }
            copy.entries = copied(left, &random)
        }
        copy.durable = copy.entries
        return copy
    }

    func directory(_ parts: some Sequence<String>) -> DirectoryNode? {
        var node: DirectoryNode? = self
        for part in parts { node = node?.entries[part] as? DirectoryNode }
        return node
    }

    func file(_ path: String) -> FileNode? {
        let parts = path.split(separator: "/").map(String.init)
        guard let name = parts.last else { return nil }
        return directory(parts.dropLast())?.entries[name] as? FileNode
    }

    func list(prefix: String, into found: inout [String]) {
        for (name, node) in entries {
            if let directory = node as? DirectoryNode {
                directory.list(prefix: prefix + name + "/", into: &found)
            } else {
                found.append(prefix + name)
            }
        }
    }
}

// MARK: Handles

private final class FaultyDirectory: Directory, @unchecked Sendable {
    // Unchecked: nodes are only touched inside `call`, under the file system's lock.
    private let system: FaultyFileSystem
    private let node: DirectoryNode
    let path: String

    init(_ system: FaultyFileSystem, _ node: DirectoryNode, path: String) {
        self.system = system
        self.node = node
        self.path = path
    }

    private func path(of name: String) -> String { path.isEmpty ? name : path + "/" + name }

    private func error(_ call: String, _ name: String, _ code: Int32) -> FileError {
        FileError(call: call, path: path(of: name), code: code)
    }

    func list() throws(FileError) -> [String] {
        try system.call("readdir", path) { _ in node.entries.keys.sorted() }
    }

    func create(_ name: String) throws(FileError) -> any File {
        try system.call("create", path(of: name), takesSpace: true) { _ throws(FileError) in
            guard node.entries[name] == nil else { throw error("create", name, EEXIST) }
            let file = FileNode()
            node.apply(.link(name, file))
            return FaultyFile(system, file, path: path(of: name))
        }
    }

    func open(_ name: String, writable: Bool) throws(FileError) -> any File {
        try system.call("open", path(of: name)) { _ throws(FileError) in
            guard let found = node.entries[name] else { throw error("open", name, ENOENT) }
            guard let file = found as? FileNode else { throw error("open", name, EINVAL) }
            return FaultyFile(system, file, path: path(of: name))
        }
    }

    func openDirectory(_ name: String, create: Bool) throws(FileError) -> any Directory {
        if create {
            try system.call("mkdir", path(of: name), takesSpace: true) { _ in
                if node.entries[name] == nil { node.apply(.link(name, DirectoryNode())) }
            }
            // Also where it was there: whoever made it may have ended before this.
            try sync()
        }
        return try system.call("opendir", path(of: name)) { _ throws(FileError) in
            guard let found = node.entries[name] as? DirectoryNode else {
                throw error("opendir", name, node.entries[name] == nil ? ENOENT : ENOTDIR)
            }
            return FaultyDirectory(system, found, path: path(of: name))
        }
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        try system.call("rename", path(of: source), takesSpace: true) { _ throws(FileError) in
            guard let file = node.entries[source] else { throw error("rename", source, ENOENT) }
            node.apply(.rename(source, target, file))
        }
    }

    func remove(_ name: String) throws(FileError) {
        try system.call("unlink", path(of: name)) { _ throws(FileError) in
            guard node.entries[name] != nil else { throw error("unlink", name, ENOENT) }
            node.apply(.unlink(name))
        }
    }

    func sync() throws(FileError) {
        try system.call("fsync", path) { _ in node.sync() }
    }

    func lock(_ name: String) throws(FileError) -> (any File)? {
        try system.call("flock", path(of: name)) { _ in
            if node.entries[name] == nil { node.apply(.link(name, FileNode())) }
            guard let file = node.entries[name] as? FileNode, !file.isLocked else { return nil }
            file.isLocked = true
            return FaultyFile(system, file, path: path(of: name), isLock: true)
        }
    }
}

private final class FaultyFile: File, @unchecked Sendable {
    // Unchecked: as for the directory.
    private let system: FaultyFileSystem
    private let node: FileNode
    private let isLock: Bool
    let path: String

    init(_ system: FaultyFileSystem, _ node: FileNode, path: String, isLock: Bool = false) {
        self.system = system
        self.node = node
        self.path = path
        self.isLock = isLock
    }

    deinit {
        if isLock { system.locked { node.isLocked = false } }
    }

    func size() throws(FileError) -> Int {
        try system.call("fstat", path) { _ in node.bytes.count }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        try system.call("pread", path) { effect in
            var count = max(0, min(buffer.count, node.bytes.count - offset))
            if effect == .part { count = (count + 1) / 2 }
            guard count > 0 else { return 0 }
            unsafe node.bytes.withUnsafeBytes { source in
                unsafe buffer.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[offset..<(offset + count)]))
            }
            return count
        }
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        let part = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<((buffer.count + 1) / 2)])
        return try system.call(
            "pwrite", path, takesSpace: true, half: { unsafe node.write(part, at: offset) }
        ) { effect in
            unsafe node.write(effect == .part ? part : buffer, at: offset)
            return effect == .part ? part.count : buffer.count
        }
    }

    func allocate(size: Int) throws(FileError) {
        try system.call("posix_fallocate", path, takesSpace: true) { _ in
            if node.bytes.count < size { node.truncate(to: size) }
        }
    }

    func truncate(to size: Int) throws(FileError) {
        try system.call("ftruncate", path) { _ in node.truncate(to: size) }
    }

    func syncData() throws(FileError) {
        try system.call("fdatasync", path, half: { node.forget() }) { _ in node.sync() }
    }

    func map(size: Int) throws(FileError) -> FileMapping {
        try system.call("mmap", path) { _ in
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            unsafe memory.copyBytes(from: node.bytes.prefix(size))
            return unsafe FileMapping(UnsafeRawBufferPointer(memory)) { bytes in
                unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)?.deallocate()
            }
        }
    }
}
