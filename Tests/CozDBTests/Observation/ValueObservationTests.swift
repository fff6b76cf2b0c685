// Answers that follow the commits, in the process that writes and beside it.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB

@Suite(.timeLimit(.minutes(3))) struct ValueObservationTests {
    private let folder = TemporaryDirectory()

    private static func write(_ database: Database, _ experiment: String, _ time: Int64) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: experiment, tags: ["id_participant": "p\(time % 7)"],
            time: Timestamp(nanoseconds: time), fields: ["x": .integer(time)])
        _ = try database.write(batch)
    }

    private static func count(_ result: QueryResult) -> Int64 {
        result.series.first?.column("count")?.integers.first.flatMap(\.self) ?? 0
    }

    /// Observes a count while four tasks write, until it is complete.
    private func expectGrowth(
        of statement: String, to total: Int64, writing: Database, observing: Database
    ) async throws {
        let counts = try observing.values(of: statement)
        let observed = Task { () throws -> [Int64] in
            var found: [Int64] = []
            for try await result in counts {
                found.append(Self.count(result))
                if found.last == total { break }
            }
            return found
        }
        try await withThrowingTaskGroup { group in
            for worker in 0..<4 {
                group.addTask {
                    for number in 0..<(total / 4) {
                        try Self.write(writing, "dev", Int64(worker) * 1_000_000 + number)
                        if number % 25 == 0 { try Self.write(writing, "other", number) }
                        if number % 50 == 0 { await Task.yield() }
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = try await observed.value
        #expect(found.last == total)
        #expect(found == found.sorted(), "an answer was older than the one before it")
    }

    @Test func `answers follow the commits of this process and are never older`() async throws {
        let database = try await Database.open(folder.path)
        for statement in [
            "SELECT count(x) FROM dev", "SELECT count(x) FROM /^dev$/",
            "SELECT count(x) FROM (SELECT x FROM dev)",
        ] {
            _ = try? await database.drop(experiment: "dev")
            try Self.write(database, "dev", 0)
            try await expectGrowth(
                of: statement, to: 400, writing: database, observing: database)
        }
    }

    @Test func `answers follow the commits of a writer beside`() async throws {
        let writer = try await Database.open(folder.path)
        try Self.write(writer, "dev", 0)
        let reader = try await Database.open(folder.path, access: .readOnly)
        try await expectGrowth(
            of: "SELECT count(x) FROM dev", to: 400, writing: writer, observing: reader)
        try await reader.close()
        var late = try writer.values(of: "SELECT count(x) FROM dev").makeAsyncIterator()
        #expect(try await late.next().map(Self.count) == 400)
    }

    @Test func `a reader hears of commits, deletions and the end`() async throws {
        let writer = try await Database.open(folder.path)
        try Self.write(writer, "dev", 0)
        let reader = try await Database.open(folder.path, access: .readOnly)
        let changes = try reader.commits(of: "dev")
        var iterator = changes.makeAsyncIterator()
        try Self.write(writer, "dev", 1)
        let change = try #require(try await iterator.next())
        #expect(change.sequence == 2 && change.experiments == nil && change.participants == nil)
        #expect(change.times == .all)
        try await writer.delete(experiment: "dev", in: TimeRange(lower: 0, upper: 1))
        #expect(try await iterator.next()?.sequence == 2)
        let waiting = Task { () throws(DatabaseError) in
            var iterator = changes.makeAsyncIterator()
            return try await iterator.next()
        }
        try await reader.close()
        #expect(try await waiting.value == nil)
        #expect(throws: DatabaseError.self) { _ = try reader.commits() }
    }

    @Test func `a reader hears of commits before their sync`() async throws {
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 600_000)
        let writer = try await Database.open(folder.path, options: options)
        try Self.write(writer, "dev", 0)
        let reader = try await Database.open(folder.path, access: .readOnly)
        var counts = try reader.values(of: "SELECT count(x) FROM dev").makeAsyncIterator()
        #expect(try await counts.next().map(Self.count) == 1)
        try Self.write(writer, "dev", 1)
        #expect(try await counts.next().map(Self.count) == 2)
    }

    /// Times of change that stand still, as between the ticks of a kernel's clock.
    private final class StoppedClock: ReadingDirectory {
        let directory: any Directory

        init(_ system: FaultyFileSystem) throws {
            directory = try system.openDirectory("db", create: false, access: .ownerOnly)
        }

        func open(_ name: String, writable: Bool) throws(FileError) -> any File {
            try directory.open(name, writable: writable)
        }

        func isUnchanged(_ name: String, since file: any File) -> Bool {
            FileName(name) == .manifest ? directory.isUnchanged(name, since: file) : true
        }
    }

    @Test func `a reader hears of a commit at the time of its own beginning`() async throws {
        let system = FaultyFileSystem()
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 60_000)
        let writer = try Database.open("db", access: .readWrite, options: options, on: system)
        try Self.write(writer, "dev", 1)
        let directory = try StoppedClock(system)
        let reader = Database(.reader(try LiveReader(directory)), DatabaseOptions())
        var changes = try reader.commits().makeAsyncIterator()
        var answers = try reader.values(of: "SELECT count(x) FROM dev").makeAsyncIterator()
        #expect(try await answers.next().map(Self.count) == 1)
        try Self.write(writer, "dev", 2)
        #expect(try await changes.next()?.sequence == 2)
        #expect(try await answers.next().map(Self.count) == 2)
        try await writer.close()
    }

    @Test func `a reader that is cancelled loses no change`() async throws {
        let writer = try await Database.open(folder.path)
        try Self.write(writer, "dev", 0)
        let reader = try await Database.open(folder.path, access: .readOnly)
        let changes = try reader.commits(of: "dev")
        for number in 1...5 {
            let waiting = Task { () async throws(DatabaseError) in
                var iterator = changes.makeAsyncIterator()
                return try await iterator.next()
            }
            try Self.write(writer, "dev", Int64(number))
            waiting.cancel()
            let early = try await waiting.value
            var iterator = changes.makeAsyncIterator()
            var last = early?.sequence
            while last != UInt64(number) + 1 { last = try await iterator.next()?.sequence }
        }
    }

    @Test func `a change of another experiment asks nothing again`() async throws {
        let database = try await Database.open(folder.path)
        try Self.write(database, "dev", 0)
        var counts = try database.values(of: "SELECT count(x) FROM dev").makeAsyncIterator()
        #expect(try await counts.next().map(Self.count) == 1)
        for number in 1...50 {
            let next = Task { [counts] () throws(DatabaseError) in
                var counts = counts
                return try await counts.next()
            }
            for _ in 0..<50 { await Task.yield() }
            try Self.write(database, "other", Int64(number))
            for _ in 0..<50 { await Task.yield() }
            try Self.write(database, "dev", Int64(number))
            #expect(try await next.value.map(Self.count) == Int64(number) + 1)
        }
    }

    @Test func `an error of the statement ends the answers`() async throws {
        let database = try await Database.open(folder.path)
        var answers = try database.values(of: "SELECT FROM").makeAsyncIterator()
        let error = await #expect(throws: DatabaseError.self) { try await answers.next() }
        #expect(error?.kind == .usage)
        var changing = try database.values(of: "DROP MEASUREMENT dev").makeAsyncIterator()
        await #expect(throws: DatabaseError.self) { try await changing.next() }
        try await database.close()
        var closed = try? database.values(of: "SHOW MEASUREMENTS").makeAsyncIterator()
        #expect(try await closed?.next() == nil)
    }

    @Test func `without data the answer is an error, or empty as in InfluxDB`() async throws {
        let database = try await Database.open(folder.path)
        let statement = "SELECT count(x) FROM dev"
        var unknown = try database.values(of: statement).makeAsyncIterator()
        let error = await #expect(throws: DatabaseError.self) { try await unknown.next() }
        #expect(error?.kind == .notFound)
        var options = QueryOptions()
        options.influxCompatible = true
        var compatible = try database.values(of: statement, options: options).makeAsyncIterator()
        #expect(try await compatible.next()?.series.isEmpty == true)
        try Self.write(database, "dev", 1)
        while let result = try await compatible.next(), Self.count(result) != 1 {}
        try await database.close()
    }
}
