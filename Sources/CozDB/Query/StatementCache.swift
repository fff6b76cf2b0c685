// A cache of parsed and planned statements. Repeating a text on the same snapshot skips both steps.
// The cache belongs to the snapshot, so it never outlives the data it was planned for.

/// The texts that recently ran on one snapshot.
final class StatementCache: Sendable {
    /// Everything that the parsed statements and their plans depend on.
    private struct Key: Hashable {
        var text: Name
        var influxCompatible: Bool
        var limits: QueryLimits

        init(_ text: String, _ options: QueryOptions) {
            self.text = Name(text)
            influxCompatible = options.influxCompatible
            limits = options.effectiveLimits
        }
    }

    /// Most recent last.
    private let texts = Monitor<[(key: Key, text: PreparedStatements)]>([])
    /// Enough for a few views that are refreshed in turn.
    private static let textCountMax = 16
    private static let textSizeBytesMax = 1 << 14

    /// Returns the cache of a snapshot, creating it if needed.
    static func of(_ snapshot: Snapshot) -> StatementCache {
        snapshot.companion.withLock { companion in
            if let known = companion as? StatementCache { return known }
            let made = StatementCache()
            companion = made
            return made
        }
    }

    /// Returns the prepared text; nil if it is not cached.
    func known(_ text: String, _ options: QueryOptions) -> PreparedStatements? {
        guard StatementCache.isKept(text, options) else { return nil }
        let key = Key(text, options)
        return texts.withLock { $0.last { $0.key == key }?.text }
    }

    /// Parses a text and caches it if it is small and has no parameters.
    ///
    /// - Parameter depth: the nesting depth of the text, which determines its stack size.
    /// - Throws: the errors of `Parser.parse`.
    func prepare(
        _ text: String, _ options: QueryOptions, depth: Int
    ) throws(DatabaseError) -> PreparedStatements {
        let isKept = StatementCache.isKept(text, options)
        let prepared = PreparedStatements(
            try Parser.parseWithOffsets(text, options: options), depth: depth,
            isKept: isKept && !StatementCache.mayReadClock(text))
        guard isKept else { return prepared }
        texts.withLock { texts in
            if texts.count == StatementCache.textCountMax { texts.removeFirst() }
            texts.append((Key(text, options), prepared))
        }
        return prepared
    }

    private static func isKept(_ text: String, _ options: QueryOptions) -> Bool {
        options.parameters.isEmpty && text.utf8.count <= textSizeBytesMax
    }

    /// Returns whether the text may contain `now()`. Such plans are not reusable.
    private static func mayReadClock(_ text: String) -> Bool {
        let word = Array("now".utf8)
        var matched = 0
        for byte in text.utf8 {
            // This converts letters to lower case. False matches do no harm.
            let lower = byte | 0x20
            matched = lower == word[matched] ? matched + 1 : lower == word[0] ? 1 : 0
            if matched == word.count { return true }
        }
        return false
    }
}

/// The statements of a text and their plans so far.
final class PreparedStatements: Sendable {
    let statements: [(statement: Statement, offset: Int)]
    /// The nesting depth, as computed by `StatementStack.depthMax`.
    let depth: Int
    private let isKept: Bool
    private let plans: Monitor<[SelectPlan?]>

    fileprivate init(
        _ statements: [(statement: Statement, offset: Int)], depth: Int, isKept: Bool
    ) {
        self.statements = statements
        self.depth = depth
        self.isKept = isKept
        plans = Monitor(Array(repeating: nil, count: statements.count))
    }

    /// Returns the plan of a SELECT; nil if it is not planned yet.
    func plan(_ index: Int) -> SelectPlan? { plans.withLock { $0[index] } }

    /// Caches a plan unless it depends on the clock.
    func keep(_ plan: SelectPlan, _ index: Int) {
        guard isKept, !plan.endsAtPlanningTime else { return }
        plans.withLock { $0[index] = plan }
    }
}
