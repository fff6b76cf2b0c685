// How much stack a text can need: what reads, plans and computes statements recurses as deep as
// they nest.

/// Runs what is done with a text where the stack has room for it.
enum StatementStack {
    /// For each level, with three times what was measured in an optimised build; a build without
    /// optimisation needs nearly all of it.
    private static let levelSizeBytes = 20 << 10
    /// For everything else.
    private static let baseSizeBytes = 256 << 10
    /// Texts that nest no deeper run on any stack.
    private static let smallDepth = 12

    /// - Throws: what the body throws; `limitExceeded` where the system has no thread left.
    static func run<Value>(
        _ text: String, _ options: QueryOptions, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try run(depth: depthMax(text, options), body)
    }

    /// - Parameter depth: `depthMax` of the text.
    static func run<Value>(
        depth: Int, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        if depth <= smallDepth { return try body() }
        let result = RoomyStack.run(sizeBytes: baseSizeBytes + depth * levelSizeBytes) {
            Result { () throws(DatabaseError) in try body() }
        }
        guard let result else {
            throw DatabaseError(
                .limitExceeded,
                "the system has no thread left for a statement that nests deeply; raise its limit "
                    + "of threads or memory, or nest less")
        }
        return try result.get()
    }

    /// More levels than any statement of the text can have: whatever opens or goes on one counts.
    static func depthMax(_ text: String, _ options: QueryOptions) -> Int {
        var depth = levels(text.utf8)
        for case .regex(let pattern) in options.parameters.values { depth += levels(pattern.utf8) }
        return min(depth, Parser.nestingDepthMax(options))
    }

    private static func levels(_ bytes: String.UTF8View) -> Int {
        var levels = 0
        var before: UInt8 = 0
        for byte in bytes {
            // Letters in lower case; other bytes that become one do no harm.
            let lower = byte | 0x20
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"),
                UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "|"),
                UInt8(ascii: "^"):
                levels += 1
            default:
                switch (before, lower) {
                // OR, AND, IS, IN.
                case (UInt8(ascii: "o"), UInt8(ascii: "r")), (UInt8(ascii: "n"), UInt8(ascii: "d")),
                    (UInt8(ascii: "i"), UInt8(ascii: "s")), (UInt8(ascii: "i"), UInt8(ascii: "n")):
                    levels += 1
                default: break
                }
            }
            before = lower
        }
        return levels
    }
}
