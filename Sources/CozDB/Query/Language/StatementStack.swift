// Provides enough stack for statements: their processing recurses as deeply as they nest.

/// Runs work on a statement on a thread with enough stack.
enum StatementStack {
    /// The stack per level: three times the size measured in an optimized build. An unoptimized
    /// build needs nearly all of it.
    private static let levelSizeBytes = 20 << 10
    private static let baseSizeBytes = 256 << 10
    /// Texts up to this depth run on the current stack.
    private static let smallDepth = 12

    /// Runs the body with enough stack for a text.
    ///
    /// - Throws: the error of the body; `limitExceeded` if the system cannot create a thread.
    static func run<Value>(
        _ text: String, _ options: QueryOptions, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try run(depth: depthMax(text, options), body)
    }

    /// Runs the body with enough stack for a depth.
    ///
    /// - Parameter depth: the result of `depthMax` for the text.
    static func run<Value>(
        depth: Int, _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        if depth <= smallDepth { return try body() }
        let result = LargeStack.run(sizeBytes: baseSizeBytes + depth * levelSizeBytes) {
            Result { () throws(DatabaseError) in try body() }
        }
        guard let result else {
            throw DatabaseError(
                .limitExceeded,
                "the system cannot create a thread for a deeply nested statement; raise its "
                    + "thread or memory limit, or reduce the nesting")
        }
        return try result.get()
    }

    /// Returns an upper bound of a text's nesting depth by counting what can add a level.
    static func depthMax(_ text: String, _ options: QueryOptions) -> Int {
        var depth = levels(text.utf8)
        for case .regex(let pattern) in options.parameters.values { depth += levels(pattern.utf8) }
        return min(depth, Parser.nestingDepthMax(options))
    }

    private static func levels(_ bytes: String.UTF8View) -> Int {
        var levels = 0
        var before: UInt8 = 0
        for byte in bytes {
            // This converts letters to lower case. False matches only raise the bound.
            let lower = byte | 0x20
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"),
                UInt8(ascii: "/"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "|"),
                UInt8(ascii: "^"), UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "!"):
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
