// The wish to end what is being done, asked by loops that know nothing of who called them: a match
// of a regular expression, the decoding of a block. Who begins something that can be cancelled puts
// up a sign for the threads that work on it.

internal import Synchronization

/// Whether something shall end. Once it was seen it stays, so that work that was broken off never
/// looks finished.
final class StopSign: Sendable {
    /// That of what the thread, or the task, is working on.
    @TaskLocal static var current: StopSign?

    /// Steps of some nanoseconds between two questions: a fraction of a millisecond.
    static let stepCount = 1 << 14

    private let ask: (@Sendable () -> Bool)?
    private let wasSeen = Atomic(false)

    init(_ ask: (@Sendable () -> Bool)?) {
        self.ask = ask
    }

    var isRaised: Bool {
        guard let ask else { return false }
        if wasSeen.load(ordering: .relaxed) { return true }
        guard ask() else { return false }
        wasSeen.store(true, ordering: .relaxed)
        return true
    }

    /// - Throws: `cancelled` where it is raised.
    func check() throws(DatabaseError) {
        if isRaised { throw DatabaseError(.cancelled, "the query was cancelled") }
    }

    /// Asks nobody.
    ///
    /// - Throws: `cancelled` where it was seen before: something was left in the middle.
    func checkSeen() throws(DatabaseError) {
        if wasSeen.load(ordering: .relaxed) { try check() }
    }

    /// Whether what this thread does shall end. Costs some tens of nanoseconds.
    static var isRaised: Bool { current?.isRaised ?? false }

    /// - Throws: `cancelled` where what this thread does shall end.
    static func check() throws(DatabaseError) { try current?.check() }

    /// Does something under the sign.
    func over<Value>(_ body: () throws(DatabaseError) -> Value) throws(DatabaseError) -> Value {
        let result = StopSign.$current.withValue(self) {
            Result { () throws(DatabaseError) in try body() }
        }
        return try result.get()
    }
}

extension Sequence {
    /// Sorted; once what the thread does shall end nothing is compared any more, so that the sort
    /// ends soon, in whatever order: the caller checks, and nobody sees it.
    func sortedUnlessStopped(_ isBefore: (Element, Element) -> Bool) -> [Element] {
        var comparisons = 0
        var isStopping = false
        return sorted {
            comparisons &+= 1
            if comparisons & (StopSign.stepCount - 1) == 0, StopSign.isRaised { isStopping = true }
            return !isStopping && isBefore($0, $1)
        }
    }
}
