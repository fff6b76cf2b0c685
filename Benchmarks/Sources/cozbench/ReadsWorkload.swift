// Latency of small queries alone and while many threads commit rows, as in a service, and the cost
// of a cursor that stays open.

internal import CozDB
internal import Glibc
internal import Synchronization

enum ReadsWorkload {
    private static let seconds = 3.0
    private static let rowsOfSeries = 2000

    static func run(directory: String, threads: Int) throws(DatabaseError) {
        let path = "\(directory)/reads-\(getpid()).cozdb"
        let database = try Database.open(path)
        try fill(database, series: threads)
        print("a query for the last value of one of \(threads) participants:")
        line("nobody writes", read(database, until: Clock.now() + seconds))
        let end = Clock.now() + seconds
        let times = Mutex(Durations())
        let commits = Atomic(0)
        SystemThreads.run(threads + 1) { number in
            if number == threads {
                let own = read(database, until: end)
                times.withLock { $0 = own }
            } else {
                let count = write(database, series: number, until: end)
                commits.add(count, ordering: .relaxed)
            }
        }
        line("\(threads) threads write", times.withLock { $0 })
        print("  meanwhile \(Int(Double(commits.load(ordering: .relaxed)) / seconds)) commits/s")
        try leaveOpen(database, count: 100)
        try database.close()
    }

    private static func line(_ name: String, _ times: Durations) {
        print(
            "  \(name.padded(to: 20))median \(digits(times.median * 1e6)) us"
                + "   99 % \(digits(times.part(0.99) * 1e6)) us   \(times.count) queries")
    }

    /// Writes rows for each participant, one per minute, and flushes them to segments.
    private static func fill(_ database: Database, series: Int) throws(DatabaseError) {
        for number in 0..<series {
            var batch = WriteBatch()
            for row in 0..<rowsOfSeries {
                append(to: &batch, series: number, time: 1_600_000_000 + Int64(row) * 60)
            }
            _ = try database.write(batch)
        }
        try database.flush()
    }

    private static func append(to batch: inout WriteBatch, series: Int, time: Int64) {
        let experiment = batch.experiment(name.span)
        let participant = Array("p\(series)".utf8)
        batch.beginTagSet(experiment: experiment)
        batch.addTag(name: tag.span, value: participant.span)
        let tagSet = batch.endTagSet()
        let column = batch.column(experiment: experiment, name: field.span, type: .float)
        batch.append(Double(60 + time % 40), to: column)
        batch.endRow(tagSet: tagSet, time: time * 1_000_000_000, line: 0)
    }

    private static let name = Array("bench".utf8)
    private static let tag = Array("id_participant".utf8)
    private static let field = Array("ts_heart_rate".utf8)

    private static func read(_ database: Database, until end: Double) -> Durations {
        var times = Durations()
        var now = Clock.now()
        while now < end {
            do {
                let answer = try database.query(
                    "SELECT last(ts_heart_rate) FROM bench WHERE id_participant = 'p7'")
                guard answer.series.first?.rowCount == 1 else { fatalError("no answer") }
            } catch {
                fatalError("\(error)")
            }
            let then = Clock.now()
            times.append(then - now)
            now = then
        }
        return times
    }

    /// Commits one row after the other until `end` and returns how many.
    private static func write(_ database: Database, series: Int, until end: Double) -> Int {
        var count = 0
        var batch = WriteBatch()
        while Clock.now() < end {
            batch.removeAll()
            append(to: &batch, series: series, time: 1_700_000_000 + Int64(count))
            do {
                _ = try database.write(batch)
            } catch {
                fatalError("\(error)")
            }
            count += 1
        }
        return count
    }

    // MARK: Open cursors

    private static func leaveOpen(_ database: Database, count: Int) throws(DatabaseError) {
        for (name, text) in [
            (
                "short answers",
                "SELECT ts_heart_rate FROM bench WHERE id_participant = 'p7' LIMIT 100"
            ),
            ("long answers", "SELECT ts_heart_rate, id_participant FROM bench"),
        ] {
            let before = try ProcessCosts.now()
            var cursors: [QueryCursor] = []
            for _ in 0..<count {
                let cursor = try database.cursor(text)
                _ = try cursor.next()
                cursors.append(cursor)
            }
            usleep(300_000)
            let after = try ProcessCosts.now()
            print(
                "\(count) open cursors with \(name): "
                    + "\((after.kilobytes - before.kilobytes) / count) KiB each, "
                    + "\(after.threads - before.threads) threads")
            for cursor in cursors { cursor.cancel() }
        }
    }
}
