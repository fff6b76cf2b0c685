// What commits changed, for those who observe a database.

/// What one commit changed, or several that were not observed one by one: the rows, the types of
/// fields, what was deleted. It may name more than what changed, never less.
public struct CommittedChange: Equatable, Sendable {
    /// Sequence number of the last commit in it (see `WriteReport.sequence`). A deletion has none
    /// of its own.
    public var sequence: UInt64
    /// The names of the experiments that changed. nil: any may have changed.
    public var experiments: Set<String>?
    /// The participants that the changed rows name, in any tag that names participants in some
    /// experiment. nil: those of any may have changed, as when such a tag is no part of the
    /// identity: then a row may have named another participant before.
    public var participants: Set<String>?
    /// The time span of the changed rows; empty if no rows changed, but for example a declaration.
    /// `TimeRange.all` after a deletion.
    public var times: TimeRange

    /// The most participants that are named.
    private static let participantCountMax = 1000

    /// A change of which only the experiments are known.
    init(sequence: UInt64, experiments: Set<String>?) {
        self.sequence = sequence
        self.experiments = experiments
        times = .all
    }

    /// The change that a batch makes.
    ///
    /// - Parameters:
    ///   - participantTags: the tags that name participants in any experiment.
    ///   - mayReplaceAny: whether rows of an experiment may replace rows of any participant.
    init(
        _ batch: borrowing WriteBatch, sequence: UInt64, participantTags: Set<Name>,
        mayReplaceAny: (String) -> Bool
    ) {
        self.sequence = sequence
        var names = Set(batch.declarations.map { batch.experiments.text($0.experiment) })
        var participants: Set<String> = []
        var (first, last) = (Int64.max, Int64.min)
        var seen: Set<UInt32> = []
        for row in batch.rows {
            first = min(first, row.time)
            last = max(last, row.time)
            guard seen.insert(row.tagSet).inserted else { continue }
            let received = batch.receivedTagSet(Int(row.tagSet))
            names.insert(batch.experiments.text(received.experiment))
            if participants.count > CommittedChange.participantCountMax { continue }
            for (name, value) in received.tags where participantTags.contains(Name(name)) {
                participants.insert(value)
            }
        }
        experiments = names
        let isAny =
            participants.count > CommittedChange.participantCountMax
            || names.contains(where: mayReplaceAny)
        self.participants = isAny ? nil : participants
        times =
            first <= last
            ? TimeRange(lower: first, upper: last.addingSaturating(1))
            : TimeRange(lower: 0, upper: 0)
    }

    /// Adds another change.
    mutating func merge(_ other: CommittedChange) {
        sequence = max(sequence, other.sequence)
        experiments = experiments.flatMap { own in other.experiments.map { own.union($0) } }
        participants = participants.flatMap { own in other.participants.map { own.union($0) } }
        if let count = participants?.count, count > CommittedChange.participantCountMax {
            participants = nil
        }
        if times.isEmpty {
            times = other.times
        } else if !other.times.isEmpty {
            times = TimeRange(
                lower: min(times.lower, other.times.lower),
                upper: max(times.upper, other.times.upper))
        }
    }

    /// Whether it may concern one of these experiments.
    ///
    /// - Parameter names: nil stands for all experiments.
    func concerns(_ names: Set<String>?) -> Bool {
        guard let names, let experiments else { return true }
        return !names.isDisjoint(with: experiments)
    }
}
