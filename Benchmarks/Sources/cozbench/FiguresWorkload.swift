// The figures in docs/performance.md: import speed, size, memory and start-up time of the command.

internal import CozDB
internal import Glibc

enum FiguresWorkload {
    /// Imports a file into a new database with the release build of the command, then queries it.
    ///
    /// - Parameters:
    ///   - command: Path of a release build of `cozdb`.
    ///   - directory: Where the databases are created; they are kept for inspection.
    static func run(
        command: String, file: String, directory: String, repeats: Int
    ) throws(DatabaseError) {
        let size = try fileSize(file)
        var imports: [CommandRun] = []
        var database = ""
        for number in 1...repeats {
            database = "\(directory)/figures-\(getpid())-\(number).cozdb"
            let run = try CommandRun(command, ["import", "--db", database, file])
            guard run.status == 0 || run.status == 7 else {
                throw DatabaseError(.io, "the import ended with status \(run.status)")
            }
            imports.append(run)
        }
        let seconds = median(imports.map(\.seconds))
        let peak = imports.map(\.peakSizeBytes).max() ?? 0
        let info = try Database.open(database, access: .readOnly).info()
        let rows = info.experiments.reduce(0) { $0 + $1.rows }
        let values = info.experiments.reduce(0) { $0 + $1.values }
        print("file                 \(size / 1_000_000) MB")
        print("import               \(tenths(Double(size) / seconds / 1e6)) MB/s, whole command")
        print("                     \(Int(Double(rows) / seconds)) distinct rows/s")
        print("peak memory          \(peak / 1_000_000) MB")
        print("rows, values         \(rows), \(values)")
        print("on disk              \(info.diskBytes) bytes")
        let perValue = Double(info.diskBytes) / Double(max(values, 1))
        print("bytes per value      \(hundredths(perValue))")
        try startUp(command, database, info)
    }

    private static func startUp(
        _ command: String, _ database: String, _ info: DatabaseInfo
    ) throws(DatabaseError) {
        guard let experiment = info.experiments.first?.name else { return }
        let name = experiment.contains("\"") ? "" : experiment
        let query = "SHOW FIELD KEYS FROM \"\(name)\" LIMIT 1"
        var runs: [Double] = []
        for _ in 0..<50 {
            runs.append(try CommandRun(command, ["query", "--db", database, query]).seconds)
        }
        runs.sort()
        let least = hundredths(runs[0] * 1000)
        let middle = hundredths(median(runs) * 1000)
        print("cozdb query          \(least) ms least, \(middle) ms median")
    }

    private static func fileSize(_ path: String) throws(DatabaseError) -> Int {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw DatabaseError(.notFound, "cannot read the file", file: path)
        }
        return Int(status.st_size)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }

    private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
