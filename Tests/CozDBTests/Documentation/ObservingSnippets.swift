// The code of the article Observing, which DocumentationTests compares with the article.

internal import CozDB
internal import CozTestSupport
internal import Synchronization
internal import Testing

/// Stands for what a service does with a change.
private final class Alarm: Sendable {
    let checked = Mutex<[Set<String>?]>([])

    func check(_ participants: Set<String>?, from time: Int64) {
        checked.withLock { $0.append(participants) }
    }
}

/// Stands for what a service does with an answer.
private final class Dashboard: Sendable {
    let shown = Mutex<[Int64?]>([])

    func show(_ count: Int64?) { shown.withLock { $0.append(count) } }
}

struct ObservingSnippets {
    private static func write(_ database: Database, _ time: Int64) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"],
            time: Timestamp(nanoseconds: time), fields: ["q_mood": "good"])
        _ = try database.write(batch)
    }

    @Test func `the article's alarm hears of commits`() async throws {
        let folder = TemporaryDirectory()
        let database = try await Database.open(folder.path)
        let alarm = Alarm()
        let task = Task {
            // Snippet: Follow the commits
            for try await change in try database.commits(of: "dev") {
                alarm.check(change.participants, from: change.times.lower)
            }
            // End of snippet
        }
        var time: Int64 = 0
        while alarm.checked.withLock({ $0.isEmpty }) {
            time += 1
            try Self.write(database, time)
            await Task.yield()
        }
        try await database.close()
        try await task.value
        #expect(alarm.checked.withLock { $0.first } == ["p01"])
    }

    @Test func `the article's dashboard is up to date`() async throws {
        let folder = TemporaryDirectory()
        let database = try await Database.open(folder.path)
        try Self.write(database, 1)
        let dashboard = Dashboard()
        let task = Task {
            // Snippet: Keep an answer up to date
            let counts = try database.values(
                of: "SELECT count(q_mood) FROM dev WHERE id_participant = $who",
                parameters: ["who": "p01"])
            for try await result in counts {
                dashboard.show(result.series.first?.column("count")?.integers.first ?? nil)
            }
            // End of snippet
        }
        while dashboard.shown.withLock({ $0.isEmpty }) { await Task.yield() }
        for time in 2...5 { try Self.write(database, Int64(time)) }
        while dashboard.shown.withLock({ $0.last }) != 5 { await Task.yield() }
        task.cancel()
        try await task.value
        try await database.close()
        #expect(dashboard.shown.withLock { $0.first } == 1)
    }
}
