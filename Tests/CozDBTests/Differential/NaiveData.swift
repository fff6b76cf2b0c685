// The data of the naive executor: rows as dictionaries. Nothing here is fast, everything obvious.

internal import CozTestSupport

@testable internal import CozDB

/// Bytes that compare as bytes: Swift's strings compare by what they look like.
struct NaiveKey: Hashable, Comparable {
    var parts: [[UInt8]]

    init(_ texts: [String]) { parts = texts.map { Array($0.utf8) } }

    static func < (left: NaiveKey, right: NaiveKey) -> Bool {
        for (a, b) in zip(left.parts, right.parts) where a != b {
            return a.lexicographicallyPrecedes(b)
        }
        return left.parts.count < right.parts.count
    }
}

/// One row: what was stored, or what a subquery answered.
struct NaiveRow {
    var time: Int64
    /// Tags and attributes; of a subquery's row the tags it groups by. None is empty.
    var tags: [String: String]
    var values: [String: FieldValue]
}

/// Rows of one series, by ascending time.
struct NaiveSeries {
    /// The experiment.
    var name: String
    var rows: [NaiveRow]
}

/// One item of FROM.
struct NaiveTable {
    var fields: [String: FieldType]
    /// Names that mean a tag in SELECT and WHERE.
    var tags: Set<String>
    /// Names that mean a tag in GROUP BY.
    var groupTags: Set<String>
    /// Of `fields`, those with which a subquery shows tags.
    var selectedTags: Set<String> = []
    var isSubquery = false
    /// The calls that read a subquery: those that need this number of buckets before the range.
    var extraBuckets: Int64 = 0
    /// In series order.
    var series: [NaiveSeries] = []
}

/// Everything that was written, and what it means.
struct NaiveDatabase {
    struct Experiment {
        var name: String
        /// Nil: every tag.
        var identity: [String]?
        var fields: [String: FieldType] = [:]
        var tags: Set<String> = []
        /// By the identity tags (names and values, sorted by name), then by time.
        var series: [NaiveKey: [Int64: NaiveRow]] = [:]
    }

    private(set) var experiments: [Experiment] = []

    /// Merges a point; the caller has made sure that its types are the locked ones.
    mutating func write(
        _ name: String, identity: [String]?, tags: [String: String], time: Int64,
        fields: [String: FieldValue]
    ) {
        var index = experiments.firstIndex { $0.name == name }
        if index == nil {
            experiments.append(Experiment(name: name, identity: identity))
            index = experiments.count - 1
        }
        guard let index else { return }
        for (field, value) in fields { experiments[index].fields[field] = value.type }
        experiments[index].tags.formUnion(tags.keys)
        let names = tags.keys.filter { identity?.contains($0) ?? true }
            .sorted { NaiveKey([$0]) < NaiveKey([$1]) }
        let key = NaiveKey(names.flatMap { [$0, tags[$0] ?? ""] })
        var row =
            experiments[index].series[key]?[time] ?? NaiveRow(time: time, tags: [:], values: [:])
        row.tags.merge(tags) { $1 }
        row.values.merge(fields) { $1 }
        experiments[index].series[key, default: [:]][time] = row
    }

    func table(_ experiment: Experiment) -> NaiveTable {
        var table = NaiveTable(
            fields: experiment.fields, tags: experiment.tags, groupTags: experiment.tags)
        for key in experiment.series.keys.sorted() {
            let rows = (experiment.series[key] ?? [:]).values.sorted { $0.time < $1.time }
            table.series.append(NaiveSeries(name: experiment.name, rows: rows))
        }
        return table
    }
}

/// One series of an answer.
struct NaiveAnswer {
    var name: String
    var tags: [(name: String, value: String)]
    var columns: [String]
    var rows: [(time: Int64, values: [FieldValue?])]
}
