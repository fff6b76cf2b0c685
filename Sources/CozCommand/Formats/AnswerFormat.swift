// What people choose from for answers: the form, and the unit of times.

internal import ArgumentParser
internal import CozDB
internal import CozImport

/// `--format` of queries.
enum AnswerFormat: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json, ndjson, lp
    case influxJSON = "influx-json"
}

/// `--precision` and `--epoch`: units of times that are whole numbers.
enum TimeUnit: String, CaseIterable, ExpressibleByArgument {
    case ns, us, ms, s, m, h

    var unit: TimestampPrecision { TimestampPrecision(name: rawValue) ?? .nanoseconds }
    var nanoseconds: Int64 { unit.nanoseconds }

    /// Also InfluxDB's short names `n` and `u`.
    init?(argument: String) {
        self.init(rawValue: ["n": "ns", "u": "us"][argument] ?? argument)
    }
}
