// Durable batches from one client that waits for each: acknowledged rows per second.

internal import CozDB

enum BatchesWorkload {
    /// Builds all batches before the clock starts, each row once. Flushes and compactions run in
    /// between, as usual.
    ///
    /// - Parameters:
    ///   - directory: Path of the new database, on the disk to measure.
    ///   - rows: Rows per batch.
    static func run(directory: String, rows: Int, count: Int) throws(DatabaseError) {
        var random = SplitMix(state: 1)
        var batches: [WriteBatch] = []
        for number in 0..<count {
            batches.append(try SessionsWorkload.delivery(number, rows: rows, &random))
        }
        let database = try Database.open(directory)
        var times = Durations()
        let start = Clock.now()
        let cpuStart = Clock.processor()
        for batch in batches {
            let begin = Clock.now()
            _ = try database.write(batch)
            times.append(Clock.now() - begin)
        }
        let elapsed = Clock.now() - start
        let processor = Clock.processor() - cpuStart
        try database.close()
        let total = Double(rows * count)
        print(
            "\(count) batches of \(rows) rows: \(Int(total / elapsed)) rows/s acknowledged, "
                + "median \(digits(times.median * 1e3)) ms, "
                + "\(Int(total / processor)) rows/s of processor time")
    }
}
