// What embedding services do, with CozDB and with GRDB: `tasks` runs the code of docs/embedding.md,
// `payloads` measures a service's load with both in turn, `limits` what CozDB does with very many
// calls at once.

import CozDB
import Foundation
import GRDB
import ServiceLifecycle
import Synchronization

@main
struct Embedding {
    static func main() async throws {
        let words = CommandLine.arguments.dropFirst()
        let folder = NSTemporaryDirectory() + "embedding-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        switch words.first {
        case "tasks": try await runTasks(folder)
        case "payloads": try await PayloadLoad.run(folder, rounds: Int(words.last ?? "") ?? 3)
        case "limits": try await Limits.run(folder)
        default:
            print("usage: embedding tasks | payloads [ROUNDS] | limits")
            exit(64)
        }
    }

    /// Ends the group at once.
    private struct Ending: Service {
        func run() async throws {
            kill(getpid(), SIGTERM)
            try await gracefulShutdown()
        }
    }

    /// Runs each task with both, and compares what they answer.
    private static func runTasks(_ folder: String) async throws {
        let count = 1_000_000
        let file = folder + "/file.csv"
        let lines = (0..<1000).map { "\($0),p\($0 % 3),\($0 % 100)\n" }.joined()
        try Data(("time,id_participant,ts_heart_rate\n" + lines).utf8).write(
            to: URL(fileURLWithPath: file))
        let database = try await CozDBTasks.write(
            (0..<count).map {
                CozDBTasks.Sample(
                    time: Timestamp(nanoseconds: Int64($0)), id_participant: "p\($0 % 5)",
                    ts_heart_rate: Double($0 % 100))
            }, to: folder + "/cozdb")
        let pool = try await GRDBTasks.write(
            (0..<count).map {
                GRDBTasks.Sample(
                    time: Int64($0), id_participant: "p\($0 % 5)", ts_heart_rate: Double($0 % 100))
            }, to: folder + "/grdb")
        try await expect("read", CozDBTasks.read(database).count, GRDBTasks.read(pool).count)
        let since = Timestamp(nanoseconds: 500_000)
        try await expect(
            "bind", CozDBTasks.bind(database, participant: "p3", since: since).count,
            GRDBTasks.bind(pool, participant: "p3", since: since.nanoseconds).count)
        try await expect("stream", CozDBTasks.stream(database), GRDBTasks.stream(pool))
        let counts = Mutex((0, 0))
        try await CozDBTasks.observe(database) { count in
            counts.withLock { $0.0 = Int(count) }
            return false
        }
        try await GRDBTasks.observe(pool) { count in
            counts.withLock { $0.1 = count }
            return false
        }
        let (ours, theirs) = counts.withLock { $0 }
        expect("observe", ours, theirs)
        try await expect(
            "import", CozDBTasks.load(file, into: database), GRDBTasks.load(file, into: pool))
        try expect("test", CozDBTasks.test(), GRDBTasks.test())
        try await CozDBTasks.serve(folder + "/service", Ending())
        try await GRDBTasks.serve(pool, Ending())
        print("all tasks ran with both")
    }

    private static func expect<Value: Equatable>(_ task: String, _ ours: Value, _ theirs: Value) {
        guard ours == theirs else {
            print("\(task): CozDB \(ours), GRDB \(theirs)")
            exit(1)
        }
        print("\(task): \(ours)")
    }
}
