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

    /// Counts an entry of the journal, also of an experiment that has no data.
    mutating func add(_ refusal: Refusal) {
        let name = refusal.experiment
        if let index = experiments.firstIndex(where: { Name($0.name) == Name(name) }) {
            experiments[index].refusals += 1
        } else {
            experiments.append(Experiment(name: name))
            experiments[experiments.count - 1].refusals = 1
        }
    }
}

extension Refusal {
    /// The experiment it is about, as far as that can be told; else empty.
    fileprivate var experiment: String {
        switch subject {
        case .value(let experiment, _, _, _, _, _): experiment
        case .line(let bytes): LineSeries(bytes)?.experiment ?? ""
        }
    }
}
