// Imports that run in tasks, and what cancelling a task does to them.

internal import CozDB
internal import CozTestSupport
internal import Glibc
internal import Synchronization
internal import Testing

@testable internal import CozImport

struct AsyncImportTests {
    private let files = TemporaryFiles()

    /// Holds an import up after its first batch until its task is cancelled.
    private final class Pause: Sendable {
        let hasBegun = Atomic<Bool>(false)
        let isOver = Atomic<Bool>(false)

        func wait() {
            hasBegun.store(true, ordering: .releasing)
            while !isOver.load(ordering: .acquiring) { sched_yield() }
        }
    }

    private static func lines(_ count: Int) -> String {
        (0..<count).map { "dev,id_participant=p\($0 % 5) x=\($0) \($0)\n" }.joined()
    }

    @Test func `files and bytes are imported in tasks`() async throws {
        let database = try Database.inMemory()
        let path = files.write("a", Self.lines(100))
        var options = ImportOptions()
        options.settings.identity = .standard
        let report = try await importFiles([path], into: database, options: options)
        #expect(report.points == 100)
        let bytes = Array("dev,id_participant=p1 x=1 1000\n".utf8)
        let more = try await importBytes(bytes, name: "b", into: database, options: options)
        #expect(more.points == 1)
        #expect(try database.rowCount() == 101)
        let error = await #expect(throws: DatabaseError.self) {
            try await importFiles([path + ".none"], into: database, options: options)
        }
        #expect(error?.kind == .notFound)
    }

    @Test func `cancelling the task ends an import between batches`() async throws {
        let database = try Database.inMemory()
        let bytes = Array(Self.lines(50_000).utf8)
        let pause = Pause()
        let task = Task { () async throws(DatabaseError) in
            var options = ImportOptions()
            options.batchRows = 100
            options.committed = { _ in pause.wait() }
            return try await importBytes(bytes, name: "a", into: database, options: options)
        }
        while !pause.hasBegun.load(ordering: .acquiring) { await Task.yield() }
        task.cancel()
        pause.isOver.store(true, ordering: .releasing)
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        let rows = try database.rowCount()
        #expect(rows >= 100 && rows < 50_000 && rows % 100 == 0)
    }
}

struct ByteStreamImportTests {
    private struct Broken: Error {}

    /// Chunks of a text, and then an error.
    private static func chunks(
        _ text: String, of size: Int, then error: (any Error)? = nil
    ) -> AsyncThrowingStream<ArraySlice<UInt8>, any Error> {
        let bytes = Array(text.utf8)
        return AsyncThrowingStream { continuation in
            for start in stride(from: 0, to: bytes.count, by: size) {
                continuation.yield(bytes[start..<min(start + size, bytes.count)])
            }
            continuation.finish(throwing: error)
        }
    }

    private static func lines(_ count: Int) -> String {
        (0..<count).map { "dev,id_participant=p\($0 % 5) x=\($0) \($0)\n" }.joined()
    }

    @Test(arguments: [1, 7, 4096, 3 << 20])
    func `chunks of any size are the same points`(size: Int) async throws {
        let database = try Database.inMemory()
        // More than may wait, unless each byte is a chunk.
        let count = size == 1 ? 500 : 60_000
        let report = try await importBytes(
            Self.chunks(Self.lines(count), of: size), name: "body", into: database)
        #expect(report.points == count)
        #expect(try database.rowCount() == count)
        let sum = try await database.query("SELECT sum(x) FROM dev").series[0].column("sum")
        #expect(sum?.doubles == [Double(count * (count - 1) / 2)])
    }

    @Test func `the format of bytes is found as that of files`() async throws {
        let database = try Database.inMemory()
        for (name, text) in [
            ("a.csv", "measurement,time,id_participant,a\nm,1,p,1\n"),
            (
                "b",
                "{\"results\":[{\"series\":[{\"name\":\"m\",\"tags\":{\"id_participant\":\"p\"},"
                    + "\"columns\":[\"time\",\"a\"],\"values\":[[2,1]]}]}]}"
            ),
            (
                "c",
                "#datatype measurement,tag,dateTime:number,double\n"
                    + "measurement,id_participant,time,a\nm,p,3,1\n"
            ),
            ("d", "m,id_participant=p a=1 4\n"),
        ] {
            let report = try await importBytes(Array(text.utf8), name: name, into: database)
            #expect(report.points == 1 && !report.hasRefusals, "\(name)")
        }
        #expect(try await database.query("SELECT a FROM m").rows(as: Double.self).count == 4)
    }

    @Test func `a table is read twice, whatever it comes from`() async throws {
        let database = try Database.inMemory()
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "dev"
        let text = "time,id_participant,a\n1,p,1\n2,p,x\n"
        let report = try await importBytes(
            Self.chunks(text, of: 3), name: "body", into: database, options: options)
        #expect(report.values == 2 && !report.hasRefusals)
        let schemas = try await database.schemas()
        #expect(schemas[0].field("a")?.type == .string)
    }

    @Test(arguments: [3, 10_000])
    func `types that an annotated table leaves open are those of the whole table`(size: Int)
        async throws
    {
        let database = try Database.inMemory()
        var options = ImportOptions()
        options.format = .annotatedCSV
        let text = """
            #constant measurement,m
            #constant tag,id_participant,p
            #datatype dateTime:number,field
            time,x
            1,1.5
            2,warm
            #datatype measurement,tag,dateTime:number,field
            m,id_participant,time,y
            m,p,1,2.5

            """
        let report = try await importBytes(
            Self.chunks(text, of: size), name: "body", into: database, options: options)
        #expect(report.values == 3 && !report.hasRefusals)
        let schema = try #require(try await database.schemas().first)
        #expect(schema.field("x")?.type == .string && schema.field("y")?.type == .float)
    }

    @Test func `the points before an error of the sequence are kept, and the error is thrown`()
        async throws
    {
        let database = try Database.inMemory()
        let text = Self.lines(100) + "dev,id_participant=p x=1"
        await #expect(throws: Broken.self) {
            try await importBytes(
                Self.chunks(text, of: 64, then: Broken()), name: "body", into: database)
        }
        #expect(try database.rowCount() == 100)
    }

    @Test(arguments: [InputFormat.csv, .influxCSV].map { $0.name })
    func `a table that is read twice keeps the rows before an error, too`(format: String)
        async throws
    {
        let database = try Database.inMemory()
        var options = ImportOptions()
        options.formats = [.csv, .influxCSV]
        options.format = options.formats.first { $0.name == format }
        let isShell = format == InputFormat.influxCSV.name
        if !isShell { options.experiment = "e" }
        let rows = (0..<100).map { "\(isShell ? "e," : "")\($0),p,\($0)\n" }.joined()
        let text = (isShell ? "name," : "") + "time,id_participant,x\n" + rows
        await #expect(throws: Broken.self) {
            try await importBytes(
                Self.chunks(text, of: 64, then: Broken()), name: "body", into: database,
                options: options)
        }
        #expect(try database.rowCount() == 100)
    }

    @Test func `an error of the import ends the iteration`() async throws {
        let database = try Database.inMemory()
        let sequence = Numbered(chunk: Array("{\"a\":1}\n".utf8), count: 1_000_000)
        let error = await #expect(throws: DatabaseError.self) {
            try await importBytes(sequence, name: "body", into: database)
        }
        #expect(error?.kind == .usage && error?.file == "body")
        #expect(sequence.given.load(ordering: .relaxed) < 1_000_000)
    }

    @Test(arguments: [0, 10_000])
    func `cancelling ends an import whose sequence gives nothing more`(count: Int) async throws {
        let database = try Database.inMemory()
        let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(Array(Self.lines(count).utf8))
        let task = Task { try await importBytes(stream, name: "body", into: database) }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        let error = await #expect(throws: DatabaseError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        continuation.finish()
    }

    @Test func `a sender waits until its bytes are read`() async throws {
        let stream = ByteStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            let counter = Counter()
            group.addTask {
                for _ in 0..<100 {
                    _ = await stream.send([UInt8](repeating: 7, count: 100_000))
                    counter.value.add(1, ordering: .relaxed)
                }
                stream.end(.success(()))
            }
            // Without a reader the sender stops after about a megabyte.
            for _ in 0..<50 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(counter.value.load(ordering: .relaxed) <= 11)
            let total = try await Database.waiting { () throws(DatabaseError) in
                var (total, count) = (0, 1)
                var buffer = [UInt8](repeating: 0, count: 77_777)
                while count > 0 {
                    var result = Result<Int, DatabaseError>.success(0)
                    unsafe buffer.withUnsafeMutableBytes { target in
                        result = Result { () throws(DatabaseError) in
                            try unsafe stream.read(into: target)
                        }
                    }
                    count = try result.get()
                    total += count
                }
                return total
            }
            #expect(total == 10_000_000)
            try await group.waitForAll()
        }
    }
}

private final class Counter: Sendable {
    let value = Atomic<Int>(0)
}

/// The same chunk many times; counts how many were asked for.
private final class Numbered: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    let given = Atomic<Int>(0)
    private let chunk: [UInt8]
    private let count: Int

    init(chunk: [UInt8], count: Int) {
        self.chunk = chunk
        self.count = count
    }

    struct Iterator: AsyncIteratorProtocol {
        let sequence: Numbered
        mutating func next() async -> [UInt8]? {
            let number = sequence.given.add(1, ordering: .relaxed).newValue
            return number > sequence.count ? nil : sequence.chunk
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }
}
