// A refused row whose participant is named elsewhere in its file, or in escapes.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Testing

@Suite struct RefusedRowOwnerTests {
    let files = TemporaryFiles()
    let directory = TemporaryDirectory()

    struct Input: Sendable, CustomTestStringConvertible {
        var title: String
        var format: InputFormat
        var text: String
        var participant = "p1"
        var experiment: String?

        var testDescription: String { title }
    }

    static let inputs = [
        Input(
            title: "tags of a series", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],
                "values":[["late",1],[2,3]]},
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[["late",1],7,[2,3]]}]}]}
                """),
        Input(
            title: "a row of a series that is no array", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],"values":[7]},
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[8,9]}]}]}
                """),
        Input(
            title: "invalid JSON in a series", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","tags":{"id_participant":"p2"},"columns":["time","x"],
                "values":[["late",1],["late",2]]},
                {"name":"m","tags":{"id_participant":"p1"},"columns":["time","x"],
                "values":[[1,@]]}]}]}
                """),
        Input(
            title: "an escaped name", format: .influxJSON,
            text: """
                {"results":[{"series":[
                {"name":"m","columns":["time","id_participant","x"],
                "values":[["late","Zo\\u00eb \\uD83D\\uDE00",1],
                ["late","p2",1],["late","p3",1]]}]}]}
                """, participant: "Zoë 😀"),
        Input(
            title: "a default of annotated CSV", format: .annotatedCSV,
            text: """
                #datatype,string,long,dateTime:RFC3339,string,string,double
                #group,false,false,false,true,true,false
                #default,,,,,p1,
                ,result,table,_time,_measurement,id_participant,x
                ,,0,late,m,,1
                ,,0,late,m,p2,2
                ,,0,late,m,p3,2

                """),
        Input(
            title: "a constant of annotated CSV", format: .annotatedCSV,
            text: """
                #constant measurement,m
                #constant tag,id_participant,p1
                #datatype dateTime:RFC3339,double
                time,x
                late,1

                #constant measurement,m
                #constant tag,id_participant,p2
                #datatype dateTime:RFC3339,double
                time,x
                late,1
                late,2

                """),
        Input(
            title: "quotes in a cell", format: .csv,
            text: "time,id_participant,x\nlate,\"Zo\"\"ë\",1\nlate,p2,1\nlate,p3,1\n",
            participant: "Zo\"ë", experiment: "m"),
    ]

    @Test(arguments: inputs)
    func `forgetting a participant removes their refused rows`(input: Input) throws {
        let path = files.write("input", input.text)
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = input.format
        options.experiment = input.experiment
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 3)
        _ = try database.forget([input.participant])
        #expect(try database.info().rejects == 2)
        var left: [String] = []
        try database.rejects { entry in
            left.append("\(entry.refusal)")
            return true
        }
        // They are refused from now on, too.
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 2, "\(left)")
        try database.close()
    }

    @Test func `a refused row of a series is kept as a document with its series`() throws {
        let text = """
            {"results":[{"series":[{"name":"cpu \\"a\\"",
            "tags":{"room":"é\\n","id_participant":"p1"},
            "columns":["time","load"],"values":[["soon",1],[2,3]]}]}]}
            """
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = .influxJSON
        _ = try importFiles([files.write("input", text)], into: database, options: options)
        var lines: [[UInt8]] = []
        try database.rejects { entry in
            if case .line(let line) = entry.refusal.subject { lines.append(line) }
            return true
        }
        #expect(
            lines.map { String(decoding: $0, as: UTF8.self) }
                == [
                    #"{"results":[{"series":[{"name":"cpu \"a\"","tags":{"room":"é\n","#
                        + #""id_participant":"p1"},"columns":["time","load"],"#
                        + #""values":[["soon",1]]}]}]}"#
                ])
        // A corrected copy imports.
        let copy = String(decoding: lines[0], as: UTF8.self).replacing(#""soon""#, with: "1")
        #expect(
            try importFiles([files.write("copy", copy)], into: database, options: options).points
                == 1)
        #expect(try database.clearRejects(of: "cpu \"a\"") == 1)
        try database.close()
    }

    private struct Row: Sendable {
        var format: InputFormat
        var text: String
        var participant = "p1"
        var change: @Sendable (inout ImportOptions) -> Void = { $0.experiment = "dev" }
    }

    private static func dev(
        _ change: @escaping @Sendable (inout ImportOptions) -> Void
    ) -> @Sendable (inout ImportOptions) -> Void {
        { options in
            options.experiment = "dev"
            change(&options)
        }
    }

    /// Rows without a valid time, whose text does not show whose they are.
    private static let rows: [String: Row] = [
        "null, and one participant for all": Row(
            format: .ndjson, text: #"{"time":"soon","id_participant":null,"s":"x"}"#,
            change: dev { $0.participant = "p1" }),
        "null, and another column": Row(
            format: .ndjson, text: #"{"time":"soon","who":"p1","id_participant":null,"s":"x"}"#,
            change: dev { $0.table.participantColumn = "who" }),
        "a text for no value": Row(
            format: .ndjson, text: #"{"time":"soon","id_participant":"NA","s":"x"}"#,
            change: dev {
                $0.participant = "p1"
                $0.table.nulls = ["NA"]
            }),
        "a skipped tag": Row(
            format: .ndjson, text: #"{"time":"soon","who":"p1","id_participant":"z","s":"x"}"#,
            change: dev {
                $0.table.participantColumn = "who"
                $0.table.ignoredColumns = ["id_participant"]
            }),
        "a name behind a megabyte, csv": Row(
            format: .csv, text: "time,s,id_participant\nsoon,\(long),p1\n"),
        "a name behind a megabyte, ndjson": Row(
            format: .ndjson, text: #"{"time":"soon","s":"\#(long)","id_participant":"p1"}"#),
        "a default in the header": Row(
            format: .csv, text: "time,id_participant|tag|p1,s\nsoon,,x\n"),
        "another delimiter": Row(
            format: .csv, text: "time|id_participant|s\nsoon|\"a\"\"b\"|x\n", participant: "a\"b",
            change: dev { $0.table.delimiter = UInt8(ascii: "|") }),
        "two words between other delimiters": Row(
            format: .csv, text: "time|id_participant|s\nsoon|Anna B|x\n", participant: "Anna B",
            change: dev { $0.table.delimiter = UInt8(ascii: "|") }),
        "quotes in a list of tags": Row(
            format: .influxCSV,
            text: "name,tags,time,s\ndev,\"id_participant=a\"\"b\",soon,x\n", participant: "a\"b",
            change: { _ in }),
        "two words in a list of tags": Row(
            format: .influxCSV,
            text: "name,tags,time,s\ndev,\"id_participant=Anna B,room=a\",soon,x\n",
            participant: "Anna B", change: { _ in }),
        "a name in quotes": Row(
            format: .csv, text: "time,id_participant,s\nsoon,\"\"\"q\"\"\",x\n",
            participant: "\"q\""),
        "a row that looks like a line of another": Row(
            format: .csv, text: "s,note,time,id_participant\nx,id_participant=zz,soon,p1\n"),
        "a row that breaks off, and another name of the tag": Row(
            format: .influxJSON,
            text: """
                {"results":[{"series":[{"name":"m","tags":{"user":"p1"},"columns":["time","x"],
                "values":[[1,+]]}]}]}
                """,
            change: { $0.table.participantColumn = "user" }),
        "a series that breaks off, and another name of the tag": Row(
            format: .influxJSON,
            text: #"{"results":[{"series":[{"name":"m","tags":{"user":"p1"},"columns":+"#,
            change: { $0.table.participantColumn = "user" }),
        "tags in another object": Row(
            format: .ndjson,
            text: """
                {"time":"soon","id_participant":"p1","meta":{"tags":{"id_participant":"z"}},"s":"x"}
                """),
    ]
    private static let long = String(repeating: "v", count: 1_100_000)

    @Test(arguments: rows.keys.sorted())
    func `whose row it is, the importer knows better than its text`(name: String) throws {
        let row = try #require(RefusedRowOwnerTests.rows[name])
        let path = files.write("input", row.text)
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = row.format
        row.change(&options)
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 1)
        _ = try database.forget([row.participant])
        #expect(try database.info().rejects == 0)
        _ = try importFiles([path], into: database, options: options)
        #expect(try database.info().rejects == 0)
        try database.close()
    }
}
