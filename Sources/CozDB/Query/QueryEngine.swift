// The entry point of the query layer: text in, rows out. The caller applies changes of data.

/// A change requested by a statement.
enum DataChange {
    /// Widens the type of a field.
    case alter(experiment: String, field: String, type: FieldType)
    /// Deletes the data that the plan selects. The plan is computed while no commits run.
    case delete((Snapshot) throws(DatabaseError) -> Deletion)
}

/// The result of a change.
struct ChangeOutcome {
    /// A snapshot that includes the change.
    var snapshot: Snapshot
    var deletion: DeletionReport?
}

/// Runs statements on one snapshot.
struct QueryEngine {
    let snapshot: Snapshot
    var options: QueryOptions
    /// Applies a change; nil if only statements that read may run.
    let change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)?

    init(
        snapshot: Snapshot, options: QueryOptions,
        change: ((DataChange) throws(DatabaseError) -> ChangeOutcome)? = nil
    ) {
        self.snapshot = options.redactsSecrets ? snapshot.redacted : snapshot
        self.options = options
        // On a redacted snapshot, too, a condition would reveal the values.
        if snapshot.isRedacted { self.options.redactsSecrets = true }
        self.change = change
    }

    /// Runs every statement of the text and stops at the first failure.
    ///
    /// - Throws: `usage` before anything runs if the text does not parse; otherwise the error of
    ///   the failing statement, after the sink receives it.
    @discardableResult
    func run<Sink: QueryResultSink>(
        _ text: String, into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        let execution = QueryExecution(self, text, sink)
        defer { sink = execution.sink }
        _ = try execution.run { true }
        return execution.counters
    }

    /// Returns whether the text has a statement that changes data and so needs a writer.
    static func changesData(_ text: String, options: QueryOptions) -> Bool {
        guard !options.isDryRun, !options.redactsSecrets else { return false }
        let changes = try? StatementStack.run(text, options) { () throws(DatabaseError) in
            try Parser.parse(text, options: options).contains {
                switch $0 {
                case .select, .show, .explain, .administration: false
                case .delete, .dropSeries, .dropMeasurement, .alter: true
                }
            }
        }
        return changes ?? false
    }
}

extension QueryEngine {
    /// Returns the experiments that a text reads; nil if it may read any.
    static func experimentsRead(_ text: String, options: QueryOptions) -> Set<String>? {
        let names = try? StatementStack.run(text, options) { () throws(DatabaseError) in
            var names: Set<String>? = []
            for statement in try Parser.parse(text, options: options) {
                switch statement {
                case .select(let select), .explain(let select, _):
                    addNames(select.sources, to: &names)
                case .show(let show) where !show.sources.isEmpty:
                    addNames(show.sources, to: &names)
                default: names = nil
                }
            }
            return names
        }
        return names ?? nil
    }

    private static func addNames(_ sources: [Source], to names: inout Set<String>?) {
        for source in sources {
            switch source {
            case .experiment(let name, _, _): names?.insert(name)
            case .pattern: names = nil
            case .subquery(let select): addNames(select.sources, to: &names)
            }
        }
    }
}
