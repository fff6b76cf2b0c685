// What a service with very many calls at once can rely on: tasks keep running beside writers,
// cancelled calls return soon, waiting writes and paused cursors cost little.

import CozDB
import Foundation
import Synchronization

enum Limits {
    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    static func run(_ folder: String) async throws {
        try await sleeps(folder + "/sleeps")
        try await pendingWrites(folder + "/pending")
        let database = try await largeDatabase(folder + "/large")
        try await cancellations(database)
        try await cursors(database)
        try await database.close()
    }

    private static func payload(_ writer: Int, _ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        let fields = PayloadLoad.fields.enumerated().map { ($1, FieldValue.float(Double($0))) }
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(writer)"],
            time: Timestamp(nanoseconds: Int64(number)),
            fields: Dictionary(uniqueKeysWithValues: fields))
        return batch
    }

    /// Prints the median, the 99th percentile and the most, in milliseconds.
    private static func show(_ title: String, _ seconds: [Double]) {
        let sorted = seconds.sorted()
        let figures = [0.5, 0.99, 1].map { share in
            let value = sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
            return (value * 1e5).rounded() / 100
        }
        print("\(title): p50 \(figures[0]) ms, p99 \(figures[1]) ms, most \(figures[2]) ms")
    }

    private static func status(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    /// A task that sleeps for 5 ms again and again, alone and beside 64 writers.
    private static func sleeps(_ path: String) async throws {
        let database = try await Database.open(path)
        let isOver = Flag()
        show("sleep of 5 ms alone, later by", try await oversleeping())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<64 {
                group.addTask {
                    var number = 0
                    while !isOver.isSet.withLock({ $0 }) {
                        number += 1
                        try await database.write(payload(writer, number))
                    }
                }
            }
            show("the same beside 64 writers, later by", try await oversleeping())
            isOver.isSet.withLock { $0 = true }
            try await group.waitForAll()
        }
        try await database.close()
    }

    private static func oversleeping() async throws -> [Double] {
        var late: [Double] = []
        for _ in 0..<400 {
            let start = PayloadLoad.now()
            try await Task.sleep(for: .milliseconds(5))
            late.append(PayloadLoad.now() - start - 0.005)
        }
        return late
    }

    /// 100,000 tasks that each write a payload, all at once.
    private static func pendingWrites(_ path: String) async throws {
        var options = DatabaseOptions()
        options.waitingCallCountMax = .max
        let database = try await Database.open(path, options: options)
        let before = try status("VmRSS")
        let start = PayloadLoad.now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100_000 {
                group.addTask { try await database.write(payload(number % 64, number)) }
            }
            try await group.waitForAll()
        }
        let seconds = (PayloadLoad.now() - start).rounded()
        let rows = try await database.info().experiments[0].rows
        print(
            "100,000 writes at once: \(rows) rows in \(seconds) s, peak memory "
                + "\((try status("VmHWM") - before) >> 10) MB more")
        try await database.close()
    }

    private static func largeDatabase(_ path: String) async throws -> Database {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 2
        let database = try await Database.open(path, options: options)
        for part in 0..<20 {
            let rows = (0..<100_000).map { row in
                CozDBTasks.Sample(
                    time: Timestamp(nanoseconds: Int64(part * 100_000 + row)),
                    id_participant: "p\(row % 7)", ts_heart_rate: Double(row % 1013))
            }
            try await database.write(rows, experiment: "dev")
        }
        try await database.flush()
        return database
    }

    /// The time from the cancellation of a query's task to its error.
    private static func cancellations(_ database: Database) async throws {
        let slow = "SELECT mode(ts_heart_rate), percentile(ts_heart_rate, 50) FROM dev"
        for (title, others) in [("running", 0), ("waiting", 2)] {
            var seconds: [Double] = []
            for round in 0..<200 {
                let blocking = (0..<others).map { _ in Task { try await database.query(slow) } }
                if others > 0 { try await Task.sleep(for: .milliseconds(2)) }
                let query = Task { () -> Double in
                    do {
                        _ = try await database.query(slow)
                        return .nan
                    } catch { return PayloadLoad.now() }
                }
                try await Task.sleep(for: .milliseconds(3 + round % 20))
                let start = PayloadLoad.now()
                query.cancel()
                let end = await query.value
                if !end.isNaN { seconds.append(end - start) }
                for task in blocking { task.cancel() }
                for task in blocking { _ = await task.result }
            }
            show("cancelling a \(title) query (\(seconds.count) times)", seconds)
        }
    }

    /// 200 cursors that nobody reads.
    private static func cursors(_ database: Database) async throws {
        let (before, threads) = (try status("VmRSS"), try status("Threads"))
        var cursors: [QueryCursor] = []
        for _ in 0..<200 {
            cursors.append(try await database.cursor("SELECT ts_heart_rate FROM dev"))
        }
        for cursor in cursors { _ = try await cursor.next() }
        try await Task.sleep(for: .seconds(2))
        print(
            "200 open cursors: \(try status("Threads") - threads) threads and "
                + "\((try status("VmRSS") - before) >> 10) MB more")
        for cursor in cursors { cursor.cancel() }
    }
}
