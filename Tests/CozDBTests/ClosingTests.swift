// What closing a database waits for: every call that has begun, also one that waits for a thread.

internal import CozTestSupport
internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import CozDB

@Suite(.timeLimit(.minutes(3))) struct ClosingTests {
    /// Lets commits go on, which wait in the middle of their encoding.
    private let released = Gate()
    private let system = FaultyFileSystem()

    private func open(
        _ change: (inout DatabaseOptions) -> Void = { _ in }
    ) throws -> Database {
        var options = DatabaseOptions()
        let released = released
        options.changeRecord = { _ in released.wait() }
        change(&options)
        return try Database.open("db", access: .readWrite, options: options, on: system)
    }

    private func rowCount() throws -> Int {
        try Database.open("db", access: .readOnly, options: DatabaseOptions(), on: system)
            .rowCount()
    }

    private static func batch(_ number: Int) throws -> WriteBatch {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p\(number)"],
            time: Timestamp(nanoseconds: 1), fields: ["x": .integer(1)])
        return batch
    }

    /// Waits for something that other threads do soon.
    private static func wait(for isReached: () -> Bool) {
        while !isReached() { usleep(200) }
    }

    private static func kind(
        _ body: @Sendable () async throws(DatabaseError) -> Void
    ) async -> DatabaseError.Kind? {
        do throws(DatabaseError) {
            try await body()
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `closing waits for calls of other threads, and refuses further ones`() throws {
        let database = try open()
        guard case .writer(let engine) = database.store else { return }
        let isBegun = Gate()
        let outcomes = Mutex<[String: DatabaseError?]>([:])
        @Sendable func run(_ name: String, _ body: () throws(DatabaseError) -> Void) {
            let result = Result { () throws(DatabaseError) in try body() }
            let error: DatabaseError? = if case .failure(let error) = result { error } else { nil }
            outcomes.withLock { $0[name] = .some(error) }
        }
        #expect(
            WorkerThreads.start {
                run("write") { () throws(DatabaseError) in
                    let batch = Result { try Self.batch(1) }
                    isBegun.open()
                    if case .success(let batch) = batch { _ = try database.write(batch) }
                }
            })
        isBegun.wait()
        usleep(20_000)
        #expect(
            WorkerThreads.start {
                run("close") { () throws(DatabaseError) in try database.close() }
            })
        Self.wait { engine.state.withLock { $0.phase == .closing } }
        usleep(5000)
        run("late") { () throws(DatabaseError) in try database.flush() }
        #expect(outcomes.withLock { $0.count } == 1)
        #expect(outcomes.withLock { $0["late"]??.kind } == .closed)
        released.open()
        Self.wait { outcomes.withLock { $0.count } == 3 }
        #expect(outcomes.withLock { $0["write"]??.message } == nil)
        #expect(outcomes.withLock { $0["close"]??.message } == nil)
        #expect(try rowCount() == 1)
    }

    @Test(arguments: [1, 3, 64])
    func `closing waits for calls of tasks that wait for a thread`(threads: Int) async throws {
        let database = try open { $0.changeThreadCountMax = threads }
        let outcomes = try await withThrowingTaskGroup(of: DatabaseError.Kind?.self) { group in
            for number in 0..<20 {
                let batch = try Self.batch(number)
                group.addTask {
                    await Self.kind { () async throws(DatabaseError) in
                        _ = try await database.write(batch)
                    }
                }
            }
            group.addTask {
                await Self.kind { () async throws(DatabaseError) in
                    _ = try await database.declare(
                        experiment: "dev", fields: [SchemaPreset.Field("x", .integer)])
                }
            }
            while database.changes.callCount < 21 { try await Task.sleep(for: .milliseconds(1)) }
            group.addTask {
                await Self.kind { () async throws(DatabaseError) in try await database.close() }
            }
            while !database.changes.isEnded { try await Task.sleep(for: .milliseconds(1)) }
            let late = try Self.batch(30)
            let kind = await Self.kind { () async throws(DatabaseError) in
                _ = try await database.write(late)
            }
            #expect(kind == .closed)
            released.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: nil, count: 22))
        #expect(try rowCount() == 20)
    }

    @Test func `as many writes as the options say are in progress, and none of them waits`()
        async throws
    {
        let database = try open {
            $0.changeThreadCountMax = 16
            $0.waitingCallCountMax = 0
        }
        try await withThrowingTaskGroup(of: DatabaseError.Kind?.self) { group in
            for number in 0..<16 {
                let batch = try Self.batch(number)
                group.addTask {
                    await Self.kind { () async throws(DatabaseError) in
                        _ = try await database.write(batch)
                    }
                }
            }
            while database.changes.callCount < 16 { try await Task.sleep(for: .milliseconds(1)) }
            let late = try Self.batch(30)
            let kind = await Self.kind { () async throws(DatabaseError) in
                _ = try await database.write(late)
            }
            #expect(kind == .busy)
            released.open()
            for try await kind in group { #expect(kind == nil) }
        }
        try await database.close()
        #expect(try rowCount() == 16)
    }

    @Test func `a statement that throws closed has changed nothing`() throws {
        released.open()
        for round in 0..<200 {
            let system = FaultyFileSystem()
            let database = try Database.open(
                "db", access: .readWrite, options: DatabaseOptions(), on: system)
            for number in 0..<4 { _ = try database.write(Self.batch(number)) }
            let outcome = Mutex<DatabaseError.Kind??>(nil)
            let isStarted = WorkerThreads.start {
                do throws(DatabaseError) {
                    _ = try database.execute("DELETE FROM dev")
                    outcome.withLock { $0 = .some(nil) }
                } catch {
                    outcome.withLock { $0 = .some(error.kind) }
                }
            }
            #expect(isStarted)
            usleep(UInt32(round % 20) * 20)
            try database.close()
            Self.wait { outcome.withLock { $0 != nil } }
            let left = try Database.open(
                "db", access: .readOnly, options: DatabaseOptions(), on: system
            ).rowCount()
            switch outcome.withLock({ $0 }) {
            case .some(nil): #expect(left == 0)
            case .some(.closed): #expect(left == 4)
            default: Issue.record("another error, or none")
            }
        }
    }
}
