// What the columns of a table or the keys of an object become, where formats could differ.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct ColumnRuleTests {
    private let files = TemporaryFiles()
    private static let long = String(repeating: "v", count: 70_000)

    private func read(
        _ text: String, _ format: InputFormat, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> (lines: [String], refusals: [String]) {
        let found = try importedRows(files.write("a", text), format, change)
        return (found.lines, found.refusals.map(\.reason))
    }

    private func failure(
        _ text: String, _ format: InputFormat, _ change: (inout ImportOptions) -> Void = { _ in }
    ) -> String {
        do {
            return "nothing was thrown: \(try read(text, format, change).lines)"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test func `only row numbers have names that begin with Unnamed`() throws {
        let text = """
            time,id_participant,x,Unnamed: note,Unnamed: 0,Unnamed: 0.1,Unnamed: 0.,Unnamed: x0
            5,p,1,hello,7,8,9,10

            """
        func line(_ change: (inout ImportOptions) -> Void = { _ in }) throws -> String? {
            try read(text, .csv) {
                $0.experiment = "d"
                change(&$0)
            }.lines.first
        }
        let others = #"Unnamed: 0.=9,Unnamed: note="hello",Unnamed: x0=10,x=1 5"#
        #expect(try line() == "d,id_participant=p " + others)
        let named = try line { $0.table.columnTypes = [("Unnamed: 0", .integer)] }
        #expect(named == "d,id_participant=p Unnamed: 0=7i," + others)
        let database = try Database.inMemory()
        try database.declare(
            experiment: "d", fields: [SchemaPreset.Field("Unnamed: 0", .integer)])
        let schemas = try database.schemas()
        #expect(try line { $0.schemas = schemas } == named)
    }

    // MARK: Tags that cannot be stored

    private static let badTags: [String: (format: InputFormat, text: String)] = [
        "empty name": (
            .ndjson, #"{"measurement":"m","time":1,"tags":{"":"v"},"fields":{"x":1}}"#
        ),
        "long value": (
            .ndjson, #"{"measurement":"m","time":1,"tags":{"t":"\#(long)"},"fields":{"x":1}}"#
        ),
        "long name": (
            .ndjson, #"{"measurement":"m","time":1,"tags":{"\#(long)":"v"},"fields":{"x":1}}"#
        ),
        "empty name of a series": (
            .influxJSON,
            """
            {"results":[{"series":[{"name":"m","tags":{"":"a"},"columns":["time","x"],
            "values":[[1,1]]}]}]}
            """
        ),
        "empty name of a constant": (
            .annotatedCSV,
            "#constant,tag,,7\n#datatype measurement,dateTime:number,long\n,,x\nm,1,1\n"
        ),
        "long default": (
            .annotatedCSV,
            """
            #datatype measurement,tag,dateTime:number,long
            #default ,\(long),,
            ,t,,x
            m,,1,1

            """
        ),
    ]

    @Test(arguments: badTags.keys.sorted())
    func `a row with a tag that cannot be stored is refused`(name: String) throws {
        let (format, text) = try #require(ColumnRuleTests.badTags[name])
        for batchRows in [1, 100] {
            let found = try read(text, format) { $0.batchRows = batchRows }
            #expect(found.lines.isEmpty)
            #expect(found.refusals.count == 1)
            #expect(found.refusals.first?.contains("expected") == true)
        }
    }

    @Test func `a participant that cannot be stored is an error of the options`() {
        let message = failure("m x=1 1\n", .lineProtocol) { $0.participant = ColumnRuleTests.long }
        #expect(message == "participant has 70000 bytes; expected at most 65535")
    }

    // MARK: The order of the members of a series

    @Test func `the members of a series may have any order, if the values are last`() throws {
        let members = [
            #""name":"m""#, #""tags":{"host":"a"}"#, #""columns":["time","measurement","x"]"#,
        ]
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            let head = order.map { members[$0] }.joined(separator: ",")
            let found = try read(
                #"{"results":[{"series":[{\#(head),"values":[[1,"other",2]]}]}]}"#, .influxJSON)
            #expect(found.lines == ["m,host=a measurement=\"other\",x=2 1"], "\(head)")
        }
    }

    @Test(arguments: [#""tags":{"host":"a"}"#, #""name":"n""#, #""columns":["time","y"]"#])
    func `members of a series after its values are an error`(member: String) {
        let text = """
            {"results":[{"series":[
            {"name":"m","columns":["time","x"],"values":[[1,2]],\(member)}]}]}
            """
        let name = member.dropFirst().prefix { $0 != "\"" }
        #expect(failure(text, .influxJSON).contains("found \"\(name)\" after \"values\""))
    }

    // MARK: Options of annotated tables

    private static let annotated = """
        #datatype measurement,tag,tag,dateTime:RFC3339,double,string
        m,id_participant,user,time,x,note
        dev,p1,u1,1970-01-01T00:00:00.000000001Z,1,secret

        #datatype measurement,tag,dateTime:RFC3339,double
        m,user,time,x
        other,u2,1970-01-01T00:00:00.000000002Z,2

        """

    @Test func `options that name columns apply to annotated tables`() throws {
        let text = ColumnRuleTests.annotated
        #expect(
            try read(text, .annotatedCSV) { $0.table.ignoredColumns = ["note", "absent"] }.lines
                == ["dev,id_participant=p1,user=u1 x=1 1", "other,user=u2 x=2 2"])
        #expect(
            try read(text, .annotatedCSV) { $0.table.tagColumns = ["note"] }.lines
                == ["dev,id_participant=p1,note=secret,user=u1 x=1 1", "other,user=u2 x=2 2"])
        #expect(
            try read(text, .annotatedCSV) {
                $0.table.participantColumn = "user"
                $0.table.ignoredColumns = ["id_participant"]
            }.lines
                == [
                    "dev,id_participant=u1 note=\"secret\",x=1 1", "other,id_participant=u2 x=2 2",
                ])
        for (change, found) in [
            ({ $0.table.timeColumn = "absent" }, "found no column \"absent\""),
            ({ $0.table.participantColumn = "absent" }, "found no column \"absent\""),
            ({ $0.table.participantColumn = "user" }, "have the same name \"id_participant\""),
            ({ $0.table.experimentColumn = "note" }, "columns 1 and 6 are both the experiment"),
        ] as [((inout ImportOptions) -> Void, String)] {
            #expect(failure(text, .annotatedCSV, change).contains(found))
        }
    }

    @Test func `options that name columns are refused for formats without columns`() {
        let message = failure("m,id_participant=p note=\"x\",x=1 1\n", .lineProtocol) {
            $0.table.ignoredColumns = ["note"]
        }
        #expect(message.contains("lp has no columns that options name"))
    }

    // MARK: Two columns of one role

    @Test func `a row that names two participants is refused`() throws {
        let json = """
            {"results":[{"series":[{"name":"m","tags":{"id_participant":"p1"},
            "columns":["time","user","x"],"values":[[1,"p2",1],[2,null,2]]}]}]}
            """
        let table = "name,tags,time,user,x\nm,id_participant=p1,1,p2,1\nm,id_participant=p1,2,,2\n"
        for (format, text) in [(InputFormat.influxJSON, json), (.influxCSV, table)] {
            let found = try read(text, format) { $0.table.participantColumn = "user" }
            #expect(found.lines == ["m,id_participant=p1 x=2 2"])
            #expect(found.refusals.count == 1)
            #expect(found.refusals.first?.contains("both name the participant") == true)
        }
    }

    @Test func `a row with two values of one tag is refused`() throws {
        let found = try read(
            "name,tags,time,host,x\nm,host=a,1,b,1\nm,host=a,2,a,2\n", .influxCSV
        ) { $0.table.tagColumns = ["host"] }
        #expect(found.lines == ["m,host=a x=2 2"])
        #expect(
            found.refusals == [#"found two values of the tag "host", "a" and "b", expected one"#])
    }

    @Test func `a second time column is kept as text`() throws {
        let text = "a|dateTime,b|dateTime,x\n1970-01-01T00:00:00.000000001Z,2024-01-01,1\n"
        #expect(
            try read(text, .csv) { $0.experiment = "m" }.lines == ["m b=\"2024-01-01\",x=1 1"])
        #expect(
            try read(text, .csv) {
                $0.experiment = "m"
                $0.table.timeColumn = "b"
            }.lines == ["m a=\"1970-01-01T00:00:00.000000001Z\",x=1 1704067200000000000"])
    }

    @Test func `two experiment columns are an error`() {
        let text = """
            #datatype measurement,measurement,dateTime:number,double
            a,b,time,x
            A,B,1,1

            """
        #expect(failure(text, .annotatedCSV).contains("columns 1 and 2 are both the experiment"))
        let shell = "name,time,host,x\nm,1,h,1\n"
        #expect(
            failure(shell, .influxCSV) { $0.table.experimentColumn = "host" }
                .contains("an experiment column was given"))
    }

    @Test func `a column with the name of a constant is an error`() {
        for constant in ["double,x,9", "tag,id_participant,p9"] {
            let text = """
                #constant,\(constant)
                #datatype measurement,tag,dateTime:number,double
                m,id_participant,time,x
                dev,p1,1,1

                """
            #expect(failure(text, .annotatedCSV).contains("has the name of a #constant"))
        }
    }

    @Test(arguments: ["double,y,1", "measurement,m", "tag,t,1", "dateTime:number,1"])
    func `two constants for one thing are an error`(constant: String) {
        let text = """
            #constant,\(constant)
            #constant,\(constant)
            #datatype measurement,dateTime:number,double
            m,time,x
            m,1,1

            """
        #expect(failure(text, .annotatedCSV).contains("found two #constant lines for one"))
    }

    @Test func `a table has at most 256 constants`() throws {
        func table(_ count: Int) -> String {
            (0..<count).map { "#constant,double,c\($0),1\n" }.joined()
                + "#datatype measurement,dateTime:number\nm,time\nm,1\n"
        }
        #expect(try read(table(256), .annotatedCSV).lines.count == 1)
        #expect(failure(table(257), .annotatedCSV).contains("more than 256 #constant lines"))
    }

    @Test func `an unsigned integer has no sign`() throws {
        let text = "#datatype measurement,dateTime:number,unsignedLong\nm,time,x\nm,1,-1\nm,2,1\n"
        #expect(try read(text, .annotatedCSV).lines == ["m x=\"-1\" 1", "m x=1i 2"])
    }

    @Test func `a row with two participants is refused, unless they are one`() throws {
        func row(_ name: String) -> String {
            """
            {"measurement":"m","time":1,"tags":{"id_participant":"p1"},
            "id_participant":"\(name)","x":1}
            """
        }
        #expect(try read(row("p1"), .ndjson).lines == ["m,id_participant=p1 x=1 1"])
        let found = try read(row("p2"), .ndjson)
        #expect(found.lines.isEmpty)
        #expect(
            found.refusals
                == [
                    "found two values of the tag \"id_participant\", \"p1\" and \"p2\", "
                        + "expected one"
                ])
    }

    // MARK: The experiment of a row

    @Test func `a row that does not name its experiment has that of the options or the series`()
        throws
    {
        let json = #"{"time":1,"exp":"A","x":1}\#n{"time":2,"x":2}\#n{"time":3,"exp":null,"x":3}"#
        let table = "time,exp,x\n1,A,1\n2,,2\n3,,3\n"
        for (format, text) in [(InputFormat.ndjson, json), (.csv, table)] {
            let found = try read(text, format) {
                $0.experiment = "dev"
                $0.table.experimentColumn = "exp"
            }
            #expect(found.lines == ["A x=1 1", "dev x=2 2", "dev x=3 3"])
        }
        let series = """
            {"results":[{"series":[{"name":"cpu","columns":["time","exp","x"],
            "values":[[1,"A",1],[2,null,2]]}]}]}
            """
        #expect(
            try read(series, .influxJSON) { $0.table.experimentColumn = "exp" }.lines
                == ["A x=1 1", "cpu x=2 2"])
    }

    /// Rows of an experiment whose participants are named by `user`, one with and one without.
    private static let users: [(InputFormat, String)] = [
        (.lineProtocol, "dev,user=p1 x=1 1\ndev x=2 2\n"),
        (.csv, "measurement,user,time,x\ndev,p1,1,1\ndev,,2,2\n"),
        (
            .annotatedCSV,
            """
            #datatype measurement,tag,dateTime:number,double
            m,user,time,x
            dev,p1,1,1
            dev,,2,2

            """
        ),
        (.influxCSV, "name,tags,time,x\ndev,user=p1,1,1\ndev,,2,2\n"),
        (
            .ndjson,
            """
            {"measurement":"dev","time":1,"user":"p1","x":1}
            {"measurement":"dev","time":2,"x":2}
            """
        ),
    ]

    @Test(arguments: users)
    func `the participant of the options has the tag of the row's experiment`(
        format: InputFormat, text: String
    ) throws {
        let found = try read(text, format) {
            $0.settings.identity = nil
            $0.participant = "p9"
            $0.schemas = [
                ExperimentSchema(
                    id: 1, name: "dev", identity: .participant(tag: "user"), typeRule: .lossless,
                    preset: "")
            ]
        }
        #expect(found.lines == ["dev,user=p1 x=1 1", "dev,user=p9 x=2 2"])
    }

    @Test(arguments: users)
    func `a renamed participant is not replaced by that of the options`(
        format: InputFormat, text: String
    ) throws {
        let found = try read(text, format) {
            $0.participant = "p9"
            $0.renames = ["user": "id_participant"]
            $0.table.tagColumns = format.name == "csv" || format.name == "ndjson" ? ["user"] : []
        }
        #expect(
            Set(found.lines) == ["dev,id_participant=p1 x=1 1", "dev,id_participant=p9 x=2 2"])
    }

    @Test func `a renamed column can be the participant, or a tag of the identity`() throws {
        let annotated = "#datatype measurement,dateTime:number,tag,double\n"
        let inputs: [(InputFormat, String)] = [
            (.csv, "measurement,time,user,x\ndev,1,p1,2\n"),
            (.annotatedCSV, annotated + "measurement,time,user,x\ndev,1,p1,2\n"),
            (.ndjson, "{\"measurement\":\"dev\",\"time\":1,\"user\":\"p1\",\"x\":2}\n"),
            (.influxCSV, "name,time,user,x\ndev,1,p1,2\n"),
        ]
        for (format, text) in inputs {
            for identity in [Identity.participant(tag: "who"), .tags(["who"])] {
                let found = try read(text, format) {
                    $0.renames = ["user": "who"]
                    $0.settings.identity = identity
                }
                #expect(found.lines == ["dev,who=p1 x=2 1"], "\(format.name)")
                #expect(found.refusals == [])
            }
        }
    }

    @Test func `another experiment's tag makes no column a tag`() throws {
        let table = "time,measurement,room,x\n1,new,7,2\n2,dev,7,2\n"
        let objects = """
            {"time":1,"measurement":"new","room":7,"x":2}
            {"time":2,"measurement":"dev","room":7,"x":2}
            """
        let shell = "name,time,room,x\nnew,1,7,2\n\nname,time,room,x\ndev,2,7,2\n"
        for (format, text) in [(InputFormat.csv, table), (.ndjson, objects), (.influxCSV, shell)] {
            let found = try read(text, format) {
                $0.tagNames = [Array("dev".utf8): [Array("room".utf8)]]
                $0.schemas = [
                    ExperimentSchema(
                        id: 1, name: "dev", identity: .allTags, typeRule: .lossless, preset: "")
                ]
            }
            #expect(found.lines == ["new room=7,x=2 1", "dev,room=7 x=2 2"], "\(format.name)")
        }
    }

    @Test func `the tags of the default experiment are not those of rows that name another`() throws
    {
        let table = "time,exp,user,room,x\n1,e2,p,7,2\n2,,p,7,2\n"
        let objects = """
            {"time":1,"exp":"e2","user":"p","room":7,"x":2}
            {"time":2,"exp":null,"user":"p","room":7,"x":2}
            """
        let series = """
            {"results":[{"series":[{"name":"dev","columns":["time","exp","user","room","x"],
            "values":[[1,"e2","p",7,2],[2,null,"p",7,2]]}]}]}
            """
        for (format, text) in [
            (InputFormat.csv, table), (.ndjson, objects), (.influxJSON, series),
        ] {
            let found = try read(text, format) {
                $0.settings.identity = nil
                if format.name != "influx-json" { $0.experiment = "dev" }
                $0.table.experimentColumn = "exp"
                $0.tagNames = [Array("dev".utf8): [Array("room".utf8)]]
                $0.schemas = [
                    ExperimentSchema(
                        id: 1, name: "dev", identity: .allTags, typeRule: .lossless, preset: ""),
                    ExperimentSchema(
                        id: 2, name: "e2", identity: .participant(tag: "user"),
                        typeRule: .lossless, preset: ""),
                ]
            }
            #expect(
                found.lines == ["e2,user=p room=7,x=2 1", "dev,room=7 user=\"p\",x=2 2"],
                "\(format.name)")
        }
    }

    @Test func `of two keys with the name of the experiment or the time the last counts`() throws {
        let found = try read(
            #"{"measurement":"a","time":1,"measurement":"b","time":2,"x":1}"#, .ndjson)
        #expect(found.lines == ["b x=1 2"])
    }

    @Test func `an option may call a column with the name of a time the experiment`() throws {
        let found = try read(#"{"time":1,"timestamp":"A","x":1}"#, .ndjson) {
            $0.experiment = "dev"
            $0.table.experimentColumn = "timestamp"
        }
        #expect(found.lines == ["A x=1 1"])
    }

    @Test func `a constant experiment leaves the names of Flux to tags and fields`() throws {
        let found = try read(
            """
            #constant,measurement,dev
            #datatype,tag,dateTime:number,double,string
            ,result,_time,x,table
            ,r1,1,1,t1

            """, .annotatedCSV)
        #expect(found.lines == ["dev,result=r1 table=\"t1\",x=1 1"])
    }

    @Test func `a tag of the identity may come from either of two renamed columns`() throws {
        let found = try read("time,id_participant,user,x\n1,p1,,1\n2,,p2,2\n3,,,3\n", .csv) {
            $0.experiment = "m"
            $0.settings.identity = nil
            $0.table.tagColumns = ["user"]
            $0.renames = ["user": "id_participant"]
        }
        #expect(
            found.lines.map { $0.replacing("user", with: "id_participant") }
                == ["m,id_participant=p1 x=1 1", "m,id_participant=p2 x=2 2"])
        let reason = "column 2: \"id_participant\" is empty, expected the participant"
        #expect(found.refusals == [reason])
    }

    // MARK: Values

    @Test func `a refused row does not decide the type of a field`() throws {
        let found = try read(
            """
            {"measurement":"m","time":1,"v":true,"":1}
            {"measurement":"m","time":2,"v":"a"}
            """, .ndjson)
        #expect(found.lines == ["m v=\"a\" 2"])
        #expect(found.refusals.count == 1)
    }

    @Test func `a row that the database refuses does not decide the type of a field`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        _ = try database.forget(["p0"])
        let rows = """
            {"measurement":"m","time":1,"v":5}
            {"measurement":"m","time":2,"id_participant":"p0","v":5}
            {"measurement":"m","time":3,"id_participant":"p1","v":"a"}
            {"measurement":"m","time":4,"id_participant":"p2","v":"b"}
            """
        var options = ImportOptions()
        options.format = .ndjson
        let report = try importFiles([files.write("a", rows)], into: database, options: options)
        #expect(report.refusedPoints == 2 && report.refusedValues == 0)
        let result = try database.query("SELECT v FROM m")
        #expect(result.series[0].column("v")?.texts == ["a", "b"])
        #expect(try database.schemas()[0].declarations.isEmpty)
        try database.close()
    }

    @Test(arguments: [1, 10_000])
    func `a large number of a refused row makes no field of integers`(batchRows: Int) throws {
        let database = try Database.inMemory()
        _ = try database.forget(["p0"])
        let rows = """
            {"measurement":"m","time":1,"v":9007199254740993}
            {"measurement":"m","time":2,"id_participant":"p0","v":9007199254740993}
            {"measurement":"m","time":3,"id_participant":"p1","v":5}
            {"measurement":"m","time":4,"id_participant":"p1","v":2.5}
            {"measurement":"n","time":3,"id_participant":"p1","v":9007199254740993}
            {"measurement":"n","time":4,"id_participant":"p1","v":5}
            {"measurement":"n","time":5,"id_participant":"p1","v":6.0}
            """
        var options = ImportOptions()
        options.format = .ndjson
        options.batchRows = batchRows
        let report = try importFiles([files.write("a", rows)], into: database, options: options)
        #expect(report.refusedPoints == 2 && report.refusedValues == 0)
        let floats = try database.query("SELECT v FROM m")
        #expect(floats.series[0].column("v")?.doubles == [5, 2.5])
        let integers = try database.query("SELECT v FROM n")
        #expect(integers.series[0].column("v")?.integers == [9_007_199_254_740_993, 5, 6])
    }

    @Test func `an integer that is asked for is one, whatever a refused row had`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        _ = try database.forget(["p0"])
        let rows = """
            {"measurement":"m","time":1,"tags":{"id_participant":"p0"},"fields":{"k":2.5}}
            {"measurement":"m","time":2,"tags":{"id_participant":"p1"},\
            "fields_int":{"k":9007199254740993}}
            {"measurement":"m","time":3,"tags":{"id_participant":"p1"},"fields_int":{"k":3}}
            {"measurement":"m","time":4,"tags":{"id_participant":"p1"},"fields_int":{"k":1.5}}
            """
        var options = ImportOptions()
        options.format = .ndjson
        let report = try importFiles([files.write("a", rows)], into: database, options: options)
        #expect(report.refusedPoints == 1 && report.refusedValues == 1)
        let result = try database.query("SELECT k FROM m")
        #expect(result.series[0].column("k")?.integers == [9_007_199_254_740_993, 3])
        try database.close()
    }

    @Test(arguments: [nil, "p0"])
    func `refused rows create nothing, whatever type was asked for`(name: String?) throws {
        let texts: [(InputFormat, String)] = [
            (.csv, "time,measurement,id_participant,v\n1,m,\(name ?? ""),abc\n"),
            (
                .annotatedCSV,
                "#datatype measurement,tag,dateTime:number,long\nm,id_participant,time,v\n"
                    + "m,\(name ?? ""),1,abc\n"
            ),
            (
                .ndjson,
                """
                {"measurement":"m","time":1,"v":5,"id_participant":"\(name ?? "")"}
                {"measurement":"m","time":2,"v":"a","id_participant":"\(name ?? "")"}
                """
            ),
        ]
        for (format, text) in texts {
            let directory = TemporaryDirectory()
            let database = try Database.open(directory.path)
            _ = try database.forget(["p0"])
            var options = ImportOptions()
            options.format = format
            if format.name == "csv" { options.table.columnTypes = [("v", .integer)] }
            let report = try importFiles([files.write("a", text)], into: database, options: options)
            #expect(report.values == 0)
            #expect(try database.schemas().isEmpty, "\(format.name)")
            try database.close()
        }
    }

    @Test func `a text for no value is no tag, a number of its digits is one`() throws {
        let rows = [#"{"time":1,"room":"5","x":1}"#, #"{"time":2,"room":5,"x":1}"#]
        for order in [rows, rows.reversed()] {
            let found = try read(order.joined(separator: "\n"), .ndjson) {
                $0.experiment = "m"
                $0.table.nulls = ["5"]
                $0.table.tagColumns = ["room"]
            }
            #expect(Set(found.lines) == ["m x=1 1", "m,room=5 x=1 2"])
        }
    }

    @Test func `only words for true and false are booleans`() throws {
        let words = ["true", "FALSE", "T", "f", "Yes", "no", "y", "N", "1", "0"]
        let others = ["NaN", "NA", "None", "null", "tomato", "10", "\u{11}", "on"]
        let rows = (words + others).enumerated().map { "m,\($0.offset),\($0.element)\n" }.joined()
        let found = try read(
            "#datatype measurement,dateTime:number,boolean\nm,time,b\n" + rows, .annotatedCSV)
        let flags = found.lines.map { $0.contains("b=true") ? 1 : $0.contains("b=false") ? 0 : 2 }
        #expect(flags == [1, 0, 1, 0, 1, 0, 1, 0, 1, 0] + others.map { _ in 2 })
    }
}
