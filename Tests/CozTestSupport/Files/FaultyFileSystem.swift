// A file system in memory that fails, crashes and loses power when a test tells it to.
//
// FileTree keeps what is durable apart from what programs see, PowerLoss.swift says what is left of
// the difference, Fault.swift what goes wrong. Every call is numbered.

package import CozDB
internal import Foundation

/// Files in memory, with faults at numbered calls.
///
/// A crash or a fault leaves the tree as it is; `survivor` hands it to a new file system, as the
/// next process finds it.
@safe package final class FaultyFileSystem: FileSystem, @unchecked Sendable {
    // Unchecked: everything below is only touched inside `locked`.
    private let lock = NSRecursiveLock()
    private var tree: FileTree
    private var faults: [Fault]
    private var count = 0
    private var isDown = false
    private var readSizeBytes = 0
    private var names: [(call: String, path: String)] = []
    /// What was there before each call, where that is wanted.
    private var states: [FileTree]?

    /// Tells databases from each other that are made by the same calls.
    private let seed: UInt64

    package init(faults: [Fault] = [], seed: UInt64 = 0) {
        tree = FileTree()
        self.faults = faults
        self.seed = seed
    }

    private init(tree: FileTree, faults: [Fault]) {
        self.tree = tree
        self.faults = faults
        seed = 0
    }

    /// Calls so far.
    package var callCount: Int { locked { count } }

    /// Bytes that calls have read so far, without those of mappings.
    package var readByteCount: Int { locked { readSizeBytes } }

    /// What the calls were, for messages.
    package var calls: [String] { locked { names.map { $0.call + " " + $0.path } } }

    /// The next process's file system.
    package func survivor(_ loss: Loss, faults: [Fault] = []) -> FaultyFileSystem {
        FaultyFileSystem(tree: locked { self.tree }.survivor(loss), faults: faults)
    }

    /// From now on keeps what is there before each call: one run then shows what all kills leave.
    package func recordStates() {
        locked { states = Array(repeating: tree, count: count) }
    }

    /// What the next process finds where this one ended before a call.
    package func survivor(ofKillBefore call: Int, _ loss: Loss) -> FaultyFileSystem {
        let state = locked { states?[call] ?? tree }
        return FaultyFileSystem(tree: state.survivor(loss), faults: [])
    }

    /// The file system of a run that goes on where a recorded one was before a call, and counts on
    /// from there.
    package func resumed(at call: Int, faults: [Fault]) -> FaultyFileSystem {
        let system = FaultyFileSystem(
            tree: locked { states?[call] ?? tree }, faults: faults)
        system.count = call
        return system
    }

    /// From now on, besides the faults that are set already.
    package func add(_ fault: Fault) {
        locked { faults.append(fault) }
    }

    /// Ends every lack of space.
    package func freeSpace() {
        locked { () -> Void in
            for index in faults.indices { faults[index].isOver = true }
        }
    }

    // MARK: Contents, for tests that damage them

    /// Paths of all files.
    package var files: [String] { locked { tree.list().sorted() } }

    /// The bytes of a file, for reading and for damaging.
    package subscript(path: String) -> [UInt8] {
        get {
            locked { () -> [UInt8] in
                guard let number = tree.file(path) else { return [] }
                return tree.files[number]?.content.bytes ?? []
            }
        }
        set {
            locked { () -> Void in
                guard let number = tree.file(path) else { return }
                tree.files[number]?.replace(newValue)
            }
        }
    }

    /// From now on the device does not give these bytes of a file; writing them cures that,
    /// and so does an empty range.
    package func makeUnreadable(_ path: String, _ range: Range<Int>) {
        locked { () -> Void in
            guard let number = tree.file(path) else { return }
            tree.files[number]?.unreadable = range.isEmpty ? nil : range
        }
    }

    /// Everything that programs see, and what a power loss would leave of it, to tell states apart.
    /// A locked file counts as another: nobody may hold it any more.
    package var fingerprint: Int {
        let tree = locked { self.tree }
        var hasher = Hasher()
        for state in [tree, tree.survivor(.everything)] {
            for path in state.list().sorted() {
                hasher.combine(path)
                let file = state.file(path).flatMap { state.files[$0] }
                hasher.combine(file?.content)
                hasher.combine(file?.isLocked)
            }
        }
        return hasher.finalize()
    }

    /// Adds a file, durably, with the directories it needs.
    package func add(_ path: String, _ bytes: [UInt8]) {
        locked {
            var directory = FileTree.root
            let parts = path.split(separator: "/").map(String.init)
            for part in parts.dropLast() {
                let next = tree.directories[directory]?.entries[part] ?? tree.makeDirectory()
                tree.directories[directory]?.entries[part] = next
                tree.directories[directory]?.durable[part] = next
                directory = next
            }
            let file = tree.makeFile()
            tree.files[file]?.replace(bytes)
            tree.directories[directory]?.entries[parts[parts.count - 1]] = file
            tree.directories[directory]?.durable[parts[parts.count - 1]] = file
        }
    }

    /// Removes a file, durably.
    package func erase(_ path: String) {
        locked {
            let parts = path.split(separator: "/").map(String.init)
            guard let name = parts.last, let parent = tree.entry(parts.dropLast()) else { return }
            tree.directories[parent]?.entries[name] = nil
            tree.directories[parent]?.durable[name] = nil
        }
    }

    // MARK: Calls

    func locked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }

    /// Counts a call, then lets it happen, happen in part, or fail.
    ///
    /// - Parameters:
    ///   - takesSpace: whether it can fail for lack of it.
    ///   - remains: makes what the call leaves behind where it fails or the process ends in it.
    func call<Result>(
        _ name: String, _ path: String, takesSpace: Bool = false,
        remains: (inout FileTree, Remains, _ number: Int) -> Void = { _, _, _ in },
        _ body: (inout FileTree, _ isShort: Bool) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        lock.lock()
        defer { lock.unlock() }
        let number = count
        count += 1
        names.append((name, path))
        states?.append(tree)
        func failure(_ code: Int32) -> FileError { FileError(code: code, call: name, path: path) }
        guard !isDown else { throw failure(EIO) }
        for index in faults.indices {
            switch faults[index].effect(at: number, name: name, takesSpace: takesSpace) {
            case .none: break
            case .short: return try body(&tree, true)
            case .interruption: throw failure(EINTR)
            case .kill(let tear):
                isDown = true
                if tear == .after { _ = try? body(&tree, false) }
                if tear != .after { remains(&tree, .killed(tear), number) }
                throw failure(EIO)
            case .failure(let code, let isReverted):
                remains(&tree, isReverted ? .reverted : .failed, number)
                throw failure(code)
            }
        }
        return try body(&tree, false)
    }

    /// Counts bytes that a call has read.
    func noteRead(_ count: Int) {
        locked { readSizeBytes += count }
    }

    /// The lock goes with its descriptor.
    func unlock(_ number: Int) {
        locked { tree.files[number]?.isLocked = false }
    }

    /// Space became free: whoever waited for that goes on.
    func endShortage() {
        for index in faults.indices {
            if case .space(_, .untilRemoval) = faults[index].kind, faults[index].call < count {
                faults[index].isOver = true
            }
        }
    }

    /// Stands still, so that two runs with one fault leave the same bytes.
    package func now() -> Int64 { 1_700_000_000_000_000_000 }

    package func makeIdentity() -> UInt64 {
        var random = SeededRandom(seed: seed &+ UInt64(callCount))
        return random.next() | 1
    }

    package func openDirectory(
        _ path: String, create: Bool, access: DatabaseOptions.FileAccess
    ) throws(FileError) -> any Directory {
        let parts = path.split(separator: "/").map(String.init)
        let parent: any Directory = FaultyDirectory(self, FileTree.root, path: "")
        guard let name = parts.last else { return parent }
        guard let number = locked({ tree.entry(parts.dropLast()) }) else {
            throw FileError(code: ENOENT, call: "open", path: path)
        }
        let directory = FaultyDirectory(
            self, number, path: parts.dropLast().joined(separator: "/"))
        return try directory.openDirectory(name, create: create, syncsAlways: true)
    }
}
