// Finds many names in a text at once: Aho and Corasick, "Efficient string matching" (1975). The
// time grows with the text, not with the number of names that are not in it.

/// The trie of some names, with the links that a search follows where no name goes on.
struct NameAutomaton: Sendable {
    private struct Node {
        /// The length of the name that ends here; 0 if none does.
        var length = 0
        /// The node of the longest proper suffix that is a beginning of a name.
        var suffix = 0
        /// The nearest node on the way of suffixes where a name ends; 0 if there is none.
        var ending = 0
        let parent: Int
        let byte: UInt8
    }

    private var nodes = [Node(parent: 0, byte: 0)]
    /// The child of a node, by the number of the node and the next byte.
    private var children: [Int: Int] = [:]
    /// The children of the first node by the byte, where most of a text leads; 0 is none.
    private var roots = [Int](repeating: 0, count: 256)

    init(_ names: some Sequence<[UInt8]>) {
        var depths = [0]
        for name in names where !name.isEmpty {
            var node = 0
            for byte in name {
                let key = NameAutomaton.key(node, byte)
                if let known = children[key] {
                    node = known
                } else {
                    depths.append(depths[node] + 1)
                    nodes.append(Node(parent: node, byte: byte))
                    children[key] = nodes.count - 1
                    if node == 0 { roots[Int(byte)] = nodes.count - 1 }
                    node = nodes.count - 1
                }
            }
            nodes[node].length = name.count
        }
        link(nodes.indices.sorted { depths[$0] < depths[$1] })
    }

    private static func key(_ node: Int, _ byte: UInt8) -> Int { node << 8 | Int(byte) }

    /// - Parameter order: the nodes by depth.
    private mutating func link(_ order: [Int]) {
        for node in order where nodes[node].parent != 0 {
            let suffix = next(nodes[nodes[node].parent].suffix, nodes[node].byte)
            nodes[node].suffix = suffix
            nodes[node].ending = nodes[suffix].length > 0 ? suffix : nodes[suffix].ending
        }
    }

    private func next(_ start: Int, _ byte: UInt8) -> Int {
        var node = start
        while node != 0 {
            if let child = children[NameAutomaton.key(node, byte)] { return child }
            node = nodes[node].suffix
        }
        return roots[Int(byte)]
    }

    /// Whether one of the names occurs in the text as a whole word.
    func findsWhole(in text: [UInt8]) -> Bool {
        var node = 0
        for (index, byte) in text.enumerated() {
            node = next(node, byte)
            var end = nodes[node].length > 0 ? node : nodes[node].ending
            while end != 0 {
                let range = index + 1 - nodes[end].length..<index + 1
                if NamedWords.isWhole(range, in: text) { return true }
                end = nodes[end].ending
            }
        }
        return false
    }
}
