// What options that name columns do in each format: the participant, tags, types, renames.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

struct ColumnOptionTests {
    private let files = TemporaryFiles()

    private func read(
        _ text: String, _ format: InputFormat, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> (lines: [String], refusals: [String]) {
        let found = try importedRows(files.write("a", text), format, change)
        return (found.lines, found.refusals.map(\.reason))
    }

    @Test func `columns of tags may be members of fields`() throws {
        let found = try read(
            #"{"measurement":"m","time":1,"tags":{"a":"b"},"fields":{"room":"5","x":1}}"#, .ndjson
        ) { $0.table.tagColumns = ["room"] }
        #expect(found.lines == ["m,a=b,room=5 x=1 1"])
    }

    @Test func `a table whose only field is skipped stores nothing, the next one does`() throws {
        let head = "#datatype measurement,tag,dateTime:number,double"
        let found = try read(
            "\(head)\nmeasurement,id_participant,time,n\ne1,p,1,2\n\n"
                + "\(head),double\nmeasurement,id_participant,time,n,x\ne2,p,1,2,3\n",
            .annotatedCSV
        ) { $0.table.ignoredColumns = ["n"] }
        #expect(found.lines == ["e2,id_participant=p x=3 1"])
        #expect(found.refusals.isEmpty)
    }

    @Test func `the column of participants may be a tag or a member`() throws {
        let answer = #"{"results":[{"series":[{"name":"e","tags":{"user":"p1"},"#
        let inputs: [(InputFormat, String)] = [
            (.influxJSON, answer + #""columns":["time","x"],"values":[[1,1.5]]}]}]}"#),
            (.ndjson, #"{"measurement":"e","tags":{"user":"p1"},"time":1,"fields":{"x":1.5}}"#),
            (.ndjson, #"{"measurement":"e","time":1,"fields":{"user":"p1","x":1.5}}"#),
            (.ndjson, #"{"measurement":"e","user":"p1","time":1,"x":1.5}"#),
        ]
        for (format, text) in inputs {
            let found = try read(text, format) {
                $0.participant = "zz"
                $0.table.participantColumn = "user"
            }
            #expect(found.lines == ["e,id_participant=p1 x=1.5 1"], "\(text)")
        }
        let two = #"{"measurement":"e","tags":{"id_participant":"q"},"time":1,"#
        let found = try read(two + #""fields":{"user":"p1","x":1.5}}"#, .ndjson) {
            $0.table.participantColumn = "user"
        }
        #expect(found.lines.isEmpty && found.refusals.count == 1)
        #expect(found.refusals.first?.contains("both name the participant") == true)
    }

    @Test func `a column beside one with its new name keeps name and role`() throws {
        let table = "time,id_participant,room,s,x\n10,p1,r1,aa,1\n20,p1,r1,bb,\n"
        let inputs: [(InputFormat, String)] = [
            (.csv, table),
            (
                .ndjson,
                #"{"time":10,"id_participant":"p1","room":"r1","s":"aa","x":1}"# + "\n"
                    + #"{"time":20,"s":"bb","room":"r1","id_participant":"p1"}"#
            ),
            (
                .influxCSV,
                "name,time,id_participant,room,s,x\ne,10,p1,r1,aa,1\ne,20,p1,r1,bb,\n"
            ),
        ]
        for (format, text) in inputs {
            let database = try Database.inMemory()
            var batch = WriteBatch()
            try batch.add(
                experiment: "e", tags: ["id_participant": "q", "room": "r0"],
                time: Timestamp(nanoseconds: 1), fields: ["x": 9.0, "s": "z"])
            _ = try database.write(batch)
            var options = ImportOptions()
            options.format = format
            if format.name != InputFormat.influxCSV.name { options.experiment = "e" }
            options.renames = ["s": "room"]
            let report = try importFiles([files.write("a", text)], into: database, options: options)
            #expect(report.points == 2 && !report.hasRefusals, "\(format.name)")
            // As in line protocol, where s is a field.
            let rows = try database.query("SELECT room::tag, room::field, s, x FROM e").series[0]
            #expect(rows.rowCount == 3, "\(format.name)")
            let texts = (rows.column("room_1")?.texts ?? []) + (rows.column("s")?.texts ?? [])
            #expect(texts.compactMap(\.self).sorted() == ["aa", "bb", "z"], "\(format.name)")
        }
    }

    /// `room` is a tag of the experiment; the rows are those of one file.
    private func rooms(_ text: String, _ change: (inout ImportOptions) -> Void) throws -> [String] {
        let database = try Database.inMemory()
        var batch = WriteBatch()
        try batch.add(
            experiment: "e", tags: ["id_participant": "q", "room": "r0"],
            time: Timestamp(nanoseconds: 1), fields: ["x": 9.0])
        _ = try database.write(batch)
        var options = ImportOptions()
        options.format = text.hasPrefix("{\"results") ? .influxJSON : .ndjson
        options.renames = ["s": "room"]
        change(&options)
        _ = try importFiles([files.write("a", text)], into: database, options: options)
        var question = QueryOptions()
        question.influxCompatible = true
        let rows = try database.query(
            "SELECT room::tag, room::field, id_participant, x FROM e WHERE time > 1",
            options: question
        ).series[0]
        return (0..<rows.rowCount).map { row in
            rows.columns.dropFirst().map { column in
                guard case .string(let text)? = column.value(row) else {
                    return column.value(row).map { "\($0)" } ?? "-"
                }
                return text
            }.joined(separator: " ")
        }
    }

    @Test func `the order of keys does not decide what a renamed column is`() throws {
        let first = #"{"time":10,"id_participant":"p","s":"aa","room":"r1","x":1}"# + "\n"
        for second in [#""x":2,"s":"bb""#, #""s":"bb","x":2"#] {
            let text = first + #"{"time":20,"id_participant":"p",\#(second)}"# + "\n"
            let found = try rooms(text) { $0.experiment = "e" }
            #expect(found == ["r1 aa p 1.0", "bb - p 2.0"], "\(second)")
        }
    }

    @Test func `a column that is left out takes no name, a tag of the series does`() throws {
        let skipped = #"{"time":10,"id_participant":"p","room":"r1","s":"aa","x":1}"#
        let left = try rooms(skipped) {
            $0.experiment = "e"
            $0.table.ignoredColumns = ["room"]
        }
        #expect(left == ["aa - p 1.0"])
        let series = #"{"results":[{"series":[{"name":"e","tags":{"room":"r1"},"columns":["#
        let text = series + #""time","id_participant","s","x"],"values":[[10,"p","aa",1]]}]}]}"#
        #expect(try rooms(text) { _ in } == ["r1 aa p 1.0"])
    }

    @Test func `a column of participants keeps its role beside its new name`() throws {
        let text = #"{"measurement":"e","time":10,"user":"p1","room":"r1","x":1}"#
        let found = try rooms(text) {
            $0.renames = ["user": "room"]
            $0.participant = "zz"
            $0.table.participantColumn = "user"
        }
        #expect(found == ["r1 - p1 1.0"])
    }

    @Test func `an empty tag of a series is none`() throws {
        let answer = #"{"results":[{"series":[{"name":"h","tags":{"id_participant":""},"columns":["#
        let inputs: [(InputFormat, String)] = [
            (.influxJSON, answer + #""time","x"],"values":[[10,1]]}]}]}"#),
            (.influxCSV, "name,tags,time,x\nh,id_participant=,10,1\n"),
        ]
        for (format, text) in inputs {
            let found = try read(text, format) { $0.participant = "zz" }
            #expect(found.lines == ["h,id_participant=zz x=1 10"], "\(format.name)")
        }
    }

    @Test func `a type that is asked for leaves the decimal comma`() throws {
        let plain = "_measurement;_time;id_participant;_field;_value\n"
        let rows = ["1.204", "1.204,5", "21,3"].enumerated()
            .map { "m;\($0.offset);p;x;\($0.element)\n" }.joined()
        let found = try read(plain + rows, .csv) {
            $0.table.hasDecimalComma = true
            $0.table.columnTypes = [("x", .float)]
        }
        #expect(
            found.lines
                == (0..<3).map {
                    "m,id_participant=p x=\(["1204", "1204.5", "21.3"][$0]) \($0)"
                })
        let own = "#datatype measurement,tag,dateTime:number,\"double:,.\"\nm,p,time,x\n"
        let typed = try read(own + "m,q,1,\"1.204\"\n", .annotatedCSV) {
            $0.table.columnTypes = [("x", .float)]
        }
        #expect(typed.lines == ["m,p=q x=1204 1"])
    }

    @Test func `a table with datatypes has decimal points`() throws {
        let text = "#datatype tag;dateTime:number;double\nid_participant;time;x\np;1;1.204\n"
        let found = try read(text, .csv) {
            $0.experiment = "m"
            $0.table.hasDecimalComma = true
        }
        #expect(found.lines == ["m,id_participant=p x=1.204 1"])
    }

    @Test func `a field of Flux can be left out`() throws {
        let text = ",_measurement,_field,_time,_value\n,m,steps,1,7\n,m,secret,1,8\n"
        let found = try read(text, .csv) { $0.table.ignoredColumns = ["secret"] }
        #expect(found.lines == ["m steps=7 1"])
    }

    @Test(arguments: [InputFormat.annotatedCSV, .csv].map { $0.name })
    func `a type that is asked for is that of a field of Flux`(format: String) throws {
        let isAnnotated = format == InputFormat.annotatedCSV.name
        let annotations = "#datatype,string,string,dateTime:number,double\n"
        let found = try read(
            (isAnnotated ? annotations : "")
                + ",_measurement,_field,_time,_value\n,m,steps,1,7\n,m,pulse,1,8\n,m,steps,2,7.5\n",
            isAnnotated ? .annotatedCSV : .csv
        ) {
            $0.table.columnTypes = [("steps", .integer)]
            $0.table.timeFormat = .epoch(.nanoseconds)
        }
        // The value that is no integer stays as it is, for the database to refuse.
        #expect(found.lines == ["m steps=7i 1", "m pulse=8 1", "m steps=7.5 2"])
    }

    /// `new` is a string and `old` a float of the experiment.
    @Test(arguments: ["csv", "influx-csv", "ndjson"])
    func `a field that keeps its name keeps its type, whatever the new name has`(
        format: String
    ) throws {
        let inputs = [
            "csv": "time,id_participant,old,new\n10,p,2.5,b\n20,p,3.5,\n",
            "influx-csv": "name,time,id_participant,old,new\ne,10,p,2.5,b\ne,20,p,3.5,\n",
            "ndjson": #"{"time":10,"id_participant":"p","old":2.5,"new":"b"}"# + "\n"
                + #"{"time":20,"id_participant":"p","old":3.5}"# + "\n",
        ]
        let database = try Database.inMemory()
        var batch = WriteBatch()
        try batch.add(
            experiment: "e", tags: ["id_participant": "q"], time: Timestamp(nanoseconds: 1),
            fields: ["old": 9.0, "new": "z"])
        _ = try database.write(batch)
        var options = ImportOptions()
        options.format = [.csv, .influxCSV, .ndjson].first { $0.name == format }
        if format != "influx-csv" { options.experiment = "e" }
        options.renames = ["old": "new"]
        let text = try #require(inputs[format])
        let report = try importFiles([files.write("a", text)], into: database, options: options)
        // A number for the string field is refused where the format has numbers.
        #expect(report.refusedValues == (format == "ndjson" ? 1 : 0))
        let rows = try database.query("SELECT old, new FROM e WHERE time > 1").series[0]
        #expect(rows.column("old")?.value(0) == .float(2.5))
        #expect(rows.column("new")?.value(0) == .string("b"))
        if format != "ndjson" { #expect(rows.column("new")?.value(1) == .string("3.5")) }
    }

    @Test func `a renamed tag has its new name in rows where nothing else has it`() throws {
        let inputs: [(InputFormat, String)] = [
            (.csv, "time,user,id_participant,x\n10,aa,,1\n20,,bb,2\n"),
            (.influxCSV, "name,time,user,id_participant,x\ne,10,aa,,1\ne,20,,bb,2\n"),
            (
                .ndjson,
                #"{"time":10,"user":"aa","x":1}"# + "\n"
                    + #"{"time":20,"id_participant":"bb","x":2}"# + "\n"
            ),
        ]
        for (format, text) in inputs {
            let found = try read(text, format) {
                if format.name != InputFormat.influxCSV.name { $0.experiment = "e" }
                $0.renames = ["user": "id_participant"]
                $0.settings.identity = nil
            }
            #expect(
                found.lines == ["e,id_participant=aa x=1 10", "e,id_participant=bb x=2 20"],
                "\(format.name)")
        }
    }
}
