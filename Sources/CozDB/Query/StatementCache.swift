// Statements that were read and planned before: who asks the same again, of the same data, needs
// neither. Kept with the snapshot, so that nothing outlives what it was planned for.

internal import Synchronization

/// Texts that were run on one snapshot lately.
final class StatementCache: Sendable {
    /// What a text and all that is made of it depend on.
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

    /// The latest last.
    private let texts = Mutex<[(key: Key, text: PreparedText)]>([])
    /// A handful of views that are looked at in turn.
    private static let textCountMax = 16
    private static let textSizeBytesMax = 1 << 14

    /// The cache of a snapshot.
    static func of(_ snapshot: Snapshot) -> StatementCache {
        snapshot.companion.withLock { companion in
            if let known = companion as? StatementCache { return known }
            let made = StatementCache()
            companion = made
            return made
        }
    }

    /// A text that was read before; nil where it was not.
    func known(_ text: String, _ options: QueryOptions) -> PreparedText? {
        guard StatementCache.isKept(text, options) else { return nil }
        let key = Key(text, options)
        return texts.withLock { $0.last { $0.key == key }?.text }
    }

    /// Reads a text.
    ///
    /// - Parameter depth: of the stack that it needs.
    /// - Throws: as `Parser.parse`.
    func prepare(
        _ text: String, _ options: QueryOptions, depth: Int
    ) throws(DatabaseError) -> PreparedText {
        let isKept = StatementCache.isKept(text, options)
        let prepared = PreparedText(
            try Parser.parseWithPlaces(text, options: options), depth: depth,
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

    /// Whether `now()` may stand in a text: whatever is planned with it holds but once.
    private static func mayReadClock(_ text: String) -> Bool {
        let word = Array("now".utf8)
        var matched = 0
        for byte in text.utf8 {
            // Letters are lower case with this bit; other bytes that become one do no harm.
            let lower = byte | 0x20
            matched = lower == word[matched] ? matched + 1 : lower == word[0] ? 1 : 0
            if matched == word.count { return true }
        }
        return false
    }
}

/// The statements of a text, and the plans made of them so far.
final class PreparedText: Sendable {
    let statements: [(statement: Statement, offset: Int)]
    /// Of the stack that it needs, as `StatementStack` counts.
    let depth: Int
    private let isKept: Bool
    private let plans: Mutex<[SelectPlan?]>

    fileprivate init(
        _ statements: [(statement: Statement, offset: Int)], depth: Int, isKept: Bool
    ) {
        self.statements = statements
        self.depth = depth
        self.isKept = isKept
        plans = Mutex(Array(repeating: nil, count: statements.count))
    }

    /// The plan of a SELECT; nil where it was not planned yet.
    func plan(_ index: Int) -> SelectPlan? { plans.withLock { $0[index] } }

    /// Keeps a plan for the next time, unless it depends on the clock.
    func keep(_ plan: SelectPlan, _ index: Int) {
        guard isKept, !plan.endsNow else { return }
        plans.withLock { $0[index] = plan }
    }
}
