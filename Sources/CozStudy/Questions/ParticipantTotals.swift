// The data of each participant: aggregates the result of SHOW FIELDS while it streams. Participants
// times fields would be too many rows to keep.

internal import CozDB

/// Totals per participant and per field, from a SHOW FIELDS statement.
struct ParticipantTotals: QueryResultSink {
    /// In result order.
    private(set) var participants: [ParticipantOverview] = []
    /// The number of values by field name, without empty fields.
    private(set) var counts: [[UInt8]: Int] = [:]

    private let surveyField: [UInt8]
    private let zone: TimeZoneRules
    private var participant = ""
    /// The positions of the columns in the result.
    private var columns = (name: 0, count: 0, first: 0, last: 0)
    private var first = Int64.max
    private var last = Int64.min
    private var fieldCount = 0
    private var valueCount = 0
    private var responseCount = 0

    /// Runs the statement, which must group by participant.
    init(
        _ snapshot: DatabaseSnapshot, _ statement: String, _ options: StudyOptions,
        _ zone: TimeZoneRules
    ) throws(DatabaseError) {
        surveyField = Array(options.surveyField.utf8)
        self.zone = zone
        var query = options.query
        query.omitsEmptyFields = true
        query.isGenerated = true
        try snapshot.query(statement, options: query, into: &self)
    }

    mutating func beginStatement(_ index: Int) {}

    mutating func beginSeries(_ series: ResultSeries) {
        participant = series.tags.first?.value ?? ""
        let names = series.columns.map(\.name)
        let position = { (name: String) in names.firstIndex(of: name) ?? 0 }
        columns = (position("fieldKey"), position("count"), position("first"), position("last"))
        (first, last) = (.max, .min)
        (fieldCount, valueCount, responseCount) = (0, 0, 0)
    }

    mutating func rows(_ batch: ResultBatch) {
        let values = batch.columns[columns.count]
        for row in 0..<batch.count where values.bits(row) > 0 {
            let count = Int(values.bits(row))
            let name = batch.columns[columns.name].withText(row) { text in
                (0..<text.count).map { text[$0] }
            }
            counts[name, default: 0] += count
            first = min(first, Int64(bitPattern: batch.columns[columns.first].bits(row)))
            last = max(last, Int64(bitPattern: batch.columns[columns.last].bits(row)))
            fieldCount += 1
            valueCount += count
            if name == surveyField { responseCount = count }
        }
    }

    mutating func endSeries() {
        guard fieldCount > 0 else { return }
        let (start, end) = (Timestamp(nanoseconds: first), Timestamp(nanoseconds: last))
        let firstDay = zone.date(at: start)
        participants.append(
            ParticipantOverview(
                participant: participant, first: start, last: end,
                // After clocks are set back across midnight, a later time can have an earlier date.
                days: firstDay...max(firstDay, zone.date(at: end)),
                fields: fieldCount, values: valueCount, responses: responseCount))
    }

    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if let error { throw error }
    }
}
