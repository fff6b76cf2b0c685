// Imports from files to a stand-in for the database: order, batches, exports, refusals.

internal import Synchronization
internal import Testing

internal import CozTestSupport
@testable internal import CozDB
@testable internal import CozImport

/// Takes the batches of an import and remembers them.
final class Recorder: Sendable {
    struct State {
        var input = ParsedInput()
        var sizes: [Int] = []
        var sources: [String] = []
        var committed: [Int] = []
    }

    let state = Mutex(State())
    /// Commits that work before one fails; nil: all work.
    let failsAfter: Int?

    init(failsAfter: Int? = nil) {
        self.failsAfter = failsAfter
    }

    var points: [ParsedPoint] { state.withLock { $0.input.points } }
    var refusals: [Refusal] { state.withLock { $0.input.refusals } }
    var committed: [Int] { state.withLock { $0.committed } }

    func run(
        _ paths: [String], _ options: ImportOptions = ImportOptions()
    ) throws(DatabaseError) -> ImportReport {
        var options = options
        options.committed = { count in self.state.withLock { $0.committed.append(count) } }
        return try importFiles(paths, options: options) { (batch) throws(DatabaseError) in
            try self.commit(batch)
        }
    }

    private func commit(_ batch: borrowing WriteBatch) throws(DatabaseError) -> WriteReport {
        if let failsAfter, state.withLock({ $0.sizes.count }) >= failsAfter {
            throw DatabaseError(.io, "no space left")
        }
        var input = ParsedInput()
        input.add(batch)
        let source = batch.source
        let size = batch.rowCount + batch.refusals.count
        let values = batch.valueCount
        let all = input
        state.withLock { state in
            state.input.points += all.points
            state.input.refusals += all.refusals
            state.sizes.append(size)
            state.sources.append(source)
        }
        var report = WriteReport()
        report.points = size
        report.values = values
        report.examples = Array(all.refusals.prefix(WriteReport.exampleCountMax))
        return report
    }
}

/// Reads a file whose experiments have all tags as their identity.
func importedRows(
    _ path: String, _ format: InputFormat, _ change: (inout ImportOptions) -> Void
) throws -> (lines: [String], refusals: [Refusal]) {
    var options = ImportOptions()
    options.format = format
    options.settings.identity = .allTags
    change(&options)
    let recorder = Recorder()
    _ = try recorder.run([path], options)
    return (recorder.points.map(\.text), recorder.refusals)
}

@Suite struct ImporterTests {
    let files = TemporaryFiles()

    private func lines(_ range: Range<Int>) -> String {
        range.map { "m,a=b v=\($0),s=\"x\" \($0)\n" }.joined()
    }

    @Test func `files are read in order and batches end by points and with files`() throws {
        let first = files.write("a.lp", lines(0..<25) + "bad\n")
        let second = files.write("b.lp.gz", gzip(Array(lines(25..<60).utf8)))
        var options = ImportOptions()
        options.batchRows = 10
        let recorder = Recorder()
        let report = try recorder.run([first, second], options)
        #expect(recorder.points.map(\.time) == Array(0..<60))
        #expect(recorder.state.withLock { $0.sizes } == [10, 10, 6, 10, 10, 10, 5])
        #expect(
            recorder.state.withLock { $0.sources } == [first, first, first] + [
                second, second, second, second,
            ])
        #expect(recorder.committed == [10, 20, 26, 36, 46, 56, 61])
        #expect(report.points == 60 && report.refusedLines == 1 && report.values == 120)
        #expect(report.examples.map(\.line) == [26] && report.hasRefusals)
    }

    @Test func `nothing is stored when a file is missing`() throws {
        let recorder = Recorder()
        let path = files.write("a.lp", lines(0..<5))
        let error = #expect(throws: DatabaseError.self) {
            try recorder.run([path, "\(files.directory)/none"])
        }
        #expect(error?.kind == .notFound && recorder.points.isEmpty)
    }

    @Test func `an empty input stores nothing and is no error`() throws {
        let recorder = Recorder()
        let report = try recorder.run([files.write("a", ""), files.write("b", "\n# c\n")])
        #expect(report.points == 0 && !report.hasRefusals && recorder.committed.isEmpty)
        #expect(report.bytes == 5)
    }

    @Test func `after a failed commit nothing more is committed`() throws {
        var options = ImportOptions()
        options.batchRows = 10
        let recorder = Recorder(failsAfter: 3)
        let path = files.write("a.lp", lines(0..<500))
        let error = #expect(throws: DatabaseError.self) { try recorder.run([path], options) }
        #expect(error?.kind == .io && recorder.committed == [10, 20, 30])
    }

    @Test func `what stands before the end of a cut file is stored`() throws {
        let whole = gzip(Array(lines(0..<50_000).utf8))
        let path = files.write("cut.gz", Array(whole[..<(whole.count / 2)]))
        let recorder = Recorder()
        let error = #expect(throws: DatabaseError.self) { try recorder.run([path]) }
        #expect(error?.kind == .damaged)
        let times = recorder.points.map(\.time)
        #expect(times.count > 10_000 && times == Array(0..<Int64(times.count)))
        #expect(recorder.committed.last == times.count && recorder.refusals.isEmpty)
    }

    @Test func `what stands before the end of a cut export is stored`() throws {
        let head = """
            # INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z
            # DDL
            CREATE DATABASE db WITH NAME autogen
            # DML
            # CONTEXT-DATABASE:db
            # CONTEXT-RETENTION-POLICY:autogen

            """
        let whole = gzip(Array((head + lines(0..<50_000)).utf8))
        let path = files.write("export.gz", Array(whole[..<(whole.count / 2)]))
        let recorder = Recorder()
        let error = #expect(throws: DatabaseError.self) { try recorder.run([path]) }
        #expect(error?.kind == .damaged)
        let times = recorder.points.map(\.time)
        #expect(times.count > 10_000 && times == Array(0..<Int64(times.count)))
    }

    @Test func `an import can be cancelled between batches`() throws {
        var options = ImportOptions()
        options.batchRows = 10
        let asked = Mutex(0)
        let isCancelled: @Sendable () -> Bool = {
            asked.withLock { count in
                count += 1
                return count > 3
            }
        }
        options.isCancelled = { isCancelled() }
        let recorder = Recorder()
        let path = files.write("a.lp", lines(0..<500))
        let error = #expect(throws: DatabaseError.self) { try recorder.run([path], options) }
        #expect(error?.kind == .cancelled && recorder.points.count == 30)
    }

    @Test func `other formats are recognised`() throws {
        for text in ["PAR1...", "{\"a\":1}", "#datatype,string", "[{}]"] {
            let path = files.write("x", text)
            let error = #expect(throws: DatabaseError.self) { try Recorder().run([path]) }
            #expect(error?.kind == .usage)
        }
    }

    // MARK: Exports

    let export = """
        # INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z
        # DDL
        CREATE DATABASE "db0" WITH NAME autogen
        CREATE DATABASE db1 WITH NAME "rp 1"
        CREATE RETENTION POLICY rp2 ON db1 DURATION 1h REPLICATION 1
        # DML
        # CONTEXT-DATABASE:db0
        # CONTEXT-RETENTION-POLICY:autogen
        # writing tsm data
        m v=1 1
        m s="a
        # CONTEXT-DATABASE:no
        b" 2
        # writing wal data
        m v=3 3

        # CONTEXT-DATABASE: db1
        # CONTEXT-RETENTION-POLICY: rp 1
        m v=4 4
        m bad
        # CONTEXT-RETENTION-POLICY:rp2
        m v=5 5
        # CONTEXT-DATABASE:_internal
        # CONTEXT-RETENTION-POLICY:monitor
        """

    @Test func `several databases are refused until one is chosen`() throws {
        let path = files.write("x.txt", export.replacing("# CONTEXT-DATABASE:no\n", with: ""))
        let recorder = Recorder()
        let error = #expect(throws: DatabaseError.self) { try recorder.run([path]) }
        #expect(error?.kind == .usage && recorder.points.isEmpty)
        #expect(error?.remedy == .change([.database]))
        for name in ["\"db0\"", "\"db1\"", "\"rp 1\"", "choose a database"] {
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
        #expect(error?.message.contains("_internal") == false)
    }

    @Test func `names that differ only in normalisation are two databases`() throws {
        let names = ["caf\u{E9}", "cafe\u{301}"]
        let text = names.enumerated().map { number, name in
            "# CONTEXT-DATABASE:\(name)\nm v=1 \(number)\n"
        }.joined()
        let path = files.write("two.txt", "# DML\n" + text)
        let error = #expect(throws: DatabaseError.self) { try Recorder().run([path]) }
        #expect(error?.message.contains("several databases") == true, "\(error?.message ?? "")")
        for (number, name) in names.enumerated() {
            var options = ImportOptions()
            options.database = name
            let recorder = Recorder()
            _ = try recorder.run([path], options)
            #expect(recorder.points.map(\.time) == [Int64(number)])
        }
    }

    private func times(_ database: String?, _ policy: String?, file: String) throws -> [Int64] {
        var options = ImportOptions()
        options.database = database
        options.policy = policy
        let recorder = Recorder()
        let report = try recorder.run([files.write("choice.txt", file)], options)
        #expect(report.points + report.skippedOtherDatabases + report.refusedLines == 6)
        return recorder.points.map(\.time)
    }

    @Test func `database and policy pick their lines`() throws {
        #expect(try times("db0", nil, file: export) == [1, 2, 3])
        #expect(try times("db1", "rp 1", file: export) == [4])
        #expect(try times("db1", "rp2", file: export) == [5])
        #expect(try times(nil, "rp2", file: export) == [5])
        for (database, policy) in [("db1", nil), ("none", nil), ("db0", "rp2")]
            as [(String, String?)]
        {
            #expect(throws: DatabaseError.self) {
                try times(database, policy, file: export)
            }
        }
    }

    /// Lines of all kinds in any order: what is found must not depend on where a file is halved.
    @Test(arguments: 0..<20) func `two halves of an export have the contexts of the whole`(
        seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        let kinds = [
            "m v=1 1", "m v=1 1", "", "# writing tsm data", "# CONTEXT-DATABASE:a",
            "# CONTEXT-DATABASE:b", "# CONTEXT-RETENTION-POLICY:p",
            "# CONTEXT-RETENTION-POLICY:q", "# CONTEXT-DATABASE:",
        ]
        var sizes = Set<Int>()
        for _ in 0..<50 {
            let lines = (0..<Int.random(in: 2...12, using: &random)).map { _ in
                kinds.randomElement(using: &random) ?? ""
            }
            let path = files.write("halves.txt", lines.joined(separator: "\n"))
            func contexts(halvedFrom size: Int) throws -> [ExportContext] {
                let file = try InputFile(path: path)
                _ = try file.peek()
                return try ExportScan.contexts(of: file, chunkSize: 16, halvedFrom: size)
            }
            let whole = try contexts(halvedFrom: .max)
            sizes.insert(whole.count)
            #expect(try contexts(halvedFrom: 1) == whole, "seed \(seed): \(lines)")
        }
        #expect(sizes.contains(0) && sizes.contains(2))
    }

    @Test func `an export of one database needs no choice`() throws {
        let one = String(export.prefix { _ in true }).split(separator: "# CONTEXT-DATABASE: db1")[0]
        let recorder = Recorder()
        let text = one.replacing("# CONTEXT-DATABASE:no\n", with: "")
        let report = try recorder.run([files.write("one.txt", String(text))])
        #expect(recorder.points.map(\.time) == [1, 2, 3])
        #expect(recorder.refusals.isEmpty)
        #expect(report.databases == [ExportContext(database: "db0", policy: "autogen")])
    }

    @Test func `a notice glued in front of a line is taken off`() throws {
        let text = """
            skipped missing file: /data/db/autogen/1/000000001-000000001.tsmm v=1 1
            skipped missing file: /a/01-02.tsmskipped missing file: /b/_00001.walm v=2 2
            skipped missing file: /a/000000001-000000002.tsm# writing wal data
            skipped missing file: /somewhere/else
            skipped v=3 3
            """
        let recorder = Recorder()
        _ = try recorder.run([files.write("glued.txt", text)])
        #expect(recorder.points.map(\.time) == [1, 2, 3] && recorder.refusals.isEmpty)
    }

    @Test func `a pipe is decided by its DDL or at the second database`() throws {
        var parser = LineProtocolParser()
        parser.checksDeclarations = true
        var batch = WriteBatch()
        parser.append(export.utf8.span)
        #expect(throws: DatabaseError.self) { try parser.parse(into: &batch, points: 100) }
        #expect(batch.isEmpty)
        var other = LineProtocolParser()
        other.append("# CONTEXT-DATABASE:a\nm v=1 1\n# CONTEXT-DATABASE:b\nm v=2 2\n".utf8.span)
        #expect(throws: DatabaseError.self) { try other.parse(into: &batch, points: 100) }
    }

    @Test func `DDL outside its section is no bad line`() throws {
        let text = "CREATE DATABASE \"x\" WITH NAME autogen\nCREATE v=1 1\nm v=2 2"
        let recorder = Recorder()
        _ = try recorder.run([files.write("ddl", text)])
        #expect(recorder.points.map(\.time) == [1, 2] && recorder.refusals.isEmpty)
    }

    @Test(.enabled(if: SharedFiles.directory != nil))
    func `real exports are read whole`() throws {
        for (name, values) in [
            ("cozie_v3/yanta006_write_points.lp", 48_869),
            ("cozie_v3/yanta006_influx_inspect_export.txt", 48_869),
        ] {
            let path = try #require(SharedFiles.path("data/\(name)"))
            let recorder = Recorder()
            let report = try recorder.run([path])
            #expect(report.values == values && report.refusedLines == 0)
            #expect(Set(recorder.points.map(\.time)).count == 6683)
            #expect(Set(recorder.points.flatMap(\.fields.keys)).count == 138)
        }
        let noaa = try #require(SharedFiles.path("data/influx/noaa_water_importer_sample.txt"))
        #expect(throws: DatabaseError.self) { try Recorder().run([noaa]) }
        for database in ["db0", "db1"] {
            var options = ImportOptions()
            options.database = database
            #expect(try Recorder().run([noaa], options).points == 3)
        }
    }
}
