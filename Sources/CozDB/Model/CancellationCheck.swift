// Cancellation checks for inner loops that do not know their caller, such as a regular expression
// match or the decoding of a block. The caller installs the check for its thread or task.

internal import Synchronization

/// A cancellation check. Once it has returned true it stays true, so that unfinished work never
/// looks complete.
final class CancellationCheck: Sendable {
    /// The check of the current thread or task.
    @TaskLocal static var current: CancellationCheck?

    /// Number of loop steps (some nanoseconds each) between two checks: a fraction of a
    /// millisecond.
    static let stepCount = 1 << 14

    private let ask: (@Sendable () -> Bool)?
    private let wasSeen = Atomic(false)
    private let isAsking = Atomic(false)

    init(_ ask: (@Sendable () -> Bool)?) {
        self.ask = ask
    }

    var isRaised: Bool {
        guard let ask else { return false }
        if wasSeen.load(ordering: .relaxed) { return true }
        // The closure may call the library, which must not ask it again. Another thread that skips
        // its turn asks at its next check.
        guard !isAsking.exchange(true, ordering: .acquiring) else { return false }
        defer { isAsking.store(false, ordering: .releasing) }
        guard ask() else { return false }
        wasSeen.store(true, ordering: .relaxed)
        return true
    }

    /// Throws `cancelled` if the work is cancelled.
    func check() throws(DatabaseError) {
        if isRaised { throw DatabaseError(.cancelled, "the query was cancelled") }
    }

    /// Throws `cancelled` if an earlier check found the work cancelled, because a loop may have
    /// ended early. Does not call the caller's closure.
    func checkSeen() throws(DatabaseError) {
        if wasSeen.load(ordering: .relaxed) { try check() }
    }

    /// Whether the current work is cancelled. Costs some tens of nanoseconds.
    static var isRaised: Bool { current?.isRaised ?? false }

    /// Throws `cancelled` if the current work is cancelled.
    static func check() throws(DatabaseError) { try current?.check() }

    /// Runs the body without a check.
    static func suspended<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try run(body, under: nil)
    }

    /// Runs the body with this check installed.
    func over<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        try CancellationCheck.run(body, under: self)
    }

    private static func run<Value>(
        _ body: () throws(DatabaseError) -> Value, under check: CancellationCheck?
    ) throws(DatabaseError) -> Value {
        let result = $current.withValue(check) {
            Result { () throws(DatabaseError) in try body() }
        }
        return try result.get()
    }
}

/// A flag by which one thread asks others to stop.
final class CancellationFlag: Sendable {
    private let value = Atomic<Bool>(false)

    var isRaised: Bool { value.load(ordering: .relaxed) }

    func raise() { value.store(true, ordering: .relaxed) }
}

extension Sequence {
    /// Returns the elements sorted. If the current work is cancelled, comparing stops and the order
    /// is arbitrary; the caller must check for cancellation before using the result.
    func sortedUnlessCancelled(_ isBefore: (Element, Element) -> Bool) -> [Element] {
        var comparisons = 0
        var isStopping = false
        return sorted {
            comparisons &+= 1
            if comparisons & (CancellationCheck.stepCount - 1) == 0, CancellationCheck.isRaised {
                isStopping = true
            }
            return !isStopping && isBefore($0, $1)
        }
    }
}
