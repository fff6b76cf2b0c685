// Durable commits of one row each: by one writer, compared with a loop of fdatasync over as many
// bytes, and by many threads that each wait for their commit.

internal import CozDB
internal import Glibc
internal import Synchronization

enum CommitsWorkload {
    /// - Parameter directory: Where the databases are created, on the disk to measure.
    static func run(directory: String, count: Int, threads: Int) throws(DatabaseError) {
        try single(directory, count: count)
        try group(directory, threads: threads)
    }

    // MARK: One writer

    /// Alternates a commit and an iteration of the loop, so that other disk activity affects both.
    private static func single(_ directory: String, count: Int) throws(DatabaseError) {
        let path = "\(directory)/commits-\(getpid()).cozdb"
        let database = try Database.open(path)
        var writer = RowWriter(series: 0)
        for _ in 0..<10 { try writer.write(to: database) }
        let size = try lastFrameSize(path)
        let loop = try SyncLoop("\(directory)/loop-\(getpid())", size: size, count: count)
        var (commits, writes) = (Durations(), Durations())
        for _ in 0..<count {
            let start = Clock.now()
            try writer.write(to: database)
            let middle = Clock.now()
            loop.write()
            commits.append(middle - start)
            writes.append(Clock.now() - middle)
        }
        print("one writer, \(count) commits of one row in turn with the loop, \(size) bytes each:")
        line("fdatasync loop", writes)
        line("commit", commits)
        print(
            "  ratio               median \(digits(commits.median / writes.median))"
                + "   99 % \(digits(commits.part(0.99) / writes.part(0.99)))")
        try database.close()
    }

    private static func line(_ name: String, _ times: Durations) {
        let label = name.padded(to: 20)
        print(
            "  \(label)median \(digits(times.median * 1e6)) us"
                + "   99 % \(digits(times.part(0.99) * 1e6)) us"
                + "   least \(digits(times.least * 1e6)) us")
    }

    /// Size of the last frame in the only log, in bytes. The layout is in docs/format/wal.md.
    private static func lastFrameSize(_ database: String) throws(DatabaseError) -> Int {
        let log = "\(database)/\(try onlyLog(database))"
        let bytes = try ParseWorkload.readFile(log)
        var (offset, size) = (40, 0)
        while offset + 32 <= bytes.count {
            let payload = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
            if payload == 0 { break }
            size = (32 + payload + 7) / 8 * 8
            offset += size
        }
        return size
    }

    private static func onlyLog(_ database: String) throws(DatabaseError) -> String {
        guard let stream = unsafe opendir(database) else {
            throw DatabaseError(.notFound, "cannot list the directory", file: database)
        }
        defer { unsafe closedir(stream) }
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".wal") { return name }
        }
        throw DatabaseError(.notFound, "no log; was it closed?", file: database)
    }

    // MARK: Many writers

    private static func group(_ directory: String, threads: Int) throws(DatabaseError) {
        let path = "\(directory)/groups-\(getpid()).cozdb"
        let database = try Database.open(path)
        var first = RowWriter(series: 0)
        try first.write(to: database)
        let seconds = 3.0
        let all = Mutex(Durations())
        let start = Clock.now()
        let cpuStart = Clock.processor()
        SystemThreads.run(threads) { number in
            var writer = RowWriter(series: number)
            var times = Durations()
            var now = Clock.now()
            while now - start < seconds {
                do {
                    try writer.write(to: database)
                } catch {
                    fatalError("\(error)")
                }
                let end = Clock.now()
                times.append(end - now)
                now = end
            }
            all.withLock { $0.append(contentsOf: times) }
        }
        let elapsed = Clock.now() - start
        let processor = Clock.processor() - cpuStart
        let times = all.withLock { $0 }
        let rate = Double(times.count) / elapsed
        print("\(threads) threads, each one row a commit and waiting for it:")
        print(
            "  \(Int(rate)) rows/s, \(digits(processor / Double(times.count) * 1e6)) us of "
                + "processor a row, \(digits(processor / elapsed)) cores busy")
        line("commit", times)
        try database.close()
    }
}

/// Writes rows of one series, one batch per row. It looks up the names each time, as a service
/// would.
private struct RowWriter {
    private var batch = WriteBatch()
    private let participant: [UInt8]
    private var time: Int64 = 1_700_000_000_000_000_000

    private static let experiment = Array("bench".utf8)
    private static let tag = Array("id_participant".utf8)
    private static let field = Array("ts_heart_rate".utf8)

    init(series: Int) {
        participant = Array("participant\(series)".utf8)
    }

    mutating func write(to database: Database) throws(DatabaseError) {
        let participant = participant
        batch.removeAll()
        let experiment = batch.experiment(RowWriter.experiment.span)
        batch.beginTagSet(experiment: experiment)
        batch.addTag(name: RowWriter.tag.span, value: participant.span)
        let tagSet = batch.endTagSet()
        let column = batch.column(
            experiment: experiment, name: RowWriter.field.span, type: .float)
        time += 1_000_000_000
        batch.append(Double(60 + time / 1_000_000_000 % 40), to: column)
        batch.endRow(tagSet: tagSet, time: time, line: 0)
        _ = try database.write(batch)
    }
}

/// The lower bound for a durable write: overwrites allocated bytes, then calls fdatasync.
private final class SyncLoop {
    private let descriptor: Int32
    private let bytes: [UInt8]
    private var offset = 0

    /// Creates a file with the size of all writes, filled and synced.
    init(_ path: String, size: Int, count: Int) throws(DatabaseError) {
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DatabaseError(.io, "cannot make a file for the loop", file: path)
        }
        unsafe unlink(path)
        bytes = [UInt8](repeating: 0x5A, count: size)
        let zeros = [UInt8](repeating: 0, count: size * count)
        guard unsafe pwrite(descriptor, zeros, zeros.count, 0) == zeros.count,
            fsync(descriptor) == 0
        else { throw DatabaseError(.io, "cannot write the file for the loop", file: path) }
    }

    deinit { close(descriptor) }

    func write() {
        guard unsafe pwrite(descriptor, bytes, bytes.count, offset) == bytes.count,
            fdatasync(descriptor) == 0
        else { fatalError("the loop cannot write") }
        offset += bytes.count
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
