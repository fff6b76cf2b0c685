// Many columns, each with a value in few rows; lists of many values: what is held and what is
// asked grows with what there is, not with the product.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

/// Counts the cells of batches.
private struct CellCounter: QueryResultSink {
    var cellsOfBatchMax = 0
    var rowCount = 0

    mutating func beginStatement(_ index: Int) throws(DatabaseError) {}
    mutating func beginSeries(_ series: ResultSeries) throws(DatabaseError) {}
    mutating func rows(_ batch: ResultBatch) throws(DatabaseError) {
        cellsOfBatchMax = max(cellsOfBatchMax, batch.count * batch.columns.count)
        rowCount += batch.count
    }
    mutating func endSeries() throws(DatabaseError) {}
    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {}
}

@Suite struct WideRowsTests {
    @Test func `a batch of sparse rows has a limited number of cells`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        let count = 1200
        var batch = WriteBatch()
        for row in 0..<count {
            try batch.add(
                experiment: "m", tags: ["id_participant": "p"],
                time: Timestamp(nanoseconds: Int64(row)), fields: ["f\(row)": .integer(1)])
        }
        _ = try database.write(batch)
        try database.flush()
        var counter = CellCounter()
        try database.query(
            "SELECT * FROM m", options: QueryOptions(now: Timestamp(nanoseconds: 0)),
            into: &counter)
        #expect(counter.rowCount == count)
        // Beside the columns counted there are the time and the tag.
        #expect(counter.cellsOfBatchMax <= 1 << 19)
    }

    @Test func `a list of values finds what comparing with each of them finds`() {
        let values: [FieldValue] = [
            .integer(1 << 53), .integer(7), .float(2.5), .float(0), .float(.nan), .string("a"),
            .boolean(true), .float(9_007_199_254_740_994),
        ]
        let set = ValueSet(values)
        let asked: [(FieldValue, Bool)] = [
            (.integer(1 << 53), true), (.integer(1 << 53 + 1), false), (.float(7), true),
            (.float(-0.0), true), (.integer(0), true), (.float(.nan), false), (.string("a"), true),
            (.string("b"), false), (.boolean(true), true), (.boolean(false), false),
            (.integer(2), false), (.integer(9_007_199_254_740_994), true),
            (.string("true"), false),
        ]
        for (value, isThere) in asked { #expect(set.contains(value) == isThere, "\(value)") }
    }
}
