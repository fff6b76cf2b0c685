// A very large number of participants with one row each: cost of the import, and of a query for one
// of them.

internal import CozDB
internal import CozImport

enum SeriesWorkload {
    /// - Parameter directory: Where the file and the database are created.
    static func run(directory: String, count: Int) throws(DatabaseError) {
        let path = "\(directory)/series.lp"
        try write(path, count: count)
        let run = try CommandRun.ofWorkload("import", path, "\(directory)/series.cozdb")
        let database = try Database.open("\(directory)/series.cozdb", access: .readOnly)
        let info = try database.info()
        let rows = max(1, info.experiments.reduce(0) { $0 + $1.rows })
        print(
            "import              \(count) series in \(digits(run.seconds)) s, "
                + "\(digits(run.cpuTime)) s of processor")
        print("peak memory         \(run.peakSizeBytes / 1_000_000) MB")
        print(
            "on disk             \(info.diskBytes) bytes, "
                + "\(digits(Double(info.diskBytes) / Double(rows))) a row")
        let text = "SELECT ts_heart_rate FROM demo WHERE id_participant = '\(name(count / 2))'"
        var times = Durations()
        for _ in 0..<20 {
            let start = Clock.now()
            let result = try database.query(text)
            times.append(Clock.now() - start)
            let rows = result.series.reduce(0) { $0 + $1.rowCount }
            guard rows == 1 else { throw DatabaseError(.io, "found \(rows) rows, expected one") }
        }
        print(
            "one of them         first \(digits(times.first * 1e3)) ms, then median "
                + "\(digits(times.median * 1e3)) ms")
    }

    private static func name(_ number: Int) -> String {
        "p" + String(10_000_000 + number).dropFirst()
    }

    private static func write(_ path: String, count: Int) throws(DatabaseError) {
        let output = try OutputFile(path)
        for number in 0..<count {
            try output.append(
                "demo,id_participant=\(name(number)) ts_heart_rate=\(50 + number % 60)i,"
                    + "transmit_trigger=\"background_task\" \(1_709_280_000 + number)000000000\n")
        }
        try output.flush()
    }
}
