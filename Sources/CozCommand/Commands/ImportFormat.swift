// The formats that `cozdb import` reads.

internal import ArgumentParser

/// As `--format` takes them. Where none is named, the first of them that recognises a file reads
/// it; line protocol, the last, recognises nothing and takes what is left.
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
