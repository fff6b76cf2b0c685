// Running statements: streamed into a sink, or collected.

internal import Glibc

extension Database {
    /// Runs every statement of a text on one snapshot and collects the answer in memory; the first
    /// statement that fails ends the run. After a statement that changed data the next ones see
    /// the change.
    ///
    /// - Parameter options: clock, parameters and limits; nil is now, without parameters.
    /// - Throws: `usage` with the place in the text where it does not parse or fails its checks;
    ///   `limitExceeded` with the limit's name; `cancelled`; `damaged` where a block that the
    ///   statement needs cannot be read.
    public func query(
        _ text: String, options: QueryOptions? = nil
    ) throws(DatabaseError) -> QueryResult {
        let options = (options ?? Database.options).limited(by: queries.limits)
        return try QueryResultCollector.collect(options) { collector throws(DatabaseError) in
            try query(text, options: options, into: &collector)
        }
    }

    /// The same, handing rows over as they are computed; memory is a few blocks. All of it happens
    /// on the caller's thread, but for a text that nests deeper than its stack has room for: that
    /// runs on a thread with a larger one, while the caller waits.
    ///
    /// - Throws: as the collecting form, and what the sink throws.
    @discardableResult
    public func query<Sink: QueryResultSink>(
        _ text: String, options: QueryOptions, into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        try query(text, on: takeSnapshot(), options: options, into: &sink)
    }

    func query<Sink: QueryResultSink>(
        _ text: String, on snapshot: Snapshot, options: QueryOptions, into sink: inout Sink
    ) throws(DatabaseError) -> QueryCounters {
        let options = options.limited(by: queries.limits)
        let engine = QueryEngine(snapshot: snapshot, options: options) {
            change throws(DatabaseError) in
            switch change {
            case .alter(let experiment, let field, let type):
                try self.alter(experiment: experiment, field: field, type: type)
                return ChangeOutcome(snapshot: try self.takeSnapshot())
            case .delete(let plan):
                let report = try self.writer().delete(plan)
                return ChangeOutcome(snapshot: try self.takeSnapshot(), deletion: report)
            }
        }
        return try engine.run(text, into: &sink)
    }

    /// Whether a text has a statement that needs a database open for writing; false where it does
    /// not parse.
    public static func changesData(_ text: String, options: QueryOptions? = nil) -> Bool {
        QueryEngine.changesData(text, options: options ?? Database.options)
    }

    /// The clock as it is now, no parameters.
    static var options: QueryOptions {
        QueryOptions(now: Timestamp(nanoseconds: SystemClock.now()))
    }
}
