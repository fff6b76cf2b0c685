// The small database that fuzzers put their bytes into, and what is done with a database that may
// hold anything.

@testable internal import CozDB

enum Sample {
    /// The same in every run, as the corpus has it.
    static let databaseID: UInt64 = 0x0123_4567_89AB_CDEF
    static let rejectsNumber: UInt64 = 900

    static let options = {
        var options = DatabaseOptions()
        options.compactsInBackground = false
        options.retireSeconds = 0
        options.memtableSizeBytesMax = 1 << 20
        return options
    }()

    /// Limits that keep an honest answer far below a second.
    static let queryOptions = {
        var options = QueryOptions(now: Timestamp(nanoseconds: 1_700_000_000_000_000_000))
        options.isDryRun = true
        options.limits = QueryLimits()
        options.rowCountMax = 20_000
        options.bucketCountMax = 2000
        options.groupCountMax = 2000
        options.limits?.memorySizeBytesMax = 32 << 20
        return options
    }()

    static func open(
        _ files: MemoryFiles, _ access: DatabaseAccess
    ) throws(DatabaseError) -> Database {
        try Database.open("db", access: access, options: options, on: files)
    }

    /// The files of the database after a crash: two segments, refusals, commits in the log.
    static let files: [String: [UInt8]] = {
        var files = (try? makeFiles()) ?? [:]
        files["db/LOCK"] = nil
        for (path, bytes) in files where path.hasSuffix(".wal") {
            let end = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
            files[path] = Array(bytes.prefix((end + 7) / 8 * 8))
        }
        return files
    }()

    static let manifest: Manifest =
        (try? Manifest(decoding: files["db/MANIFEST"] ?? [])) ?? Manifest(databaseID: databaseID)

    private static func makeFiles() throws(DatabaseError) -> [String: [UInt8]] {
        let system = MemoryFiles([
            "db/MANIFEST": Manifest(databaseID: databaseID).encoded()
        ])
        let database = try open(system, .readWrite)
        _ = try database.write(batch(rows: 0..<60))
        try database.flush()
        _ = try database.write(batch(rows: 40..<64))
        let files = system.files
        try database.close()
        return files
    }

    /// Fields of all types, texts that are times, copies of other fields, attributes; a value that
    /// is refused.
    static func batch(rows: Range<Int>) throws(DatabaseError) -> WriteBatch {
        var batch = WriteBatch()
        for row in rows {
            let time = 1_699_000_000_000_000_000 + Int64(row) * 60_000_000_000
            let text = Timestamp(nanoseconds: time).description
            try batch.add(
                experiment: row % 5 == 0 ? "cpu" : "dev",
                tags: ["id_participant": "p\(row % 3)", "host": "h\(row % 2)"],
                time: Timestamp(nanoseconds: time),
                fields: [
                    "v": .float(Double(row * row % 97) / 8), "i": .integer(Int64(row) << (row % 9)),
                    "s": .string(row % 4 == 0 ? "näher" : "x\(row)"), "b": .boolean(row % 7 < 3),
                    "ts_time": .string(text), "ws_time": .string(text),
                    "sparse \(row % 6)": .integer(7),
                ])
            if row % 25 == 20 {
                try batch.add(
                    experiment: "dev", tags: ["id_participant": "p1"],
                    time: Timestamp(nanoseconds: time), fields: ["i": .string("no number \(row)")])
            }
        }
        return batch
    }

    // MARK: What is done with any database

    private static let statements = [
        "SELECT * FROM /.*/",
        "SELECT count(*), sum(*), mean(*), min(*), first(*), last(*) FROM /.*/ GROUP BY *",
        "SELECT max(v), spread(i), count(s) FROM /.*/ WHERE v > 2 AND s != 'x3' AND b = true",
        "SELECT first(v), last(s), count(*) FROM /.*/ WHERE time > '2023-11-03T08:10:00Z' "
            + "GROUP BY time(10m), id_participant fill(none)",
        "SHOW SERIES", "SHOW TAG VALUES WITH KEY =~ /.*/", "SHOW FIELD KEYS",
    ]

    /// Asks for everything, one way and another.
    static func read(_ files: MemoryFiles) throws(FuzzFailure) {
        var opened: Database?
        try attempt { () throws(DatabaseError) in opened = try open(files, .readOnly) }
        guard let database = opened else { return }
        for statement in statements {
            // What they name may not be there.
            try attempt(allowing: [.usage, .notFound]) { () throws(DatabaseError) in
                _ = try database.execute(statement, options: queryOptions)
            }
        }
        try attempt { () throws(DatabaseError) in
            _ = try database.info()
            for schema in try database.schemas() { _ = try database.columns(of: schema.name) }
            try database.rejects { _ throws(DatabaseError) in true }
        }
    }

    /// Opens for writing, changes everything, and closes.
    static func change(_ files: MemoryFiles) throws(FuzzFailure) {
        try attempt(allowing: [.usage, .io]) { () throws(DatabaseError) in
            let database = try open(files, .readWrite)
            _ = try database.write(batch(rows: 50..<70))
            try database.compact()
            _ = try database.execute("DELETE FROM /.*/ WHERE id_participant = 'p1'")
            _ = try database.forget(["p2"])
            try database.close()
        }
    }

    /// Prints the files, looks for damage, takes it out, and looks again: then there must be none.
    static func mend(_ files: MemoryFiles) throws(FuzzFailure) {
        for path in files.paths.sorted() where !path.hasSuffix(".rej") {
            try attempt(allowing: [.notFound]) { () throws(DatabaseError) in
                try Database.inspect(path, on: files) { _ throws(DatabaseError) in }
            }
        }
        var left: [String] = []
        try attempt(allowing: [.notFound]) { () throws(DatabaseError) in
            _ = try Database.check("db", on: files, decodes: true) { _ in }
            _ = try Database.repair("db", on: files)
            _ = try Database.check("db", on: files, decodes: true) { finding in
                if finding.severity == .damage { left.append("\(finding)") }
            }
        }
        try require(left.isEmpty, "damage is left after a repair: \(left)")
    }

    /// Runs something that may fail, with an error of a kind that is expected of any bytes, or of
    /// one of those named.
    static func attempt(
        allowing kinds: Set<DatabaseError.Kind> = [], _ body: () throws(DatabaseError) -> Void
    ) throws(FuzzFailure) {
        do throws(DatabaseError) {
            try body()
        } catch {
            try check(error, allowing: kinds)
        }
    }

    /// An error must be of a kind that the caller expects, and say something.
    static func check(
        _ error: DatabaseError,
        allowing kinds: Set<DatabaseError.Kind> = []
    ) throws(FuzzFailure) {
        let expected = kinds.union([.damaged, .unsupportedFormat, .limitExceeded])
        try require(expected.contains(error.kind), "an error of another kind: \(error)")
        try require(!error.message.isEmpty, "an error without words")
    }
}

extension [UInt8] {
    /// Overwrites bytes with a number, little-endian; as far as they are there.
    mutating func put(_ number: some FixedWidthInteger & UnsignedInteger, at offset: Int) {
        for index in 0..<(number.bitWidth / 8) where indices.contains(offset + index) {
            self[offset + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }

    /// A number of four bytes that are there.
    func word32(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << (8 * UInt32($1)) }
    }
}
