// Parse speed of CSV and JSON files into batches, on one core and without a database. It includes
// the first pass over the file that infers types.

internal import CozDB
internal import CozImport
internal import Glibc

enum TableWorkload {
    /// - Parameter format: csv, annotated-csv, influx-csv, influx-json or ndjson.
    static func run(format: String, path: String, repeats: Int) throws(DatabaseError) {
        let formats: [InputFormat] = [.csv, .annotatedCSV, .influxCSV, .influxJSON, .ndjson]
        guard let format = formats.first(where: { $0.name == format }) else {
            throw DatabaseError(.usage, "no format \(format)")
        }
        var options = ImportOptions()
        if format.name == "csv" || format.name == "ndjson" { options.experiment = "bench" }
        options.settings.identity = .allTags
        options.precision = .milliseconds
        var best = Double.infinity
        var size = 0
        for _ in 0..<repeats {
            let start = Clock.now()
            let file = try InputFile(path: path)
            var (points, values, refused) = (0, 0, 0)
            var reader = try format.makeReader(options)
            try reader.begin(file)
            var batch = WriteBatch()
            var isFinished = false
            while !isFinished {
                isFinished = try reader.read(
                    file, into: &batch, limits: BatchLimits(points: 10_000, sizeBytes: 32 << 20))
                points += batch.rowCount
                values += batch.valueCount
                refused += batch.refusals.count
                batch.removeAll()
            }
            let seconds = Clock.now() - start
            size = file.decodedBytes
            best = min(best, seconds)
            let rate = Double(size) / seconds / 1e6
            print(
                "\(Int(rate)) MB/s, \(Int(Double(points) / seconds)) rows/s, "
                    + "\(Int(Double(values) / seconds)) values/s: "
                    + "\(points) points, \(values) values, \(refused) refused rows")
        }
        print("best: \(Int(Double(size) / best / 1e6)) MB/s")
    }
}
