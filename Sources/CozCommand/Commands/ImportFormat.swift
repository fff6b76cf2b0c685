// The formats that `cozdb import` reads.

internal import ArgumentParser

/// The values of `--format`. For `auto`, the first format that recognizes a file reads it. Line
/// protocol is last: it reads every file that no other format recognizes.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    case auto
    case cozieJSON = "cozie-json"
    case annotatedCSV = "annotated-csv"
    case influxCSV = "influx-csv"
    case influxJSON = "influx-json"
    case ndjson
    case cozieCSV = "cozie-csv"
    case beiwe
    case csv
    case lp
}
