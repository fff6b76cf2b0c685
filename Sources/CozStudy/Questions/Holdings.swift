// What a study holds of whom: the answer of SHOW FIELDS, added up as it comes. Participants times
// fields are too many to keep.

internal import CozDB

/// What SHOW FIELDS says, for each participant and for each field.
struct Holdings: QueryResultSink {
    /// In the order of the answer.
    private(set) var participants: [ParticipantOverview] = []
    /// Values of each field, by its name; fields without any are left out.
    private(set) var counts: [[UInt8]: Int] = [:]

    private let surveyField: [UInt8]
    private let zone: TimeZoneRules
    private var participant = ""
    /// Positions of the columns that are read.
    private var columns = (name: 0, count: 0, first: 0, last: 0)
    private var first = Int64.max
    private var last = Int64.min
    private var fieldCount = 0
    private var valueCount = 0
    private var responseCount = 0

    /// Asks the statement; it groups by participant.
    init(
        _ snapshot: DatabaseSnapshot, _ statement: String, _ options: StudyOptions,
        _ zone: TimeZoneRules
    ) throws(DatabaseError) {
        surveyField = Array(options.surveyField.utf8)
        self.zone = zone
        try snapshot.query(statement, options: options.query, into: &self)
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
                // Clocks put back across midnight can show the earlier date later.
                days: firstDay...max(firstDay, zone.date(at: end)),
                fields: fieldCount, values: valueCount, responses: responseCount))
    }

    mutating func endStatement(_ error: DatabaseError?) throws(DatabaseError) {
        if let error { throw error }
    }
}
