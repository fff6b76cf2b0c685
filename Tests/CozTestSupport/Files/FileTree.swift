// Names and files of a file system in memory: what programs see, what is durable, and what was
// changed since, in the order in which it was.
//
// A sync makes durable what is pending, and nothing else: not the name of a file with its data, not
// what an earlier failed sync forgot. Closing a file does nothing.

/// All files and directories by number; a copy costs nothing until it is changed.
struct FileTree: Sendable {
    static let root = 0

    var files: [Int: FileState] = [:]
    var directories: [Int: DirectoryState] = [FileTree.root: DirectoryState()]
    private var nextNumber = 1
    /// Counts changes of names and of data.
    private(set) var order = 0

    mutating func makeFile() -> Int {
        defer { nextNumber += 1 }
        files[nextNumber] = FileState()
        return nextNumber
    }

    mutating func makeDirectory() -> Int {
        defer { nextNumber += 1 }
        directories[nextNumber] = DirectoryState()
        return nextNumber
    }

    mutating func nextOrder() -> Int {
        defer { order += 1 }
        return order
    }

    /// Changes a directory, for programs.
    mutating func apply(_ change: DirectoryState.Change, in directory: Int) {
        let order = nextOrder()
        directories[directory]?.apply(change, order: order)
    }

    // MARK: Paths

    func entry(_ parts: some Sequence<String>) -> Int? {
        var number = FileTree.root
        for part in parts {
            guard let next = directories[number]?.entries[part] else { return nil }
            number = next
        }
        return number
    }

    /// The number of a file; nil for directories and where there is none.
    func file(_ path: String) -> Int? {
        entry(path.split(separator: "/").map(String.init)).flatMap { files[$0] == nil ? nil : $0 }
    }

    /// Paths of all files below a directory.
    func list(_ directory: Int = FileTree.root, prefix: String = "") -> [String] {
        var found: [String] = []
        for (name, number) in directories[directory]?.entries ?? [:] {
            if files[number] != nil {
                found.append(prefix + name)
            } else {
                found += list(number, prefix: prefix + name + "/")
            }
        }
        return found
    }
}

/// One file.
struct FileState: Sendable {
    enum Change: Sendable {
        /// Sectors that were written, and the whole file as it was then.
        case write(sectors: Range<Int>, image: FileBytes)
        case resize(Int)
    }

    /// What programs see.
    var content = FileBytes()
    /// What a power loss leaves at least.
    var durable = FileBytes()
    /// Changes since the last sync, also a failed one.
    private(set) var pending: [(order: Int, change: Change)] = []
    var isLocked = false
    /// Bytes that the device does not give, until they are written again.
    var unreadable: Range<Int>?
    /// Changes with the content.
    private(set) var version = 0

    mutating func write(_ buffer: UnsafeRawBufferPointer, at offset: Int, order: Int) {
        guard buffer.count > 0 else { return }
        unsafe content.write(buffer, at: offset)
        if unreadable?.overlaps(offset..<(offset + buffer.count)) ?? false { unreadable = nil }
        version += 1
        let size = FileBytes.sectorSizeBytes
        let sectors = (offset / size)..<((offset + buffer.count - 1) / size + 1)
        pending.append((order, .write(sectors: sectors, image: content)))
    }

    mutating func resize(to size: Int, order: Int) {
        content.resize(to: size)
        version += 1
        pending.append((order, .resize(size)))
    }

    /// fsync and fdatasync: the size belongs to what is needed to read the data.
    mutating func sync() {
        for (_, change) in pending {
            switch change {
            case .write(let sectors, let image): durable.copy(sectors: sectors, from: image)
            case .resize(let size): durable.resize(to: size)
            }
        }
        pending.removeAll()
    }

    /// What a failed sync leaves: the kernel marks what was to be written as clean, so no later
    /// sync tries again.
    ///
    /// - Parameter isReverted: programs see what is on the disk then, as XFS and Btrfs do it; on
    ///   ext4 they see what they wrote until the memory is needed.
    mutating func forget(isReverted: Bool) {
        pending.removeAll()
        if isReverted {
            content = durable
            version += 1
        }
    }

    /// For tests that damage files: durable at once.
    mutating func replace(_ bytes: [UInt8]) {
        content = FileBytes(bytes)
        durable = content
        pending.removeAll()
        version += 1
    }
}

/// The names in one directory.
struct DirectoryState: Sendable {
    enum Change: Sendable {
        case link(String, Int)
        case rename(String, String, Int)
        case unlink(String)

        func apply(to entries: inout [String: Int]) {
            switch self {
            case .link(let name, let number): entries[name] = number
            case .unlink(let name): entries[name] = nil
            case .rename(let source, let target, let number):
                if entries[source] == number { entries[source] = nil }
                entries[target] = number
            }
        }
    }

    var entries: [String: Int] = [:]
    var durable: [String: Int] = [:]
    private(set) var pending: [(order: Int, change: Change)] = []

    mutating func apply(_ change: Change, order: Int) {
        change.apply(to: &entries)
        pending.append((order, change))
    }

    mutating func sync() {
        for (_, change) in pending { change.apply(to: &durable) }
        pending.removeAll()
    }

    /// What a failed sync leaves: names as programs see them, of which the disk knows nothing.
    ///
    /// - Parameter isKept: whether a new name is still to be made durable by the next sync.
    mutating func forget(isKept: (Int) -> Bool) {
        pending.removeAll { _, change in
            if case .link(_, let number) = change { !isKept(number) } else { true }
        }
    }
}
