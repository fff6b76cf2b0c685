// Imports end to end: files to a database on disk and back.

internal import CozTestSupport
internal import Glibc
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

/// Every value of every row of a database, as text, in order.
func storedLines(_ database: Database) throws -> [String] {
    var lines: [String] = []
    for view in try database.takeSnapshot().experiments {
        let columns = view.schema.columns
        for series in try view.series() {
            var cursor = view.rows(of: series, columns: columns.map(\.id), in: .all)
            var block = ColumnBatch()
            while try cursor.next(into: &block) {
                for row in 0..<block.count {
                    let values = columns.indices.compactMap { index in
                        block.columns[index].value(row).map {
                            "\(columns[index].kind) \(columns[index].name)=\($0)"
                        }
                    }
                    lines.append(
                        "\(view.schema.name) \(series.key.tags.map(\.value)) "
                            + "\(block.times[row]) \(values.sorted())")
                }
            }
        }
    }
    return lines
}

@Suite struct ImportIntoDatabaseTests {
    let files = TemporaryFiles()
    let directory = TemporaryDirectory()

    /// Every value of every row, as text, in order.
    private func contents(_ database: Database) throws -> [String] { try storedLines(database) }

    @Test func `options out of range are an error, and nothing is stored`() throws {
        let path = files.write("a.csv", "time,x\n1,2\n")
        let database = try Database.open(directory.path)
        let changes: [(String, (inout ImportOptions) -> Void)] = [
            ("batchRows is 0;", { $0.batchRows = 0 }),
            ("batchRows is 10000001;", { $0.batchRows = 10_000_001 }),
            ("table.skippedLines is -1;", { $0.table.skippedLines = -1 }),
            ("table.skippedLines is \(Int.min);", { $0.table.skippedLines = .min }),
            ("table.delimiter is byte 34,", { $0.table.delimiter = UInt8(ascii: "\"") }),
            ("table.delimiter is byte 10,", { $0.table.delimiter = UInt8(ascii: "\n") }),
            ("table.delimiter is byte 13,", { $0.table.delimiter = UInt8(ascii: "\r") }),
        ]
        for (message, change) in changes {
            var options = ImportOptions()
            options.format = .csv
            options.experiment = "m"
            change(&options)
            let error = #expect(throws: DatabaseError.self) {
                try importFiles([path], into: database, options: options)
            }
            #expect(error?.kind == .usage)
            #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        }
        #expect(try contents(database).isEmpty)
        try database.close()
    }

    @Test func `a batch that is too large names its file`() throws {
        let lines = (0..<100).map { "m,id_participant=p v=\($0) \($0)\n" }.joined()
        let path = files.write("a.lp", lines)
        var options = DatabaseOptions()
        options.batchSizeBytesMax = 100
        let database = try Database.open(directory.path, options: options)
        let error = #expect(throws: DatabaseError.self) {
            try importFiles([path], into: database)
        }
        #expect(error?.kind == .limitExceeded && error?.file == path)
        #expect(try contents(database).isEmpty)
        try database.close()
    }

    @Test func `a path with a zero byte is not the path before it`() throws {
        let path = files.write("a.lp", "m,id_participant=p v=1 1\n")
        let database = try Database.open(directory.path)
        let copy = directory.path + "-copy"
        #expect(throws: DatabaseError.self) { try importFiles([path + "\0x"], into: database) }
        #expect(throws: DatabaseError.self) { try database.backup(to: copy + "\0x") }
        #expect(throws: DatabaseError.self) { try Database.open(copy + "\0x") }
        #expect(unsafe access(copy, F_OK) != 0)
        #expect(try contents(database).isEmpty)
        try database.close()
    }

    @Test(arguments: [Identity.allTags, .tags(["host", "timestamp"]), .participant(tag: "host")])
    func `an answer imports into its own database unchanged`(identity: Identity) throws {
        let path = files.write(
            "a.lp",
            """
            m,host=a,timestamp=t x=1 1000000001
            m,host=b,timestamp=u x=2 1000000002
            other,x=1,host=o host="a field here",timestamp=5 1

            """)
        let answers: [(InputFormat, String)] = [
            (.csv, "time,host,timestamp,x\n1000000001,a,t,1\n1000000002,b,u,2\n"),
            (
                .ndjson,
                """
                {"time":1000000001,"host":"a","timestamp":"t","x":1}
                {"time":1000000002,"host":"b","timestamp":"u","x":2}

                """
            ),
            (
                .influxJSON,
                """
                {"results":[{"series":[{"name":"m","columns":["time","host","timestamp","x"],\
                "values":[[1000000001,"a","t",1],[1000000002,"b","u",2]]}]}]}

                """
            ),
            (
                .influxCSV,
                "name,time,host,timestamp,x\nm,1000000001,a,t,1\nm,1000000002,b,u,2\n"
            ),
            // Without an experiment in the options, each row's own decides what is a tag.
            (
                .csv,
                "time,experiment,host,timestamp,x\n1000000001,m,a,t,1\n1000000002,m,b,u,2\n"
            ),
            (
                .ndjson,
                """
                {"time":1000000001,"host":"a","timestamp":"t","x":1,"experiment":"m"}
                {"time":1000000002,"host":"b","timestamp":"u","x":2,"experiment":"m"}

                """
            ),
        ]
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.settings.identity = identity
        _ = try importFiles([path], into: database, options: options)
        let before = try contents(database)
        #expect(before.count >= 2)
        for (format, text) in answers {
            options = ImportOptions()
            options.format = format
            options.table.timeFormat = .epoch(.nanoseconds)
            let namesExperiment = text.contains("experiment") || format.name.hasPrefix("influx")
            options.experiment = namesExperiment ? nil : "m"
            let report = try importFiles(
                [files.write("answer", text)], into: database, options: options)
            #expect(report.points == 2, "\(format.name)")
            #expect(try contents(database) == before, "\(format.name): \(text)")
        }
        try database.close()
    }

    @Test func `a series of InfluxDB's JSON has the participant tag of its experiment`() throws {
        let path = files.write(
            "a.lp", "m,subject=s id_participant=true,x=1 1\n")
        let answer = files.write(
            "a.json",
            """
            {"results":[{"series":[{"name":"m","columns":["time","id_participant","subject","x"],\
            "values":[[1,true,"s",1]]}]}]}

            """)
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.settings.identity = .participant(tag: "subject")
        _ = try importFiles([path], into: database, options: options)
        let before = try contents(database)
        options = ImportOptions()
        options.format = .influxJSON
        options.table.timeFormat = .epoch(.nanoseconds)
        _ = try importFiles([answer], into: database, options: options)
        #expect(try contents(database) == before)
        #expect(try database.schemas().first?.attributes.isEmpty == true)
        try database.close()
    }

    @Test func `an import can be read back, also after reopening`() throws {
        let path = files.write(
            "a.lp",
            """
            m,id_participant=p2 v=1.5,s="x" 2
            m,id_participant=p1 v=2 1
            bad
            m,id_participant=p2 w=3i 2
            """)
        let database = try Database.open(directory.path)
        let report = try importFiles([path], into: database)
        #expect(report.points == 3 && report.refusedLines == 1 && report.values == 4)
        #expect(report.refusedPoints == 0 && report.examples.count == 1)
        let expected = [
            #"m ["p1"] 1 ["field v=2.0"]"#,
            #"m ["p2"] 2 ["field s=\"x\"", "field v=1.5", "field w=3i"]"#,
        ]
        #expect(try contents(database) == expected)
        try database.close()
        let again = try Database.open(directory.path, access: .readOnly)
        #expect(try contents(again) == expected)
    }

    /// Phone and watch write the same participant and time.
    private let devices = """
        dev,id_device=phone,id_participant=p ts_rate=61,steps=5 1
        dev,id_device=phone,id_participant=p ts_rate=62 2
        dev,id_device=phone,id_participant=p ts_rate=63 3

        """
    private let others = """
        dev,id_device=watch,id_participant=p ws_rate=61,steps=6 1
        dev,id_device=watch,id_participant=p ws_rate=62 2
        dev,id_device=phone,id_participant=p ts_rate=64 3

        """

    private func expectTwoDevices(_ merged: MergedTagSets?, rows: Int = 2) {
        #expect(merged?.rows == rows)
        #expect(merged?.replacedValues == 1)
        #expect(merged?.identity == .tags(["id_participant", "id_device"]))
        let example = "dev, id_participant=p at 1970-01-01T00:00:00.000000001Z: "
        #expect(merged?.example == example + "id_device \"phone\" and \"watch\"")
    }

    @Test func `rows that two devices met in are counted, in one commit or several`() throws {
        for batchRows in [100, 3, 1] {
            let directory = TemporaryDirectory()
            let database = try Database.open(directory.path)
            var options = ImportOptions()
            options.batchRows = batchRows
            let report = try importFiles(
                [files.write("both.lp", devices + others)], into: database, options: options)
            expectTwoDevices(report.mergedTagSets)
            let again = try importFiles(
                [files.write("c", "m,id_participant=p v=1 1")], into: database)
            #expect(again.mergedTagSets == nil)
            try database.close()
        }
    }

    @Test func `rows that meet in a merge of segments are counted too`() throws {
        let database = try Database.open(directory.path)
        _ = try importFiles([files.write("a.lp", devices)], into: database)
        _ = try importFiles([files.write("b.lp", others)], into: database)
        #expect(database.tagSetMerges.rows == 0)
        try database.compact()
        let merged = MergedTagSets(
            database.tagSetMerges, since: TagSetMerges(), schemas: try database.schemas())
        expectTwoDevices(merged)
        try database.close()
        #expect(database.tagSetMerges.rows == 2)
    }

    @Test func `a tag that only one point has asks for the identity all`() throws {
        let database = try Database.open(directory.path)
        let text = "m,id_participant=p v=1 1\nm,id_participant=p,x=y v=1 1\n"
        let merged = try importFiles([files.write("a.lp", text)], into: database).mergedTagSets
        #expect(merged?.identity == .allTags)
        #expect(merged?.replacedValues == 0)
        #expect(merged?.example.hasSuffix("x (missing) and \"y\"") == true)
        try database.close()
    }

    @Test func `settings that differ from those stored are refused before anything is stored`()
        throws
    {
        let database = try Database.open(directory.path)
        _ = try importFiles([files.write("a", "m,id_participant=p v=1 1")], into: database)
        let path = files.write("b", "n,x=1 v=1 1\nm,x=1 v=2 2\n")
        var options = ImportOptions()
        options.settings.identity = .allTags
        options.batchRows = 1
        let error = #expect(throws: DatabaseError.self) {
            try importFiles([path], into: database, options: options)
        }
        #expect(error?.kind == .usage)
        #expect(try contents(database).count == 1)
        let other = files.write("c", "n,x=1 v=1 1\n")
        #expect(try importFiles([other], into: database, options: options).points == 1)
        #expect(try contents(database).count == 2)
        try database.close()
    }

    @Test(.enabled(if: SharedFiles.directory != nil))
    func `two shapes of one export give the same rows`() throws {
        var results: [[String]] = []
        for name in [
            "cozie_v3/yanta006_write_points.lp", "cozie_v3/yanta006_influx_inspect_export.txt",
        ] {
            let directory = TemporaryDirectory()
            let path = try #require(SharedFiles.path("data/\(name)"))
            let database = try Database.open(directory.path)
            #expect(try importFiles([path], into: database).values == 48_869)
            #expect(try importFiles([path], into: database).values == 48_869)
            let fields = try database.schemas().first?.fields.count
            #expect(fields == 138)
            results.append(try contents(database))
            try database.close()
        }
        #expect(results[0].count == 6683)
        #expect(results[0] == results[1])
    }

    @Test(.enabled(if: SharedFiles.directory != nil))
    func `every line-protocol file of the collection imports`() throws {
        let names = [
            "bay-area-weather", "bitcoin", "eu-wind-data", "fixture_air_and_water",
            "fixture_influxql_logs", "fixture_metrics", "fixture_prometheus",
            "fixture_read_filter", "fixture_tag_values_head20000", "fixture_temperature",
            "home-sensor-data", "kyber_influx_inspect_export", "random-numbers",
        ]
        var options = ImportOptions()
        options.settings.identity = .allTags
        for name in names {
            let path = try #require(SharedFiles.path("data/influx/\(name).lp"))
            let directory = TemporaryDirectory()
            let database = try Database.open(directory.path)
            let report = try importFiles([path], into: database, options: options)
            #expect(report.points > 0 && !report.hasRefusals, "\(name) \(report.examples)")
            try database.close()
        }
    }
}
