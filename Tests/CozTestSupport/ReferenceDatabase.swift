// The naive database that the engine is compared with: a dictionary of dictionaries.

public import CozDB

/// Rows by (experiment, series, time), each a dictionary of values; the later write wins.
public struct ReferenceDatabase {
    /// What makes a row.
    public struct RowKey: Hashable {
        public var experiment: String
        public var participant: String
        public var time: Int64

        public init(experiment: String, participant: String, time: Int64) {
            self.experiment = experiment
            self.participant = participant
            self.time = time
        }
    }

    public private(set) var rows: [RowKey: [String: FieldValue]] = [:]

    public init() {}

    /// Merges a point; the caller has made sure that its types are the locked ones.
    public mutating func write(
        experiment: String, participant: String, time: Int64, fields: [String: FieldValue]
    ) {
        let key = RowKey(experiment: experiment, participant: participant, time: time)
        rows[key, default: [:]].merge(fields) { $1 }
    }

    /// The rows of a series in a range, by time.
    public func series(
        _ experiment: String, _ participant: String, in range: Range<Int64>
    ) -> [(time: Int64, fields: [String: FieldValue])] {
        rows.filter {
            $0.key.experiment == experiment && $0.key.participant == participant
                && range.contains($0.key.time)
        }
        .map { (time: $0.key.time, fields: $0.value) }
        .sorted { $0.time < $1.time }
    }

    /// Removes rows, or the named fields of rows; a row goes with its last field.
    ///
    /// - Returns: how many rows and values went.
    @discardableResult
    public mutating func delete(
        fields: [String] = [], where isMeant: (RowKey, [String: FieldValue]) -> Bool
    ) -> (rows: Int, values: Int) {
        var gone = (rows: 0, values: 0)
        for (key, row) in rows where isMeant(key, row) {
            let left = fields.isEmpty ? [:] : row.filter { !fields.contains($0.key) }
            gone.values += row.count - left.count
            if left.isEmpty { gone.rows += 1 }
            rows[key] = left.isEmpty ? nil : left
        }
        return gone
    }
}
