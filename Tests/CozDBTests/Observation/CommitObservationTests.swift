// What observers of a database learn about its commits.

internal import CozDB
internal import CozTestSupport
internal import Testing

struct CommitObservationTests {
    private let folder = TemporaryDirectory()
    private let database: Database

    init() throws {
        database = try Database.open(folder.path)
    }

    private func write(
        _ experiment: String, _ participant: String, _ times: ClosedRange<Int64>
    ) throws {
        var batch = WriteBatch()
        for time in times {
            try batch.add(
                experiment: experiment, tags: ["id_participant": participant],
                time: Timestamp(nanoseconds: time), fields: ["x": .integer(time)])
        }
        _ = try database.write(batch)
    }

    @Test func `a change says what was written, of one experiment or all`() async throws {
        var dev = try database.commits(of: "dev").makeAsyncIterator()
        var all = try database.commits().makeAsyncIterator()
        try write("other", "p9", 100...101)
        try write("dev", "p1", 5...9)
        let change = try #require(try await dev.next())
        #expect(change.experiments == ["dev"] && change.participants == ["p1"])
        #expect(change.times == TimeRange(lower: 5, upper: 10))
        #expect(change.sequence == 2)
        let both = try #require(try await all.next())
        #expect(both.experiments == ["dev", "other"] && both.participants == ["p1", "p9"])
        #expect(both.times == TimeRange(lower: 5, upper: 102))
    }

    /// Writes a row of an experiment and returns the participants of the change.
    private func participants(
        _ identity: Identity, _ experiment: String, _ tags: [String: String]
    ) async throws -> Set<String>? {
        var batch = WriteBatch()
        batch.settings.identity = identity
        try batch.add(
            experiment: experiment, tags: tags, time: Timestamp(nanoseconds: 1), fields: ["x": 1])
        var changes = try database.commits().makeAsyncIterator()
        _ = try await database.write(batch)
        return try #require(await changes.next()).participants
    }

    @Test func `a participant is one whatever tag names it`() async throws {
        let who = try await participants(.participant(tag: "who"), "whose", ["who": "p1"])
        #expect(who == ["p1"])
        let both = ["who": "p1", "id_participant": "p2"]
        #expect(try await participants(.allTags, "all", both) == ["p1", "p2"])
    }

    @Test func `a row that may have named another participant names any`() async throws {
        _ = try await participants(.participant(tag: "who"), "whose", ["who": "w"])
        let rooms = Identity.tags(["room"])
        for tag in ["id_participant", "who"] {
            _ = try await participants(rooms, "rooms \(tag)", ["room": "a", tag: "p1"])
            // p1 loses the row, or its value in it.
            for tags in [["room": "a"], ["room": "a", tag: "p2"]] {
                #expect(try await participants(rooms, "rooms \(tag)", tags) == nil, "\(tags)")
            }
        }
        let named = try await participants(
            .tags(["id_participant", "room"]), "keyed", ["room": "a", "id_participant": "p1"])
        #expect(named == ["p1"])
    }

    @Test func `what observing costs a commit does not grow with the experiments`() async throws {
        func seconds(besides count: Int) throws -> Double {
            let database = try Database.inMemory()
            var batch = WriteBatch()
            for number in 0..<count {
                try batch.add(
                    experiment: "e\(number)", tags: ["id_participant": "p"],
                    time: Timestamp(nanoseconds: 1), fields: ["x": 1])
            }
            _ = try database.write(batch)
            let changes = try database.commits(of: "other")
            var one = WriteBatch()
            try one.add(
                experiment: "e0", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
                fields: ["x": 1])
            var best = Double.infinity
            for _ in 0..<5 {
                let start = Growth.seconds()
                for _ in 0..<50 { _ = try database.write(one) }
                best = min(best, Growth.seconds() - start)
            }
            withExtendedLifetime(changes) {}
            return best
        }
        // With a look at each experiment it was 30 times as long.
        let (few, many) = (try seconds(besides: 1), try seconds(besides: 10_000))
        #expect(many < few * 6, "\(few) s and \(many) s")
    }

    @Test func `sequence numbers of one observer never go back`() async throws {
        let changes = try database.commits()
        let seen = Task { () async throws(DatabaseError) in
            var all: [UInt64] = []
            for try await change in changes { all.append(change.sequence) }
            return all
        }
        try await withThrowingTaskGroup { group in
            for worker in 0..<6 {
                group.addTask {
                    for number in 0..<50 { try write("dev", "p\(worker)", 0...Int64(number)) }
                }
            }
            try await group.waitForAll()
        }
        try await database.close()
        let all = try await seen.value
        #expect(all == all.sorted() && all.last == 300)
    }

    @Test func `commits that nobody waited for are one element`() async throws {
        var changes = try database.commits(of: "dev").makeAsyncIterator()
        for number in 0..<200 { try write("dev", "p\(number)", 0...0) }
        let change = try #require(try await changes.next())
        #expect(change.participants?.count == 200 && change.sequence == 200)
        for number in 0..<1100 { try write("dev", "q\(number)", 0...0) }
        let many = try #require(try await changes.next())
        #expect(many.participants == nil && many.experiments == ["dev"])
        try write("dev", "p1", 3...3)
        #expect(try await changes.next()?.participants == ["p1"])
    }

    @Test func `every kind of change is one`() async throws {
        try write("dev", "p1", 1...3)
        try write("old", "p1", 1...3)
        var changes = try database.commits(of: "dev").makeAsyncIterator()
        func expectChange(
            isAny: Bool = true, _ place: SourceLocation = #_sourceLocation,
            _ body: () throws -> Void
        ) async throws {
            try body()
            let change = try #require(try await changes.next(), sourceLocation: place)
            #expect((change.participants == nil) == isAny, sourceLocation: place)
            #expect((change.times == .all) == isAny, sourceLocation: place)
        }
        try await expectChange {
            try database.delete(experiment: "dev", in: TimeRange(lower: 1, upper: 2))
        }
        try await expectChange { try database.execute("DELETE FROM dev WHERE x = 2") }
        try await expectChange { try database.alter(experiment: "dev", field: "x", type: .float) }
        try await expectChange { try database.execute("ALTER EXPERIMENT dev FIELD x TYPE string") }
        try await expectChange { _ = try database.forget(["p1"]) }
        try await expectChange(isAny: false) { try write("dev", "p2", 1...1) }
        try await expectChange { try database.drop(experiment: "dev") }
        try await expectChange(isAny: false) {
            try database.declare(experiment: "dev", fields: [SchemaPreset.Field("y", .integer)])
        }
        // A refused value that a replay stores.
        try await expectChange(isAny: false) {
            var batch = WriteBatch()
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p2"],
                time: Timestamp(nanoseconds: 6), fields: ["y": 1])
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p2"],
                time: Timestamp(nanoseconds: 7), fields: ["y": "text", "z": 1])
            _ = try database.write(batch)
        }
        try await expectChange { try database.alter(experiment: "dev", field: "y", type: .string) }
        try await expectChange(isAny: false) {
            let report = try database.replayRejects()
            #expect(report.replayed == 1)
        }
    }

    @Test func `a flush, a merge and a failed write are no changes`() async throws {
        try write("dev", "p1", 1...3)
        var changes = try database.commits().makeAsyncIterator()
        try await database.flush()
        try await database.compact()
        var batch = WriteBatch()
        batch.settings.identity = .allTags
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p1"], time: Timestamp(nanoseconds: 1),
            fields: ["x": 1])
        #expect(throws: DatabaseError.self) { _ = try database.write(batch) }
        try write("dev", "p2", 8...8)
        #expect(try await changes.next()?.participants == ["p2"])
    }

    @Test func `an observation ends with the database and with its task`() async throws {
        let changes = try database.commits()
        let waiting = Task { () throws(DatabaseError) in
            var iterator = changes.makeAsyncIterator()
            return try await iterator.next()
        }
        for _ in 0..<100 { await Task.yield() }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        let other = Task { () throws(DatabaseError) in
            var iterator = changes.makeAsyncIterator()
            return try await iterator.next()
        }
        try await database.close()
        #expect(try await other.value == nil)
        #expect(throws: DatabaseError.self) { _ = try database.commits() }
    }

    @Test func `an observation ends with the last reference to its database`() async throws {
        var other: Database? = try Database.inMemory()
        let changes = try #require(try other?.commits())
        let waiting = Task { () async throws(DatabaseError) in
            var iterator = changes.makeAsyncIterator()
            return try await iterator.next()
        }
        for _ in 0..<100 { await Task.yield() }
        other = nil
        #expect(try await waiting.value == nil)
    }

    @Test func `the last change before the end is not lost`() async throws {
        var changes = try database.commits().makeAsyncIterator()
        try write("dev", "p1", 1...1)
        try await database.close()
        #expect(try await changes.next()?.experiments == ["dev"])
        #expect(try await changes.next() == nil)
        #expect(try await changes.next() == nil)
    }

    @Test(.timeLimit(.minutes(2))) func `tasks that share a sequence see each change once`()
        async throws
    {
        let changes = try database.commits(of: "dev")
        let all = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var seen: [UInt64] = []
                    for try await change in changes { seen.append(change.sequence) }
                    return seen
                }
            }
            for number in 0..<200 {
                try write("dev", "p\(number)", 0...0)
                if number % 10 == 0 { await Task.yield() }
            }
            try await database.close()
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(all.count == Set(all).count && all.max() == 200)
    }
}
