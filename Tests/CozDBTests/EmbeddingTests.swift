// Living inside somebody's process: forks, tasks, options, closing, refusals that must be noticed.

internal import CozTestSupport
@testable internal import CozDB
internal import Foundation
internal import Glibc
internal import Synchronization
internal import Testing

struct EmbeddingTests {
    private static func batch(_ fields: [String: FieldValue] = ["x": .float(1)]) throws
        -> WriteBatch
    {
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 1),
            fields: fields)
        return batch
    }

    private static func kind(_ body: () throws -> Void) -> DatabaseError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? DatabaseError)?.kind
        }
    }

    // MARK: fork

    /// Swift hides `fork`, as most of what a program does may not be done in a child.
    private static func fork() throws -> pid_t {
        typealias Fork = @convention(c) () -> pid_t
        guard let address = unsafe dlsym(nil, "fork") else { return -1 }
        return unsafe unsafeBitCast(address, to: Fork.self)()
    }

    @Test func `a child by fork is refused, and the parent goes on`() throws {
        let folder = TemporaryDirectory()
        let path = folder.path
        let database = try Database.open(path)
        _ = try database.write(Self.batch())
        let reader = try Database.open(path, access: .readOnly)
        let snapshot = try database.snapshot()
        let cursor = try database.cursor("SELECT x FROM dev")
        let batch = try Self.batch(["x": .float(2)])
        var ends: [CInt] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let child = try Self.fork()
        if child == 0 {
            let calls: [() throws -> Void] = [
                { _ = try database.write(batch) }, { try database.flush() },
                { try database.compact() }, { try database.close() },
                { _ = try database.query("SELECT x FROM dev") },
                { _ = try database.cursor("SELECT x FROM dev") }, { _ = try cursor.next() },
                { _ = try snapshot.query("SELECT x FROM dev") }, { _ = try reader.schemas() },
                { _ = try database.info() }, { _ = try database.snapshot() },
                { try reader.close() },
            ]
            let refused = calls.count { Self.kind($0) == .usage }
            // Stays, with all files open, until the parent has opened the database again.
            var byte: UInt8 = 0
            close(ends[1])
            _ = unsafe read(ends[0], &byte, 1)
            _exit(refused == calls.count ? 0 : CInt(1 + refused))
        }
        close(ends[0])
        _ = try database.write(batch)
        #expect(try cursor.next() != nil)
        try database.close()
        let again = try Database.open(path)
        #expect(try Contents(again).cells.values.map(\.description) == ["2.0"])
        try again.close()
        close(ends[1])
        var status: CInt = 0
        #expect(unsafe waitpid(child, &status, 0) == child)
        #expect(status == 0, "calls that the child was refused: \(status >> 8 - 1)")
    }

    /// The thread that calls `fork` has used the library, and locks are contended in the child.
    @Test func `a child by fork writes to a database of its own`() throws {
        let folder = TemporaryDirectory()
        #expect(unsafe mkdir(folder.path, 0o700) == 0)
        let parent = try Database.open(folder.path + "/parent")
        _ = try parent.write(Self.batch())
        try parent.close()
        let batches = try (0..<100).map { number in
            var batch = WriteBatch()
            for row in 0..<200 {
                try batch.add(
                    experiment: "dev", tags: ["id_participant": "p\(number % 7)"],
                    time: Timestamp(nanoseconds: Int64(number * 200 + row)),
                    fields: ["x": .float(Double(row)), "note": .string("note \(row)")])
            }
            return batch
        }
        var options = DatabaseOptions()
        options.memtableSizeBytesMax = 1 << 20
        for number in 0..<20 {
            let path = folder.path + "/child\(number)"
            let child = try Self.fork()
            if child == 0 {
                // Ends a child that hangs.
                alarm(60)
                do {
                    let database = try Database.open(path, options: options)
                    for batch in batches { _ = try database.write(batch) }
                    try database.close()
                    _exit(0)
                } catch {
                    _exit(1)
                }
            }
            var status: CInt = 0
            #expect(unsafe waitpid(child, &status, 0) == child)
            #expect(status == 0)
            #expect(try Database.open(path, access: .readOnly).rowCount() == 20_000)
        }
    }

    @Test func `a child by fork reads by a cursor while cursors keep all threads busy`() throws {
        let folder = TemporaryDirectory()
        let parent = try Database.open(folder.path)
        _ = try parent.write(Self.batch())
        let isOver = Mutex(false)
        defer { isOver.withLock { $0 = true } }
        var options = QueryOptions()
        let waiting = Mutex(0)
        options.isCancelled = {
            waiting.withLock { $0 += 1 }
            while !isOver.withLock({ $0 }) { usleep(1_000) }
            return true
        }
        // As many as may compute at once, and more.
        let cursors = try (0..<40).map { _ in
            try parent.cursor("SELECT x FROM dev", options: options)
        }
        while waiting.withLock({ $0 }) < 32 { usleep(1_000) }
        let child = try Self.fork()
        if child == 0 {
            // Ends a child that hangs.
            alarm(60)
            do {
                let database = try Database.open(folder.path, access: .readOnly)
                let cursor = try database.cursor("SELECT x FROM dev")
                _exit(try cursor.next()?.rows.count == 1 ? 0 : 2)
            } catch {
                _exit(1)
            }
        }
        var status: CInt = 0
        #expect(unsafe waitpid(child, &status, 0) == child)
        #expect(status == 0)
        for cursor in cursors { cursor.cancel() }
    }

    /// What threads that query have done so far.
    private struct Answers {
        var counts: [Int]
        var mistakes: [String] = []
        var isOver = false
    }

    @Test func `children by fork are refused while threads query, and the threads go on`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        _ = try database.write(Self.batch())
        try database.flush()
        let batch = try Self.batch(["x": .float(2)])
        let calls: [() throws -> Void] = [
            { _ = try database.query("SELECT x FROM dev") },
            { _ = try database.write(batch) },
            { _ = try database.snapshot() },
            { try database.flush() },
            { try database.close() },
        ]
        let answers = Mutex(Answers(counts: Array(repeating: 0, count: 8)))
        let group = DispatchGroup()
        for thread in 0..<8 {
            group.enter()
            Thread.detachNewThread {
                while !answers.withLock({ $0.isOver }) {
                    do {
                        let count = try database.query("SELECT x FROM dev").counters.rowsReturned
                        answers.withLock {
                            $0.counts[thread] += 1
                            if count != 1 { $0.mistakes.append("\(count) rows") }
                        }
                    } catch {
                        answers.withLock { $0.mistakes.append("\(error)") }
                        break
                    }
                }
                group.leave()
            }
        }
        func waitForAnswers() {
            let before = answers.withLock { $0.counts }
            for _ in 0..<20_000 {
                let after = answers.withLock { $0.counts }
                if zip(before, after).allSatisfy({ $0 < $1 }) { return }
                usleep(500)
            }
            Issue.record("a thread has no answer")
        }
        waitForAnswers()
        for _ in 0..<10 {
            let child = try Self.fork()
            if child == 0 {
                // What hangs ends, too.
                alarm(20)
                let refused = calls.count { Self.kind($0) == .usage }
                _exit(refused == calls.count ? 0 : CInt(1 + refused))
            }
            waitForAnswers()
            var status: CInt = 0
            #expect(unsafe waitpid(child, &status, 0) == child)
            #expect(status == 0, "signal \(status & 127), refused calls: \(status >> 8 - 1)")
            waitForAnswers()
        }
        answers.withLock { $0.isOver = true }
        group.wait()
        #expect(answers.withLock { $0.mistakes } == [])
        _ = try database.write(batch)
        #expect(try Contents(database).cells.values.map(\.description) == ["2.0"])
        try database.close()
    }

    // MARK: Tasks

    /// Keeps queries running until it is opened.
    private final class Gate: Sendable {
        private let isOpen = Atomic<Bool>(false)
        private let arrivals = Atomic<Int>(0)

        var arrivalCount: Int { arrivals.load(ordering: .relaxed) }
        func open() { isOpen.store(true, ordering: .relaxed) }

        /// Counts who came, and keeps them until it is opened.
        func pass() {
            arrivals.add(1, ordering: .relaxed)
            while !isOpen.load(ordering: .relaxed) { usleep(500) }
        }

        func options() -> QueryOptions {
            var options = QueryOptions(now: Timestamp(nanoseconds: 0))
            options.isCancelled = {
                self.pass()
                return false
            }
            return options
        }
    }

    private static func database(_ options: DatabaseOptions) throws -> Database {
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        _ = try database.write(batch())
        return database
    }

    private static let statement = "SELECT x FROM dev"
    /// Needs a thread, unlike one that reads a few rows in memory.
    private static let threadStatement = "SHOW MEASUREMENTS"

    @Test func `slow queries of one database leave others their threads`() async throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 1
        let (slow, quick) = (try Self.database(options), try Self.database(options))
        let gate = Gate()
        let running = Task { try await slow.query(Self.statement, options: gate.options()) }
        while gate.arrivalCount == 0 { await Task.yield() }
        #expect(try await quick.query(Self.statement).statements.count == 1)
        // Cancelled while it waits for the only thread, which is not free.
        let waiting = Task { try await slow.query(Self.threadStatement) }
        waiting.cancel()
        await #expect { _ = try await waiting.value } throws: {
            ($0 as? DatabaseError)?.kind == .cancelled
        }
        // Cancelled while it runs and does not look.
        running.cancel()
        await #expect { _ = try await running.value } throws: {
            ($0 as? DatabaseError)?.kind == .cancelled
        }
        gate.open()
        #expect(try await slow.query(Self.statement).statements.count == 1)
        try await slow.close()
        try await quick.close()
    }

    /// How calls ended that a test started together.
    private final class Ends: Sendable {
        private let kinds = Mutex<[DatabaseError.Kind?]>([])

        var count: Int { kinds.withLock { $0.count } }
        func count(_ kind: DatabaseError.Kind?) -> Int {
            kinds.withLock { $0.count { $0 == kind } }
        }

        /// A call of its own task, and its end.
        func start(
            _ call: @escaping @Sendable () async throws(DatabaseError) -> Void
        ) -> Task<Void, Never> {
            Task {
                var kind: DatabaseError.Kind?
                do throws(DatabaseError) { try await call() } catch { kind = error.kind }
                kinds.withLock { $0.append(kind) }
            }
        }
    }

    @Test func `cancelled calls return while each thread is held, and those that waited never run`()
        async throws
    {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 3
        options.waitingCallCountMax = 5
        let database = try Self.database(options)
        let (gate, waitingGate, ends) = (Gate(), Gate(), Ends())
        let held = (0..<3).map { _ in
            Task { try await database.query(Self.statement, options: gate.options()) }
        }
        while gate.arrivalCount < 3 { await Task.yield() }
        // One is refused: the other five wait.
        let waiting = (0..<6).map { number in
            ends.start { () async throws(DatabaseError) in
                switch number % 3 {
                case 0: _ = try await database.snapshot()
                case 1: _ = try await database.cursor(Self.statement)
                default:
                    _ = try await database.query(Self.statement, options: waitingGate.options())
                }
            }
        }
        while ends.count == 0 { await Task.yield() }
        #expect(ends.count(.busy) == 1 && ends.count == 1)
        for call in waiting {
            call.cancel()
            await call.value
        }
        #expect(ends.count(.cancelled) == 5)
        // What was cancelled takes no place of those that may wait.
        let later = (0..<6).map { _ in
            ends.start { () async throws(DatabaseError) in
                _ = try await database.query(Self.threadStatement)
            }
        }
        while ends.count < 7 { await Task.yield() }
        #expect(ends.count(.busy) == 2 && gate.arrivalCount == 3)
        gate.open()
        for call in held { _ = try await call.value }
        for call in later { await call.value }
        #expect(ends.count(nil) == 5 && waitingGate.arrivalCount == 0)
        try await database.close()
    }

    @Test(.enabled(if: Growth.isMeasured, "a clock tells little beside other tests"))
    func `of a hundred cancelled calls ninety-nine return within 50 ms`() async throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 4
        let database = try Self.database(options)
        for isRunning in [false, true] {
            var late: [Duration] = []
            for _ in 0..<25 {
                let gate = Gate()
                let calls = (0..<(isRunning ? 4 : 8)).map { _ in
                    Task { try await database.query(Self.statement, options: gate.options()) }
                }
                while gate.arrivalCount < 4 { await Task.yield() }
                for call in calls {
                    let start = ContinuousClock.now
                    call.cancel()
                    let result = await call.result
                    late.append(.now - start)
                    #expect(throws: DatabaseError.self) { try result.get() }
                }
                gate.open()
                // Whoever comes next finds a thread.
                _ = try await database.query(Self.statement)
            }
            late.sort()
            let bound = late[late.count * 99 / 100 - 1]
            #expect(bound < .milliseconds(50), "running: \(isRunning), \(late.suffix(5))")
        }
        try await database.close()
    }

    @Test func `writes beyond those that may wait are refused, and all others are there`()
        async throws
    {
        var options = DatabaseOptions()
        options.changeThreadCountMax = 2
        options.waitingCallCountMax = 7
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        let (gate, ends) = (Gate(), Ends())
        let held = (0..<2).map { _ in
            Task { try await database.changes.run { () throws(DatabaseError) in gate.pass() } }
        }
        while gate.arrivalCount < 2 { await Task.yield() }
        let acknowledged = Mutex<Set<String>>([])
        let calls = try (0..<12).map { number in
            let batch = try Self.batch(["x\(number)": .integer(Int64(number))])
            return ends.start { () async throws(DatabaseError) in
                #expect(try await database.write(batch).values == 1)
                acknowledged.withLock {
                    _ = $0.insert(FieldValue.integer(Int64(number)).description)
                }
            }
        }
        while ends.count < 5 { await Task.yield() }
        #expect(ends.count(.busy) == 5 && acknowledged.withLock { $0.isEmpty })
        gate.open()
        for call in held { try await call.value }
        for call in calls { await call.value }
        #expect(ends.count(nil) == 7 && ends.count(.busy) == 5)
        try await database.close()
        let again = try Database.open("db", access: .readOnly, options: options, on: system)
        let stored = try Contents(again).cells.values.map(\.description)
        #expect(Set(stored) == acknowledged.withLock { $0 } && stored.count == 7)
        try await again.close()
    }

    @Test func `more calls than may wait are refused at once`() async throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 1
        options.waitingCallCountMax = 2
        let database = try Self.database(options)
        let gate = Gate()
        let calls = (0..<3).map { _ in
            Task { try await database.query(Self.statement, options: gate.options()) }
        }
        while gate.arrivalCount == 0 { await Task.yield() }
        var refused: DatabaseError?
        while refused == nil {
            // Those that got in before the other calls wait, too.
            let one = Task { try await database.query(Self.statement, options: gate.options()) }
            await Task.yield()
            one.cancel()
            do { _ = try await one.value } catch let error as DatabaseError {
                if error.kind != .cancelled { refused = error }
            }
        }
        #expect(refused?.kind == .busy)
        #expect(refused?.message.contains("waitingCallCountMax") == true)
        gate.open()
        for call in calls { _ = try? await call.value }
        #expect(try await database.query(Self.statement).statements.count == 1)
        try await database.close()
    }

    @Test func `who awaits each call finds its thread free`() async throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 1
        options.changeThreadCountMax = 1
        options.waitingCallCountMax = 0
        let database = try Self.database(options)
        for _ in 0..<1000 {
            _ = try await database.write(try Self.batch(["x": .float(2)]))
            _ = try await database.query(Self.statement)
        }
        // Closing waits, whatever the limit.
        let writers = (0..<100).map { _ in
            Task { try? await database.write(try Self.batch(["x": .float(3)])) }
        }
        try await database.close()
        for writer in writers { _ = await writer.value }
    }

    @Test func `thousands of tasks come through a few threads`() async throws {
        var options = DatabaseOptions()
        options.queryThreadCountMax = 3
        options.changeThreadCountMax = 2
        let database = try Self.database(options)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    if number % 4 == 0 {
                        _ = try await database.write(try Self.batch(["x": .float(2)]))
                        return 1
                    }
                    return try await database.query(Self.statement).statements.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(counts == 2000)
        try await database.close()
    }

    // MARK: Opening and closing

    @Test func `options out of their range are refused when opening`() throws {
        let changes: [(String, (inout DatabaseOptions) -> Void)] = [
            ("columnCountMax is 0", { $0.columnCountMax = 0 }),
            ("columnCountMax is 1000001", { $0.columnCountMax = 1_000_001 }),
            ("memtableSizeBytesMax is -1", { $0.memtableSizeBytesMax = -1 }),
            ("compactionSegmentCount is 1", { $0.compactionSegmentCount = 1 }),
            ("experimentCountMax is 0", { $0.experimentCountMax = 0 }),
            ("rejectsSizeBytesMax is -1", { $0.rejectsSizeBytesMax = -1 }),
            ("queryLimits.rowCountMax is -1", { $0.queryLimits.rowCountMax = -1 }),
            ("queryLimits.textSizeBytesMax is 0", { $0.queryLimits.textSizeBytesMax = 0 }),
            ("retireSeconds is -1", { $0.retireSeconds = -1 }),
            ("stringSizeBytesMax is 0", { $0.stringSizeBytesMax = 0 }),
            ("batchSizeBytesMax is 0", { $0.batchSizeBytesMax = 0 }),
            ("queryThreadCountMax is 0", { $0.queryThreadCountMax = 0 }),
            ("changeThreadCountMax is 0", { $0.changeThreadCountMax = 0 }),
            ("waitingCallCountMax is -1", { $0.waitingCallCountMax = -1 }),
            ("relaxed(milliseconds:) is -1", { $0.durability = .relaxed(milliseconds: -1) }),
        ]
        for (words, change) in changes {
            var options = DatabaseOptions()
            change(&options)
            for access in [DatabaseAccess.readWrite, .readOnly] {
                let error = #expect(throws: DatabaseError.self) {
                    try Database.open(
                        "db", access: access, options: options, on: FaultyFileSystem())
                }
                #expect(error?.kind == .usage)
                #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            }
        }
    }

    @Test func `a closed reader answers nothing more`() throws {
        let system = FaultyFileSystem()
        let writer = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: system)
        _ = try writer.write(Self.batch())
        let reader = try Database.open(
            "db", access: .readOnly, options: DatabaseOptions(), on: system)
        let snapshot = try reader.snapshot()
        try reader.close()
        try reader.close()
        let calls: [() throws -> Void] = [
            { _ = try reader.query(Self.statement) }, { _ = try reader.snapshot() },
            { _ = try reader.cursor(Self.statement) }, { _ = try reader.schemas() },
            { _ = try reader.info() }, { try reader.rejects { _ throws(DatabaseError) in true } },
            { try reader.flush() },
        ]
        for call in calls { #expect(Self.kind(call) == .closed) }
        #expect(try snapshot.query(Self.statement).statements.count == 1)
        try writer.close()
    }

    @Test func `a second writer is told where the first one is`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let error = #expect(throws: DatabaseError.self) {
            try Database.open(folder.path)
        }
        #expect(error?.kind == .locked)
        #expect(error?.message.contains("another Database in this process") == true)
        try database.close()
    }

    // MARK: Refusals

    @Test func `a database can take batches whole or not at all`() throws {
        var options = DatabaseOptions()
        options.refusalPolicy = .throw
        let database = try Self.database(options)
        let error = #expect(throws: DatabaseError.self) {
            _ = try database.write(Self.batch(["x": .string("no number"), "y": .float(1)]))
        }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains("nothing was stored") == true)
        let contents = try Contents(database)
        #expect(contents.cells.count == 1 && contents.refusals.isEmpty)
        try database.close()
    }
}
