// What a DELETE or DROP took away.

/// The outcome of one deletion. When the call that gives it returns, what it counts is gone from
/// every snapshot taken afterwards and from the files of the database.
public struct DeletionReport: Hashable, Sendable {
    /// One experiment that the statement was about.
    public struct Experiment: Hashable, Sendable {
        /// The experiment.
        public var name: String
        /// Series that lost something.
        public var series = 0
        /// Rows that went whole. Where single fields are deleted, those that had nothing else.
        public var rows = 0
        /// Field values that went, those of whole rows included.
        public var values = 0
        /// Entries of the rejects journal that went.
        public var refusals = 0

        /// Nothing deleted.
        public init(name: String) {
            self.name = name
        }
    }

    /// In byte order of their names; also those that lost nothing.
    public var experiments: [Experiment] = []
    /// Rows that went whole, of all experiments.
    public var rows: Int { experiments.reduce(0) { $0 + $1.rows } }
    /// Field values that went, of all experiments.
    public var values: Int { experiments.reduce(0) { $0 + $1.values } }

    /// Entries of the rejects journal that went, of all experiments.
    public var refusals: Int { experiments.reduce(0) { $0 + $1.refusals } }

    /// Nothing deleted.
    public init() {}

    /// Counts entries of the journal, also of experiments that have no data.
    ///
    /// - Parameter refusals: how many, by the experiment that they are about.
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
    /// The experiment it is about, as far as that can be told; else empty.
    var experiment: String {
        switch subject {
        case .value(let experiment, _, _, _, _, _): experiment
        case .line(let bytes): LineSeries(bytes)?.experiment ?? ""
        }
    }
}
