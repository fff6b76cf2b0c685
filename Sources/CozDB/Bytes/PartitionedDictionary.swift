// A dictionary of which a changed copy costs the square root of its size. Each commit changes a
// copy of the schemas while others read the original.

/// A hash table of hash tables. A change copies one of them, because the others stay shared.
struct PartitionedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Their number is a power of two.
    private var partitions: [[Key: Value]] = [[:]]
    private(set) var count = 0

    init() {}

    var values: some Sequence<Value> { partitions.lazy.flatMap { $0.values } }

    subscript(key: Key) -> Value? {
        get { partitions[partition(of: key)][key] }
        set {
            let index = partition(of: key)
            count -= partitions[index].count
            partitions[index][key] = newValue
            count += partitions[index].count
            // Partitions have twice as many entries as there are partitions, on average.
            if count > 2 * partitions.count * partitions.count { split() }
        }
    }

    /// Changes a value in place.
    mutating func update(_ key: Key, _ change: (inout Value) -> Void) {
        let index = partition(of: key)
        guard var value = partitions[index].removeValue(forKey: key) else { return }
        change(&value)
        partitions[index][key] = value
    }

    private func partition(of key: Key) -> Int {
        partitions.count == 1 ? 0 : key.hashValue & (partitions.count - 1)
    }

    private mutating func split() {
        let entries = partitions
        partitions = Array(repeating: [:], count: 2 * entries.count)
        for (key, value) in entries.joined() { partitions[partition(of: key)][key] = value }
    }
}
