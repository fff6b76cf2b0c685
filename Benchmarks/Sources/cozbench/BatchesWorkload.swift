// What a service sees that sends batches and waits for each: rows a second that are durable.

internal import CozDB

enum BatchesWorkload {
    /// Batches are made before the clock runs, each row of them once; segments are written and
    /// merged in between as they always are.
    ///
    /// - Parameters:
    ///   - directory: of the new database; on the disk that is to be measured.
    ///   - rows: of a batch.
    static func run(directory: String, rows: Int, count: Int) throws(DatabaseError) {
        var random = SplitMix(state: 1)
        var batches: [WriteBatch] = []
        for number in 0..<count {
            batches.append(try SessionsWorkload.delivery(number, rows: rows, &random))
        }
        let database = try Database.open(directory)
        var times = Durations()
        let start = Clock.now()
        let startOfProcessor = Clock.processor()
        for batch in batches {
            let begin = Clock.now()
            _ = try database.write(batch)
            times.append(Clock.now() - begin)
        }
        let elapsed = Clock.now() - start
        let processor = Clock.processor() - startOfProcessor
        try database.close()
        let total = Double(rows * count)
        print(
            "\(count) batches of \(rows) rows: \(Int(total / elapsed)) rows/s acknowledged, "
                + "median \(digits(times.median * 1e3)) ms, "
                + "\(Int(total / processor)) rows/s of processor time")
    }
}
