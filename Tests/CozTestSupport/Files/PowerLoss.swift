// What a power loss leaves of changes that were not synced: of each sector, size and name either
// the old or a new state, as the models of POSIX and of journaling file systems allow.

/// What of the pending changes is left. Changes are named by their order.
private struct Survival {
    var keepsName: (_ order: Int) -> Bool
    var keepsSector: (_ order: Int, _ sector: Int) -> Bool
    /// The size of the file, of the two that the change lies between or any in between.
    var size: (_ order: Int, _ old: Int, _ new: Int) -> Int

    /// Everything that was changed before an order, nothing from then on.
    init(before cut: Int) {
        keepsName = { $0 < cut }
        keepsSector = { order, _ in order < cut }
        size = { order, old, new in order < cut ? new : old }
    }
}

extension FaultyFileSystem {
    /// What is left of unsynced data and names.
    package enum Loss: Sendable, Hashable {
        /// Only the process ended: everything is left, and what was not synced still is not.
        case nothing
        /// Everything unsynced is gone.
        case everything
        /// Unsynced sectors, sizes and names are left or gone by chance.
        case random(seed: UInt64)
        /// All names are there; files that were not synced have their old data and size.
        case onlyNames
        /// Data is there, under names that were durable.
        case onlyData
        /// Names and sizes are there, zeros where data was not synced.
        case sizes
        /// Names up to one by chance, in their order, without data.
        case namesInOrder(seed: UInt64)
        /// Everything except the last change.
        case allButLast
        /// Everything except one change by chance.
        case allButOne(seed: UInt64)
        /// All changes up to one by chance, that one torn at a multiple of these bytes.
        case prefix(seed: UInt64, tearSizeBytes: Int)

        /// Those that need no seed, and some of each that does.
        package static func variants(seed: UInt64) -> [Loss] {
            [
                .nothing, .everything, .onlyNames, .onlyData, .sizes, .namesInOrder(seed: seed),
                .allButLast, .allButOne(seed: seed), .prefix(seed: seed, tearSizeBytes: 512),
                .prefix(seed: seed, tearSizeBytes: 4096), .random(seed: seed),
                .random(seed: seed &+ 1_000_000), .random(seed: seed &+ 2_000_000),
            ]
        }
    }
}

extension FileTree {
    /// The tree as the next process finds it; locks are free.
    func survivor(_ loss: FaultyFileSystem.Loss) -> FileTree {
        var tree = self
        guard let survival = survival(loss) else {
            for number in files.keys { tree.files[number]?.isLocked = false }
            return tree
        }
        for number in files.keys.sorted() {
            guard let file = files[number] else { continue }
            var left = FileState()
            left.durable = file.survivor(survival)
            left.content = left.durable
            tree.files[number] = left
        }
        for number in directories.keys.sorted() {
            guard let directory = directories[number] else { continue }
            var left = DirectoryState()
            left.durable = directory.durable
            for (order, change) in directory.pending where survival.keepsName(order) {
                change.apply(to: &left.durable)
            }
            left.entries = left.durable
            tree.directories[number] = left
        }
        return tree
    }

    /// Orders of everything that is pending, in order.
    private var pendingOrders: [Int] {
        let data = files.values.flatMap { $0.pending.map(\.order) }
        return (data + directories.values.flatMap { $0.pending.map(\.order) }).sorted()
    }

    /// nil where everything is left as it is.
    private func survival(_ loss: FaultyFileSystem.Loss) -> Survival? {
        var survival = Survival(before: .max)
        switch loss {
        case .nothing: return nil
        case .everything: return Survival(before: 0)
        case .random(let seed): return Survival(seed: seed)
        case .onlyNames:
            survival.keepsSector = { _, _ in false }
            survival.size = { _, old, _ in old }
        case .onlyData: survival.keepsName = { _ in false }
        case .sizes: survival.keepsSector = { _, _ in false }
        case .namesInOrder(let seed):
            let names = directories.values.flatMap { $0.pending.map(\.order) }.sorted()
            survival = Survival(before: 0)
            guard let cut = FileTree.choose(names, seed) else { break }
            survival.keepsName = { $0 <= cut }
        case .allButLast: return Survival(before: pendingOrders.last ?? 0)
        case .allButOne(let seed):
            guard let gone = FileTree.choose(pendingOrders, seed) else { break }
            survival.keepsName = { $0 != gone }
            survival.keepsSector = { order, _ in order != gone }
            survival.size = { order, old, new in order != gone ? new : old }
        case .prefix(let seed, let tear):
            survival = Survival(before: 0)
            guard let cut = FileTree.choose(pendingOrders, seed) else { break }
            survival = Survival(before: cut)
            tear > 0 ? survival.tear(order: cut, sizeBytes: tear, tree: self, seed) : ()
        }
        return survival
    }

    private static func choose(_ orders: [Int], _ seed: UInt64) -> Int? {
        var random = SeededRandom(seed: seed)
        return orders.randomElement(using: &random)
    }
}

extension Survival {
    /// Everything by chance, but the same for each change and sector whenever it is asked.
    fileprivate init(seed: UInt64) {
        func word(_ order: Int, _ place: Int) -> UInt64 {
            var random = SeededRandom(
                seed: seed &* 0x9E37_79B9 &+ UInt64(order) &* 0x1_0000_0001 &+ UInt64(place))
            return random.next()
        }
        keepsName = { word($0, 1 << 40) & 1 == 0 }
        // Most often each sector by chance; sometimes all or none of a change.
        keepsSector = { order, sector in
            switch word(order, 1 << 41) & 3 {
            case 0: false
            case 1: true
            default: word(order, sector) & 1 == 0
            }
        }
        size = { order, old, new in
            switch word(order, 1 << 42) & 3 {
            case 0: return old
            case 1: return Int(word(order, 1 << 43) % UInt64(abs(new - old) + 1)) + min(old, new)
            default: return new
            }
        }
    }

    /// Keeps the beginning of one write, which ends at a multiple of some bytes.
    fileprivate mutating func tear(order torn: Int, sizeBytes: Int, tree: FileTree, _ seed: UInt64)
    {
        var written: Range<Int>?
        for file in tree.files.values {
            for case (torn, .write(let sectors, _)) in file.pending { written = sectors }
        }
        guard let written else { return }
        var random = SeededRandom(seed: ~seed)
        let tearSectors = sizeBytes / FileBytes.sectorSizeBytes
        let place = Int.random(in: written.lowerBound...written.upperBound, using: &random)
        let end = max(place / tearSectors * tearSectors, written.lowerBound)
        let (sector, size) = (keepsSector, size)
        keepsSector = { $0 == torn ? $1 < end : sector($0, $1) }
        self.size = { order, old, new in
            guard order == torn else { return size(order, old, new) }
            return min(new, max(old, end * FileBytes.sectorSizeBytes))
        }
    }
}

extension FileState {
    fileprivate func survivor(_ survival: Survival) -> FileBytes {
        var left = durable
        var size = durable.count
        for (order, change) in pending {
            switch change {
            case .write(let sectors, let image):
                for sector in sectors where survival.keepsSector(order, sector) {
                    left.copy(sectors: sector..<(sector + 1), from: image)
                }
                if image.count > size { size = survival.size(order, size, image.count) }
            case .resize(let wanted):
                size = survival.size(order, size, wanted)
                left.resize(to: size)
            }
        }
        left.resize(to: size)
        return left
    }
}
