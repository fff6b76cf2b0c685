// The result of a deletion.

/// The result of a deletion. When it is returned, the deleted data is gone from the database's
/// files and from every snapshot taken afterwards.
public struct DeletionReport: Hashable, Sendable {
    /// What was deleted from one experiment.
    public struct Experiment: Hashable, Sendable {
        /// The experiment's name.
        public var name: String
        /// Number of series that lost data.
        public var series = 0
        /// Number of rows deleted. If only fields were deleted, the rows that had no other field.
        public var rows = 0
        /// Number of field values deleted, including those of deleted rows.
        public var values = 0
        /// Number of deleted entries of the rejects journal.
        public var refusals = 0

        /// Creates a report of no deletions.
        public init(name: String) {
            self.name = name
        }
    }

    /// The experiments in byte order of their names, including those that lost nothing.
    public var experiments: [Experiment] = []
    /// Number of rows deleted in all experiments.
    public var rows: Int { experiments.reduce(0) { $0 + $1.rows } }
    /// Number of field values deleted in all experiments.
    public var values: Int { experiments.reduce(0) { $0 + $1.values } }

    /// Number of deleted entries of the rejects journal in all experiments.
    public var refusals: Int { experiments.reduce(0) { $0 + $1.refusals } }

    /// Creates an empty report.
    public init() {}

    /// Adds deleted journal entries, including those of experiments without data.
    ///
    /// - Parameter refusals: Number of entries by experiment name.
    mutating func add(refusals: [Name: Int]) {
        var left = refusals
        for index in experiments.indices {
            let count = left.removeValue(forKey: Name(experiments[index].name))
            experiments[index].refusals += count ?? 0
        }
        for (name, count) in left.sorted(by: { $0.key < $1.key }) {
            experiments.append(Experiment(name: name.text))
            experiments[experiments.count - 1].refusals = count
        }
    }
}

extension Refusal {
    /// The experiment that the refusal names; empty if unknown.
    var experiment: String {
        switch subject {
        case .value(let experiment, _, _, _, _, _): experiment
        case .line(let bytes):
            LineSeries(bytes).flatMap { $0.isWhole ? $0.experiment : nil } ?? ""
        }
    }
}
