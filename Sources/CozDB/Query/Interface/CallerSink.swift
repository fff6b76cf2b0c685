// Calls the caller's sink outside of the query's cancellation check.

/// Passes a query's calls to the caller's sink. What the sink does, or starts as a task, is not
/// part of the query, so the query's cancellation check does not hold for it.
struct CallerSink<Base: QueryResultSink>: QueryResultSink {
    var base: Base

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in
            try base.beginStatement(index)
        }
    }

    mutating func columns(_ columns: [ResultColumn]) throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in try base.columns(columns) }
    }

    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in
            try base.beginSeries(series)
        }
    }

    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in try base.rows(batch) }
    }

    mutating func endSeries() throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in try base.endSeries() }
    }

    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        try CancellationCheck.suspended { () throws(DatabaseError) in
            try base.endStatement(error)
        }
    }
}
