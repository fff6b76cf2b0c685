// Files in memory, as quick as can be: a fuzzer opens thousands of databases a second.

@testable internal import CozDB
internal import Glibc
internal import Synchronization

/// A file system that forgets everything when it goes. Nothing fails.
final class MemoryFiles: FileSystem {
    private let nodes: Mutex<[String: MemoryFile.Node]>

    /// - Parameter files: by path.
    init(_ files: [String: [UInt8]] = [:]) {
        nodes = Mutex(files.mapValues { MemoryFile.Node($0) })
    }

    /// All files by path.
    var files: [String: [UInt8]] {
        nodes.withLock { $0.mapValues { $0.bytes.withLock { $0 } } }
    }

    func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) -> any Directory {
        MemoryDirectory(self, path)
    }

    func relation(of path: String, to directory: any Directory) -> DirectoryRelation { .apart }

    /// The same in every run, as the corpus has it.
    func now() -> Int64 { 1_700_000_000_000_000_000 }
    func makeIdentity() -> UInt64 { Sample.databaseID }

    fileprivate func node(_ path: String) -> MemoryFile.Node? {
        nodes.withLock { $0[path] }
    }

    fileprivate func set(_ path: String, _ node: MemoryFile.Node?) {
        nodes.withLock { $0[path] = node }
    }

    var paths: [String] { nodes.withLock { Array($0.keys) } }
}

/// A directory is there as soon as somebody asks for it.
final class MemoryDirectory: Directory {
    let path: String
    private let system: MemoryFiles

    init(_ system: MemoryFiles, _ path: String) {
        self.system = system
        self.path = path
    }

    private func path(_ name: String) -> String { path + "/" + name }

    private func file(_ name: String, _ call: String) throws(FileError) -> MemoryFile {
        guard let node = system.node(path(name)) else {
            throw FileError(code: ENOENT, call: call, path: path(name))
        }
        return MemoryFile(path: path(name), node)
    }

    func list() -> [String] {
        var names: Set<String> = []
        for other in system.paths where other.hasPrefix(path + "/") {
            names.insert(String(other.dropFirst(path.count + 1).prefix { $0 != "/" }))
        }
        return names.sorted()
    }

    func create(_ name: String) throws(FileError) -> any File {
        guard system.node(path(name)) == nil else {
            throw FileError(code: EEXIST, call: "create", path: path(name))
        }
        system.set(path(name), MemoryFile.Node([]))
        return try file(name, "create")
    }

    func open(_ name: String, writable: Bool) throws(FileError) -> any File {
        try file(name, "open")
    }

    /// Nobody takes a name away from a file that is open.
    func isNamed(_ name: String, _ file: any File) -> Bool { true }

    func removeDirectory(_ name: String) {}

    func openDirectory(_ name: String, create: Bool) -> any Directory {
        MemoryDirectory(system, path(name))
    }

    func rename(_ source: String, to target: String) throws(FileError) {
        guard let node = system.node(path(source)) else {
            throw FileError(code: ENOENT, call: "rename", path: path(source))
        }
        system.set(path(target), node)
        system.set(path(source), nil)
    }

    func remove(_ name: String) throws(FileError) {
        _ = try file(name, "unlink")
        system.set(path(name), nil)
    }

    func sync() {}

    func lock(_ name: String) throws(FileError) -> (any File)? {
        if system.node(path(name)) == nil { system.set(path(name), MemoryFile.Node([])) }
        return try file(name, "lock")
    }
}

final class MemoryFile: File {
    /// What names stand for; it stays while it is open.
    final class Node: Sendable {
        let bytes: Mutex<[UInt8]>

        init(_ bytes: [UInt8]) {
            self.bytes = Mutex(bytes)
        }
    }

    let path: String
    private let node: Node

    init(path: String, _ node: Node) {
        self.path = path
        self.node = node
    }

    func size() -> Int { node.bytes.withLock { $0.count } }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        let bytes = node.bytes.withLock { $0 }
        guard offset < bytes.count else { return 0 }
        let count = min(buffer.count, bytes.count - offset)
        unsafe bytes.withUnsafeBytes { source in
            let part = unsafe UnsafeRawBufferPointer(rebasing: source[offset..<(offset + count)])
            unsafe buffer.copyMemory(from: part)
        }
        return count
    }

    func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) -> Int {
        let written = unsafe Array(buffer)
        node.bytes.withLock { bytes in
            let end = offset + written.count
            if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: written)
        }
        return written.count
    }

    /// Nothing is reserved: a log would become a megabyte.
    func allocate(size: Int) {}

    func truncate(to size: Int) {
        node.bytes.withLock { bytes in
            let missing = size - bytes.count
            if missing > 0 { bytes += [UInt8](repeating: 0, count: missing) }
            if missing < 0 { bytes.removeLast(-missing) }
        }
    }

    func syncData() {}

    func map(size: Int) -> FileMapping {
        let count = min(size, self.size())
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        _ = unsafe read(into: copy, at: 0)
        return unsafe FileMapping(UnsafeRawBufferPointer(copy)) { unsafe $0.deallocate() }
    }
}
