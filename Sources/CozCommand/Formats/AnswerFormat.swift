// The formats and time units that users can choose for answers.

internal import ArgumentParser
internal import CozDB
internal import CozImport

/// The values of `--format` for queries.
enum AnswerFormat: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json, ndjson, lp
    case influxJSON = "influx-json"
}

/// The values of `--precision` and `--epoch`: units of integer times.
enum TimeUnit: String, CaseIterable, ExpressibleByArgument {
    case ns, us, ms, s, m, h

    var unit: TimestampPrecision { TimestampPrecision(name: rawValue) ?? .nanoseconds }
    var nanoseconds: Int64 { unit.nanoseconds }

    /// Also accepts InfluxDB's short names `n` and `u`.
    init?(argument: String) {
        self.init(rawValue: ["n": "ns", "u": "us"][argument] ?? argument)
    }
}
