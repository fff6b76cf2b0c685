// What reading costs grows in proportion to the input, whatever an input is made of.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

/// Only the importer's own thread is measured: what the database makes of a batch is not here.
@Suite(.serialized) struct ImportGrowthTests {
    /// An input of a size: its text and the options that go with it.
    struct Axis: CustomTestStringConvertible, Sendable {
        var name: String
        /// Of the smallest input.
        var size: Int
        var input: @Sendable (Int) -> (text: String, options: ImportOptions)
        var testDescription: String { name }

        init(
            _ name: String, from size: Int,
            _ input: @escaping @Sendable (Int) -> (text: String, options: ImportOptions)
        ) {
            self.name = name
            self.size = size
            self.input = input
        }
    }

    private static func names(_ count: Int) -> [String] { (0..<count).map { "c\($0)" } }

    private static func options(
        _ format: InputFormat, _ change: (inout ImportOptions) -> Void = { _ in }
    ) -> ImportOptions {
        var options = ImportOptions()
        options.format = format
        options.participant = "p"
        change(&options)
        return options
    }

    /// A table of one row.
    private static func table(_ count: Int, equal: Bool = false) -> String {
        let names = equal ? [String](repeating: "a", count: count) : names(count)
        return "measurement,time,\(names.joined(separator: ","))\n"
            + "m,1,\(names.joined(separator: ","))\n"
    }

    /// An answer with one series.
    private static func series(tags: Int, rows: String) -> String {
        let tags = names(tags).map { "\"\($0)\":\"x\"" }.joined(separator: ",")
        return """
            {"results":[{"series":[{"name":"m","tags":{\(tags)},"columns":["time","v"],
            "values":[[1,1]\(rows)]}]}]}
            """
    }

    private static func schema(_ count: Int) -> ExperimentSchema {
        ExperimentSchema(
            id: count, name: "e\(count)", identity: .standard, typeRule: .lossless, preset: "none")
    }

    static let axes = [
        Axis("lines whose quotes close late", from: 2000) { count in
            let lines = String(repeating: "x\",\"\"\" \n", count: count)
            return ("measurement,time,x\n" + lines, options(.csv))
        },
        Axis("parts of a duration", from: 20_000) { count in
            let head = "#datatype measurement,dateTime:number,duration\nm,time,x\n"
            return (head + "m,1," + String(repeating: "0w", count: count) + "\n", options(.csv))
        },
        Axis("rows shorter than their header", from: 2000) { count in
            (
                "measurement,time,\(names(count).joined(separator: ","))\n"
                    + String(repeating: "1\n", count: count), options(.csv)
            )
        },
        Axis("rows shorter than the defaults of their header", from: 2000) { count in
            (
                "#datatype measurement,dateTime:number,double"
                    + String(repeating: ",tag", count: count) + "\n#default m,,1"
                    + String(repeating: ",v", count: count) + "\nm,time,x,"
                    + names(count).joined(separator: ",") + "\n"
                    + String(repeating: "m,1\n", count: count), options(.annotatedCSV)
            )
        },
        Axis("tables beside columns that options name", from: 500) { count in
            let table = "#datatype measurement,dateTime:number,double\nm,time,x\nm,1,1\n\n"
            return (
                String(repeating: table, count: count),
                options(.annotatedCSV) { options in
                    options.table.ignoredColumns = names(count)
                    options.table.tagColumns = names(count).map { $0 + "t" }
                    options.table.columnTypes = names(count).map { ($0 + "f", .float) }
                }
            )
        },
        Axis("texts that mean no value", from: 500) { count in
            (
                "measurement,time,x\n" + names(count).map { "m,1,\($0)\n" }.joined(),
                options(.csv) { $0.table.nulls = names(count).map { $0 + "n" } + ["c1"] }
            )
        },
        Axis("columns of csv", from: 500) { (table($0), options(.csv)) },
        Axis("values of another type in a column with a long name", from: 1000) { count in
            let name = String(repeating: "n", count: 15 * count)
            return (
                "measurement,time,\(name)\n" + String(repeating: "m,1,x\n", count: count),
                options(.csv) { $0.table.columnTypes = [(name, .integer)] }
            )
        },
        Axis("--skip-columns", from: 3000) { count in
            (table(count), options(.csv) { $0.table.ignoredColumns = names(count - 1) })
        },
        Axis("--tag-columns", from: 3000) { count in
            (table(count), options(.csv) { $0.table.tagColumns = names(count - 1) })
        },
        Axis("--column-types", from: 500) { count in
            (
                table(count),
                options(.csv) { options in
                    options.table.columnTypes = names(count).map { ($0, .string) }
                }
            )
        },
        Axis("columns of csv beside experiments", from: 200) { count in
            (table(count), options(.csv) { $0.schemas = (0..<count).map(schema) })
        },
        Axis("experiments of csv", from: 500) { count in
            (
                "measurement,time,v\n" + names(count).map { "\($0),1,x\n" }.joined(),
                options(.csv)
            )
        },
        Axis("columns of annotated csv", from: 500) { count in
            (
                "#datatype measurement,dateTime:number,"
                    + [String](repeating: "string", count: count).joined(separator: ",") + "\n"
                    + table(count), options(.annotatedCSV)
            )
        },
        Axis("keys of an object", from: 500) { count in
            let fields = names(count).map { "\"\($0)\":1" }.joined(separator: ",")
            return (
                "{\"measurement\":\"m\",\"time\":1,\"fields\":{\(fields)}}\n", options(.ndjson)
            )
        },
        Axis("keys of objects, an experiment each", from: 300) { count in
            (
                names(count).map { "{\"measurement\":\"\($0)\",\"time\":1,\"\($0)\":1}\n" }
                    .joined(), options(.ndjson)
            )
        },
        Axis("keys of an object with --skip-columns", from: 300) { count in
            let fields = names(count).map { "\"\($0)\":1" }.joined(separator: ",")
            return (
                "{\"measurement\":\"m\",\"time\":1,\(fields)}\n",
                options(.ndjson) { $0.table.ignoredColumns = names(count - 1) }
            )
        },
        Axis("columns of an answer", from: 500) { count in
            let names = names(count).map { "\"\($0)\"" }.joined(separator: ",")
            return (
                """
                {"results":[{"series":[{"name":"m","columns":["time",\(names)],
                "values":[[1,\(names)]]}]}]}
                """, options(.influxJSON)
            )
        },
        Axis("series of an answer", from: 300) { count in
            let series = names(count).map {
                "{\"name\":\"\($0)\",\"columns\":[\"time\",\"v\"],\"values\":[[1,2]]}"
            }
            return (
                "{\"results\":[{\"series\":[\(series.joined(separator: ","))]}]}",
                options(.influxJSON)
            )
        },
        Axis("tags of a series beside refused rows", from: 300) { count in
            let rows = String(repeating: ",[1]", count: count)
            return (series(tags: count, rows: rows), options(.influxJSON))
        },
        Axis("tags of a series beside rows that break off", from: 300) { count in
            let rows = String(repeating: ",[1,+]", count: count)
            return (series(tags: count, rows: rows), options(.influxJSON))
        },
        Axis("tags of a series beside renamed columns", from: 300) { count in
            (
                series(tags: count, rows: String(repeating: ",[1,2]", count: count)),
                options(.influxJSON) { $0.renames = ["v": "w"] }
            )
        },
        Axis("tags of a series beside tags of its rows", from: 300) { count in
            (
                series(tags: count, rows: (0..<count).map { ",[1,\($0)]" }.joined()),
                options(.influxJSON) { $0.table.tagColumns = ["v"] }
            )
        },
        Axis("--rename", from: 300) { count in
            let fields = names(count).map { "\($0)=1,d\($0)=2" }.joined(separator: ",")
            return (
                "m \(fields) 1\n",
                options(.lineProtocol) { options in
                    for name in names(count) { options.renames[name] = "d" + name }
                }
            )
        },
        Axis("fields of line protocol", from: 2_000) { count in
            (
                "m " + names(count).map { "\($0)=1" }.joined(separator: ",") + " 1\n",
                options(.lineProtocol)
            )
        },
        Axis("databases of an export", from: 300) { count in
            (
                "# DML\n"
                    + names(count).map { "# CONTEXT-DATABASE: \($0)\nm v=1 1\n" }.joined(),
                options(.lineProtocol) { $0.database = "c7" }
            )
        },
        Axis("rows with doubled quotes that are refused", from: 500) { count in
            (
                "measurement,time,v\n"
                    + String(repeating: "\"a\"\"b\",x,\"\"\"\"\n", count: count), options(.csv)
            )
        },
    ]

    @Test(arguments: axes)
    func `the cost of an import is in proportion to its size`(axis: Axis) throws {
        let files = TemporaryFiles()
        let growth = try Growth(from: axis.size) { size in
            let (text, options) = axis.input(size)
            return (path: files.write("input\(size)", text), options: options)
        } _: { input in
            _ = try importFiles([input.path], options: input.options) { _ in WriteReport() }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a comment without end is looked at once`() throws {
        let files = TemporaryFiles()
        let growth = try Growth(from: 2 << 20) { size in
            files.write("comment\(size)", "# " + String(repeating: "x", count: size))
        } _: { path in
            let file = try InputFile(path: path)
            _ = try ExportScan.contexts(of: file, chunkSize: 16 << 10)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a pipe with many databases is read once`() throws {
        let growth = try Growth(from: 2000) { count in
            let databases = (0..<count).map { "CREATE DATABASE d\($0)\n" }.joined()
            let points = (0..<count).map { "# CONTEXT-DATABASE:d\($0)\nm v=1 1\n" }.joined()
            return Array("# DDL\n\(databases)# DML\n\(points)".utf8)
        } _: { bytes in
            var options = LineProtocolParser.Options()
            options.database = "none"
            var parser = LineProtocolParser(options: options)
            var batch = WriteBatch()
            parser.checksDeclarations = true
            parser.append(bytes.span)
            parser.finish()
            _ = try parser.parse(into: &batch, points: 1000)
            #expect(batch.isEmpty)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a long line with a newline in a string may arrive in small pieces`() throws {
        let growth = try Growth(from: 1 << 20) { size in
            let field = ",b=\"\(String(repeating: "z", count: 1000))\""
            return Array("m a=\"x\ny\"\(String(repeating: field, count: size / 1000)) 1\n".utf8)
        } _: { bytes in
            let input = try parse(bytes) { 4096 }
            #expect(input.points.count == 1)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    // MARK: Flushes

    /// Where attributes are, of which there are n.
    enum Attributes: String, CaseIterable, Sendable {
        case ofOneRow, ofRows, ofRowsOfOneTime, ofSeries

        func points(_ count: Int) -> [(tags: [String: String], time: Int)] {
            let numbers = 0..<count
            switch self {
            case .ofOneRow:
                let tags = numbers.map { ("a\($0)", "v\($0)") } + [("id_participant", "p")]
                return [(Dictionary(uniqueKeysWithValues: tags), 1)]
            case .ofRows: return numbers.map { (["id_participant": "p", "a\($0)": "v"], $0) }
            case .ofRowsOfOneTime:
                return numbers.map { (["id_participant": "p", "a\($0)": "v"], 1) }
            case .ofSeries: return numbers.map { (["id_participant": "p\($0)", "a\($0)": "v"], 1) }
            }
        }
    }

    /// What the flush of all rows of a memtable does.
    private func flushWork(_ write: (Database) throws -> Void, columns: Int) throws -> Int {
        let database = try Database.open(
            "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
        try write(database)
        let view = try #require(try database.takeSnapshot().experiments.first)
        #expect(view.schema.columns.count == columns)
        guard case .memtable(let rows)? = view.sources.first else { return 0 }
        let directory = try FaultyFileSystem().openDirectory("db", create: true, access: .ownerOnly)
        let writer = try SegmentWriter(
            directory.create("x.seg"), number: 4, databaseID: 9, schema: view.schema)
        var flush = MemtableFlush(rows, schema: view.schema)
        try flush.write(to: writer)
        _ = try writer.finish()
        try database.close()
        return flush.stepCount + writer.stepCount
    }

    @Test(arguments: Attributes.allCases)
    func `the work of a flush grows with the attributes of its rows`(place: Attributes) throws {
        let files = TemporaryFiles()
        func imported(_ count: Int) throws -> Int {
            let lines = place.points(count).map { tags, time in
                let tags = tags.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",")
                return "{\"measurement\":\"m\",\"time\":\(time),\"tags\":{\(tags)},"
                    + "\"fields\":{\"x\":1}}\n"
            }
            let path = files.write("\(place)\(count).ndjson", lines.joined())
            return try flushWork(
                { database in
                    _ = try importFiles([path], options: Self.options(.ndjson)) {
                        (batch) throws(DatabaseError) in try database.write(batch)
                    }
                }, columns: count + 1)
        }
        func added(_ count: Int) throws -> Int {
            var batch = WriteBatch()
            for (tags, time) in place.points(count) {
                try batch.add(
                    experiment: "m", tags: tags, time: Timestamp(nanoseconds: Int64(time)),
                    fields: ["x": .float(1)])
            }
            return try flushWork({ _ = try $0.write(batch) }, columns: count + 1)
        }
        for work in [imported, added] {
            let works = try [150, 300, 600].map(work)
            #expect(works[0] >= 150)
            for index in 1...2 {
                #expect(Double(works[index]) < 2.2 * Double(works[index - 1]), "\(works)")
            }
        }
        #expect(try imported(150) == added(150))
    }

    // MARK: Limits

    @Test func `of a long value a short reason is left`() throws {
        let files = TemporaryFiles()
        let digits = String(repeating: "9", count: 4 << 20)
        let recorder = Recorder()
        _ = try recorder.run([files.write("long.lp", "m v=\(digits)i 1\n")])
        let refusal = try #require(recorder.refusals.first)
        #expect(refusal.reason.utf8.count == Refusal.reasonSizeBytesMax)
        #expect(refusal.reason.hasSuffix("99..."))
        guard case .line(let bytes) = refusal.subject else { return }
        #expect(bytes.count == Refusal.lineSizeBytesMax)
    }

    @Test func `a reason is cut between characters`() {
        for shift in 0..<4 {
            let text = String(repeating: "x", count: shift) + String(repeating: "漢", count: 900)
            let refusal = Refusal(subject: .line([]), reason: text, source: "", line: 1).cut
            #expect(refusal.reason.utf8.count <= Refusal.reasonSizeBytesMax)
            #expect(text.hasPrefix(refusal.reason.dropLast(3)) && refusal.reason.hasSuffix("..."))
        }
    }

    @Test func `a row of too many cells is a fault, wherever the pieces end`() throws {
        let files = TemporaryFiles()
        let most = CSVScanner.cellCountMax
        for (count, isRefused) in [(most, false), (most + 1, true), (3 * most, true)] {
            let wide = String(repeating: ",", count: count - 1)
            let path = files.write("wide.csv", "a,b\n\(wide)\nc,d\n")
            for chunk in [1 << 12, 1 << 17, 1 << 22] {
                let rows = try readRows(path, chunk: chunk)
                #expect(rows.map(\.line) == [1, 2, 3])
                #expect(rows[1].cells.count == (isRefused ? 0 : most))
                #expect((rows[1].fault != nil) == isRefused)
                #expect(!isRefused || rows[1].fault == "2:0 a row of more than 131072 cells")
                #expect(rows[2].cells == ["c", "d"])
            }
        }
    }

    @Test func `a header of too many columns is an error that says so`() throws {
        let files = TemporaryFiles()
        let path = files.write(
            "wide.csv", String(repeating: "a,", count: 3 * CSVScanner.cellCountMax) + "time\n1\n")
        let error = #expect(throws: DatabaseError.self) {
            _ = try importFiles([path], options: Self.options(.csv)) { _ in WriteReport() }
        }
        #expect(error?.message.contains("a row of more than 131072 cells") == true, "\(error!)")
    }
}
