// The writer and its readers: locks, durability, groups of commits, snapshots, what is accepted.

import CozTestSupport
import Glibc
import Synchronization
import Testing

@testable import CozDB

struct EngineTests {
    func options() -> DatabaseOptions {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        return options
    }

    func point(
        _ fields: [String: FieldValue], _ participant: String = "p", time: Int64 = 0,
        settings: ExperimentSettings = ExperimentSettings()
    ) throws -> WriteBatch {
        var batch = WriteBatch()
        batch.settings = settings
        try batch.add(
            experiment: "dev", tags: ["id_participant": participant],
            time: Timestamp(nanoseconds: time), fields: fields)
        return batch
    }

    // MARK: The lock

    @Test func `a second writer of the same process is refused until the first closes`() throws {
        let directory = TemporaryDirectory()
        let first = try Database.open(directory.path)
        #expect {
            try Database.open(directory.path)
        } throws: { error in
            let error = error as? DatabaseError
            return error?.kind == .locked && error?.message.contains("\(getpid())") == true
        }
        try Database.open(directory.path, access: .readOnly).close()
        #expect(throws: DatabaseError.self) { try Database.open(directory.path) }
        try first.close()
        try Database.open(directory.path).close()
        #expect(throws: DatabaseError.self) { try first.write(point(["x": .float(1)])) }
    }

    @Test func `a lock that another open file holds refuses the writer`() throws {
        let directory = TemporaryDirectory()
        try Database.open(directory.path).close()
        // flock belongs to the open file, so this is what another process looks like.
        let other = unsafe open(directory.path + "/LOCK", O_RDWR)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect {
            try Database.open(directory.path)
        } throws: { error in
            (error as? DatabaseError)?.kind == .locked
        }
        close(other)
        try Database.open(directory.path).close()
    }

    @Test func `a writer whose lock is gone writes no more`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path, options: options())
        _ = try database.write(point(["x": .float(1)]))
        try PosixFileSystem().openDirectory(directory.path, create: false, access: .ownerOnly)
            .remove(FileName.lock.text)
        let before = directory.files
        let changes: [() throws -> Void] = [
            { try database.flush() }, { _ = try database.write(point(["x": .float(2)])) },
        ]
        for change in changes {
            let error = #expect(throws: DatabaseError.self) { try change() }
            #expect(error?.kind == .locked)
            #expect(error?.message.contains("removed or replaced while the database was") == true)
        }
        #expect(directory.files["MANIFEST"] == before["MANIFEST"])
        #expect(try Contents(Database.open(directory.path, access: .readOnly)).cells.count == 1)
    }

    @Test func `a database that is dropped without closing frees its lock and loses nothing`()
        throws
    {
        let directory = TemporaryDirectory()
        do {
            let database = try Database.open(directory.path, options: options())
            _ = try database.write(point(["x": .float(1)]))
        }
        let database = try Database.open(directory.path)
        #expect(try Contents(database).cells.count == 1)
        try database.close()
    }

    // MARK: Durability

    @Test func `relaxed durability syncs later, and closing makes everything durable`() throws {
        let system = FaultyFileSystem()
        var options = options()
        options.durability = .relaxed(milliseconds: 3_600_000)
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        _ = try database.write(point(["x": .float(1)]))
        let synced = system.calls.filter { $0.hasPrefix("fdatasync") }.count
        _ = try database.write(point(["x": .float(2)], time: 1))
        #expect(system.calls.filter { $0.hasPrefix("fdatasync") }.count == synced)
        func left(_ loss: FaultyFileSystem.Loss) throws -> Int {
            let next = try Database.open(
                "db", access: .readWrite, options: options, on: system.survivor(loss))
            return try Contents(next).cells.count
        }
        #expect(try left(.nothing) == 2, "a crash of the process loses nothing")
        #expect(try left(.everything) == 0)
        try database.close()
        #expect(try left(.everything) == 2)
    }

    @Test func `relaxed durability syncs after its time`() throws {
        let system = FaultyFileSystem()
        var options = options()
        options.durability = .relaxed(milliseconds: 1)
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        _ = try database.write(point(["x": .float(1)]))
        for _ in 0..<1000 where system.calls.last?.hasPrefix("fdatasync") != true { usleep(5000) }
        let next = try Database.open(
            "db", access: .readWrite, options: options, on: system.survivor(.everything))
        #expect(try Contents(next).cells.count == 1)
        try database.close()
    }

    @Test(.timeLimit(.minutes(1)), arguments: [1, 1 << 20])
    func `relaxed syncs, flushes and writers do not wait for each other in a circle`(
        memtableSizeBytesMax: Int
    ) throws {
        var options = DatabaseOptions()
        options.durability = .relaxed(milliseconds: 0)
        options.memtableSizeBytesMax = memtableSizeBytesMax
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        onThreads(4) { thread in
            for number in 0..<15 {
                _ = try? database.write(
                    point(["x": .integer(Int64(number))], "p\(thread)", time: Int64(number)))
            }
        }
        #expect(try Contents(database).cells.count == 60)
        try database.close()
    }

    @Test func `commits of many threads share frames, and all are there`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path, options: options())
        let acknowledged = Atomic(0)
        onThreads(8) { thread in
            for number in 0..<40 {
                let batch = try? point(
                    ["x": .integer(Int64(number))], "p\(thread)", time: Int64(number))
                guard let batch, (try? database.write(batch)) != nil else { continue }
                acknowledged.add(1, ordering: .relaxed)
            }
        }
        #expect(acknowledged.load(ordering: .relaxed) == 320)
        #expect(try Contents(database).cells.count == 320)
        let reader = try Database.open(directory.path, access: .readOnly)
        #expect(try Contents(reader).cells.count == 320)
        guard case .reader(let live) = reader.store else { return }
        let manifest = try live.manifest()
        let log = try #require(manifest.logs.first)
        var frames = try LogReader(
            live.directory.open(FileName.log(log.number).text, writable: false),
            expecting: LogIdentity(
                databaseID: manifest.databaseID, number: log.number,
                firstSequence: log.firstSequence), sealedSizeBytes: nil)
        var frameCount = 0
        var commitCount = 0
        while let frame = try frames.next() {
            frameCount += 1
            commitCount += frame.commits.count
        }
        #expect(commitCount == 320)
        #expect(frameCount < 320)
        try database.close()
    }

    // MARK: Snapshots

    @Test func `a snapshot stays as it is while the database changes`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path, options: options())
        _ = try database.write(point(["x": .integer(1), "s": .string("a")]))
        try database.flush()
        _ = try database.write(point(["x": .integer(2)], time: 1))
        let snapshot = try database.takeSnapshot()
        func values() throws -> [FieldValue] {
            let view = try #require(snapshot.experiment("dev"))
            var values: [FieldValue] = []
            for series in try view.series() {
                let x = try #require(view.schema.field("x")).id
                try view.scan(x, of: series, in: .all, summarize: { _, _ in false }) { piece in
                    guard case .values(let slice) = piece else { return false }
                    values += (0..<slice.count).map { slice.value($0) }
                    return true
                }
            }
            return values
        }
        let before = try values()
        #expect(before.count == 2)
        _ = try database.write(point(["x": .integer(77), "new": .float(1)]))
        _ = try database.write(point(["x": .integer(78)], "q", time: 1))
        #expect(try values() == before)
        try database.compact()
        #expect(try values() == before)
        try database.close()
        #expect(try values() == before)
    }

    @Test func `a reader beside a writer sees prefixes that never shrink`() throws {
        let directory = TemporaryDirectory()
        var options = options()
        options.retireSeconds = 0
        options.compactsInBackground = true
        options.compactionSegmentCount = 2
        let database = try Database.open(directory.path, options: options)
        let reader = try Database.open(directory.path, access: .readOnly)
        let isDone = Atomic(false)
        let problems = Mutex<[String]>([])
        let seen = Mutex<[Int]>([])
        onThreads(2) { thread in
            do {
                if thread == 0 {
                    defer { isDone.store(true, ordering: .relaxed) }
                    for number in 0..<120 {
                        _ = try database.write(
                            point(["x": .integer(Int64(number))], time: Int64(number)))
                        if number % 7 == 0 { try database.flush() }
                        if number % 31 == 0 { try database.compact() }
                    }
                } else {
                    while !isDone.load(ordering: .relaxed) {
                        let found = try Contents(reader).cells
                        let times = Set(found.keys.map(\.time))
                        let isPrefix = times == Set((0..<Int64(times.count)))
                        if !isPrefix { problems.withLock { $0.append("no prefix: \(times)") } }
                        seen.withLock { $0.append(times.count) }
                    }
                }
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        let counts = seen.withLock { $0 }
        #expect(counts == counts.sorted())
        #expect(try Contents(reader).cells.count == 120)
        try database.close()
    }

    // MARK: What is accepted

    @Test func `numbers convert where they stay the same number`() throws {
        let limit = Int64(1) << 53
        let table: [(FieldType, FieldValue, FieldValue?)] = [
            (.float, .integer(3), .float(3)), (.float, .integer(-limit), .float(-0x1p53)),
            (.float, .integer(limit), .float(0x1p53)), (.float, .integer(limit + 1), nil),
            (.float, .integer(-limit - 1), nil), (.float, .integer(.min), nil),
            (.float, .integer(.max), nil), (.integer, .float(74), .integer(74)),
            (.integer, .float(-5), .integer(-5)), (.integer, .float(0), .integer(0)),
            (.integer, .float(-0.0), nil), (.integer, .float(0.5), nil),
            (.integer, .float(.nan), nil), (.integer, .float(.infinity), nil),
            (.integer, .float(0x1p63), nil), (.integer, .float(-0x1p63), nil),
            (.integer, .float(0x1p62), .integer(1 << 62)),
            (.float, .string("1"), nil), (.string, .float(1), nil), (.string, .integer(1), nil),
            (.boolean, .integer(1), nil), (.integer, .boolean(true), nil),
            (.float, .boolean(false), nil), (.boolean, .string("true"), nil),
            (.string, .boolean(true), nil),
        ]
        let first: [FieldType: FieldValue] = [
            .float: .float(0.25), .integer: .integer(9), .string: .string("a"),
            .boolean: .boolean(true),
        ]
        for (locked, written, stored) in table {
            let system = FaultyFileSystem()
            let database = try Database.open(
                "db", access: .readWrite, options: options(), on: system)
            _ = try database.write(point(["x": first[locked]!]))
            let report = try database.write(point(["x": written, "y": .float(1)], time: 1))
            let what: Comment = "\(written) into \(locked)"
            let cells = try Contents(database).cells
            #expect(cells.first { $0.key.time == 1 && $0.key.column == "x" }?.value == stored, what)
            #expect(cells.contains { $0.key.time == 1 && $0.key.column == "y" }, what)
            #expect(report.refusedValues == (stored == nil ? 1 : 0), what)
            #expect(report.convertedValues == (stored == nil ? 0 : 1), what)
            #expect(try Contents(database).refusals.count == report.refusedValues, what)
            try database.close()
        }
    }

    @Test func `the strict rule refuses whole points`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options(), on: system)
        let strict = ExperimentSettings(typeRule: .strict)
        _ = try database.write(point(["x": .float(1)], settings: strict))
        let report = try database.write(point(["x": .integer(1), "y": .float(1)], time: 1))
        #expect(report.refusedPoints == 1)
        #expect(report.values == 0)
        let contents = try Contents(database)
        #expect(contents.cells.count == 1)
        #expect(contents.refusals.count == 1)
        #expect(try database.schemas()[0].field("y") == nil, "a refused point creates nothing")
        #expect(throws: DatabaseError.self) {
            let lossless = ExperimentSettings(typeRule: .lossless)
            _ = try database.write(point(["x": .float(1)], settings: lossless))
        }
        try database.close()
    }

    @Test func `names and strings that no reader accepts are refused before the log`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options(), on: system)
        let long = [UInt8](repeating: 0x61, count: 70_000)
        func write(
            experiment: [UInt8] = [0x61], tag: [UInt8] = [0x62], value: [UInt8] = [0x65],
            field: [UInt8] = [0x63], text: [UInt8] = [0x64]
        ) throws {
            var batch = WriteBatch()
            batch.settings.identity = .allTags
            let number = batch.experiment(experiment.span)
            let column = batch.column(experiment: number, name: field.span, type: .string)
            batch.beginTagSet(experiment: number)
            batch.addTag(name: tag.span, value: value.span)
            let tags = batch.endTagSet()
            batch.append(batch.string(text.span), to: column)
            batch.endRow(tagSet: tags, time: 1, line: 1)
            _ = try database.write(batch)
        }
        let calls = system.callCount
        #expect(throws: DatabaseError.self) { try write(experiment: long) }
        #expect(throws: DatabaseError.self) { try write(experiment: []) }
        #expect(throws: DatabaseError.self) { try write(tag: long) }
        #expect(throws: DatabaseError.self) { try write(field: long) }
        #expect(throws: DatabaseError.self) { try write(field: []) }
        #expect(throws: DatabaseError.self) { try write(value: long) }
        // Repaired, each of them would be another's.
        for bytes in [[0xFF], [0xC3]] as [[UInt8]] {
            #expect(throws: DatabaseError.self) { try write(experiment: bytes) }
            #expect(throws: DatabaseError.self) { try write(tag: bytes) }
            #expect(throws: DatabaseError.self) { try write(value: bytes) }
            #expect(throws: DatabaseError.self) { try write(field: bytes) }
            #expect(throws: DatabaseError.self) { try write(text: bytes) }
        }
        #expect(throws: DatabaseError.self) {
            try write(text: [UInt8](repeating: 0x61, count: (1 << 20) + 1))
        }
        #expect(system.callCount == calls)
        try write()
        try write(text: [UInt8](repeating: 0x61, count: 1 << 20))
        let next = try Database.open(
            "db", access: .readWrite, options: options(), on: system.survivor(.nothing))
        #expect(try Contents(next).cells.count == 1)
        try next.close()
        try database.close()
    }

    @Test func `a batch that is too large is refused before the log`() throws {
        let system = FaultyFileSystem()
        var options = options()
        options.batchSizeBytesMax = 1000
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        _ = try database.write(point(["x": .float(1)]))
        let calls = system.callCount
        let text = FieldValue.string(String(repeating: "a", count: 1000))
        let error = #expect(throws: DatabaseError.self) {
            _ = try database.write(point(["text": text], time: 1))
        }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("batchSizeBytesMax (1000)") == true)
        #expect(system.callCount == calls)
        // What it would have made is not there either.
        #expect(try database.schemas()[0].field("text") == nil)
        #expect(try Contents(database).cells.count == 1)
        try database.close()
    }

    @Test func `an experiment takes no more fields than it may have`() throws {
        var options = options()
        options.columnCountMax = 2
        let database = try Database.open(
            "db", access: .readWrite, options: options, on: FaultyFileSystem())
        _ = try database.write(point(["a": .float(1), "b": .float(1)]))
        let report = try database.write(point(["a": .float(2), "c": .float(1)], time: 1))
        #expect(report.refusedValues == 1 && report.refusedPoints == 0)
        #expect(report.conflicts.isEmpty, "no type is to blame")
        let reason = "the experiment already has its maximum of 2 fields and tags (columnCountMax)"
        #expect(try Contents(database).refusals.map(\.reason) == [reason])
        #expect(try Contents(database).cells.count == 3)
        try database.close()
    }

    @Test func `a sync that fails later keeps every later commit out`() throws {
        let system = FaultyFileSystem()
        var options = options()
        options.durability = .relaxed(milliseconds: 500)
        let database = try Database.open("db", access: .readWrite, options: options, on: system)
        _ = try database.write(point(["x": .float(1)]))
        system.add(.init(at: system.callCount, .failure(EIO)))
        for _ in 0..<1000 where system.calls.last?.hasPrefix("fdatasync") != true { usleep(5000) }
        var error: DatabaseError?
        for time in 1..<1000 where error == nil {
            do {
                _ = try database.write(point(["x": .float(1)], time: Int64(time)))
                usleep(5000)
            } catch let failure as DatabaseError {
                error = failure
            }
        }
        #expect(error?.kind == .io)
        #expect(error?.message.contains("syncing the log") == true, "\(String(describing: error))")
    }

    @Test func `fields widen only where no value is lost`() throws {
        let system = FaultyFileSystem()
        let database = try Database.open("db", access: .readWrite, options: options(), on: system)
        _ = try database.write(
            point(["large": .integer(1 << 53 + 1), "small": .integer(7), "x": .float(1)]))
        for (line, kind, words) in [
            ("ALTER EXPERIMENT other FIELD x TYPE string", .notFound, "no experiment \"other\""),
            ("ALTER EXPERIMENT dev FIELD y TYPE string", .notFound, "has no field \"y\""),
            ("ALTER EXPERIMENT dev FIELD x TYPE integer", .usage, "cannot become integer"),
            ("ALTER EXPERIMENT dev FIELD large TYPE float", .usage, "which a float cannot"),
        ] as [(String, DatabaseError.Kind, String)] {
            let error = #expect(throws: DatabaseError.self) { _ = try database.execute(line) }
            #expect(error?.kind == kind)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        for line in ["FIELD x TYPE float", "FIELD small TYPE float", "FIELD large TYPE string"] {
            _ = try database.execute("ALTER EXPERIMENT dev " + line)
        }
        let schema = try database.schemas()[0]
        #expect(
            ["x", "small", "large"].map { schema.field($0)?.type } == [.float, .float, .string])
        let text = FieldValue.string("9007199254740993")
        #expect(try Contents(database).cells.values.contains(text))
        try database.close()
    }

    @Test func `points at times that nobody can name are refused`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: options(), on: FaultyFileSystem())
        for (time, count) in [(Int64.min, 0), (Timestamp.min.nanoseconds, 1)] {
            var batch = WriteBatch()
            let names = (experiment: Array("dev".utf8), field: Array("x".utf8))
            let number = batch.experiment(names.experiment.span)
            let column = batch.column(experiment: number, name: names.field.span, type: .float)
            let tags = batch.tagSet(experiment: number, tags: [("id_participant", "p")])
            batch.append(0.0, to: column)
            batch.endRow(tagSet: tags, time: time, line: 1)
            let report = try database.write(batch)
            #expect(report.refusedPoints == 1 - count)
            #expect(try Contents(database).cells.count == count)
        }
        let refusals = try Contents(database).refusals
        #expect("\(refusals)".contains("the time is out of range"))
        try database.close()
    }

    @Test func `equal refusals are kept once, also over files and sessions`() throws {
        let system = FaultyFileSystem()
        for _ in 0..<3 {
            let database = try Database.open(
                "db", access: .readWrite, options: options(), on: system)
            _ = try database.write(point(["x": .float(1)]))
            for _ in 0..<2 { _ = try database.write(point(["x": .string("no")])) }
            try database.flush()
            _ = try database.write(point(["x": .string("no")]))
            #expect(try Contents(database).refusals.count == 1)
            try database.close()
        }
        #expect(system.files.filter { $0.hasSuffix(".rej") }.count == 1)
    }

    @Test func `equal refusals of one commit are kept once`() throws {
        let database = try Database.open(
            "db", access: .readWrite, options: options(), on: FaultyFileSystem())
        var batch = WriteBatch()
        for line in [1, 2, 1, 1] {
            batch.refuse(Refusal(subject: .line([0x61]), reason: "r", source: "s", line: line))
        }
        #expect(try database.write(batch).refusedPoints == 4)
        var lines: [Int] = []
        try database.rejects { (entry) throws(DatabaseError) in
            lines += [entry.refusal.line, entry.count, entry.lastLine]
            return true
        }
        // The two lines of that text, each once.
        #expect(lines == [1, 2, 2])
        try database.close()
    }

    // MARK: Parts

    @Test func `while data comes, segments of one size are merged once there are enough`() {
        #expect(Compaction.chooseTier([], countMin: 2) == nil)
        #expect(Compaction.chooseTier([10], countMin: 2) == nil)
        #expect(Compaction.chooseTier([10, 10], countMin: 2) == 0..<2)
        #expect(Compaction.chooseTier([10, 10], countMin: 0) == 0..<2)
        #expect(Compaction.chooseTier([10, 10], countMin: 3) == nil)
        #expect(Compaction.chooseTier([1000, 10, 10], countMin: 2) == 1..<3)
        #expect(Compaction.chooseTier([40, 10, 10], countMin: 2) == 0..<3)
        #expect(Compaction.chooseTier([41, 10, 10], countMin: 2) == 1..<3)
        #expect(Compaction.chooseTier([10, 10, 10, 1], countMin: 2) == nil)
        #expect(Compaction.chooseTier([0, 0, 0], countMin: 3) == 0..<3)
    }

    @Test func `at rest, everything but much larger segments is merged`() {
        #expect(Compaction.chooseAtRest([]) == nil)
        #expect(Compaction.chooseAtRest([10]) == nil)
        #expect(Compaction.chooseAtRest([40, 10, 10]) == 0..<3)
        #expect(Compaction.chooseAtRest([41, 10, 10]) == 1..<3)
        #expect(Compaction.chooseAtRest([10, 10, 10, 1]) == 0..<4)
        #expect(Compaction.chooseAtRest([1000, 100, 30, 1]) == nil)
        #expect(Compaction.chooseAtRest([1000, 100, 50, 5, 1]) == 1..<5)
    }

    @Test func `at rest, what flushes encoded in haste is written again`() {
        #expect(Compaction.chooseAtRest([10], firstQuick: 0) == 0..<1)
        #expect(Compaction.chooseAtRest([1000, 10, 1], firstQuick: 1) == 1..<3)
        #expect(Compaction.chooseAtRest([1000, 30, 10, 10], firstQuick: 2) == 1..<4)
        #expect(Compaction.chooseAtRest([1000, 30, 1, 1], firstQuick: 1) == 1..<4)
        #expect(Compaction.chooseAtRest([1000, 100, 1], firstQuick: nil) == nil)
    }

    /// Every session adds a small segment and closes; sizes of sessions differ by a factor of 16.
    @Test func `many small sessions leave few segments and rewrite rarely`() {
        var random = SeededRandom(seed: 6)
        var sizes: [Int] = []
        var (added, written, most) = (0, 0, 0)
        for _ in 0..<5000 {
            let size = Int.random(in: 1...16, using: &random) * 100
            sizes.append(size)
            added += size
            written += size
            while let range = Compaction.chooseAtRest(sizes) {
                let merged = sizes[range].reduce(0, +)
                written += merged
                sizes.replaceSubrange(range, with: [merged])
            }
            most = max(most, sizes.count)
        }
        #expect(most <= 10)
        #expect(Double(written) / Double(added) < 10)
    }

    /// Sizes of flushes vary; their sum is what data costs at rest.
    @Test(arguments: [4, 8]) func `an endless stream has few segments and is rewritten rarely`(
        countMin: Int
    ) {
        var random = SeededRandom(seed: 5)
        var sizes: [Int] = []
        var (flushed, written, most) = (0, 0, 0)
        for _ in 0..<20_000 {
            let size = Int.random(in: 500...2000, using: &random)
            sizes.append(size)
            flushed += size
            written += size
            while let range = Compaction.chooseTier(sizes, countMin: countMin) {
                let merged = sizes[range].reduce(0, +)
                written += merged
                sizes.replaceSubrange(range, with: [merged])
            }
            most = max(most, sizes.count)
        }
        #expect(most <= Compaction.segmentCountMax)
        #expect(Double(written) / Double(flushed) < (countMin == 8 ? 6 : 9))
    }
}
