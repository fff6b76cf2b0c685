// Which column names the participant, in every format and however the experiment is named.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

struct ParticipantRoleTests {
    private let files = TemporaryFiles()

    /// One row of an experiment `e` in each format, with columns `who`, `id_participant` and `x`.
    private static let inputs: [String: (format: InputFormat, text: String, isNamed: Bool)] = [
        "csv with the experiment": (
            .csv, "time,measurement,who,id_participant,x\n2000,e,a,b,2\n", true
        ),
        "csv": (.csv, "time,who,id_participant,x\n2000,a,b,2\n", false),
        "ndjson with the experiment": (
            .ndjson,
            #"{"time":2000,"measurement":"e","who":"a","id_participant":"b","x":2}"#, true
        ),
        "ndjson": (.ndjson, #"{"time":2000,"who":"a","id_participant":"b","x":2}"#, false),
        "influx-csv": (.influxCSV, "name,time,who,id_participant,x\ne,2000,a,b,2\n", true),
        "influx-json": (
            .influxJSON,
            """
            {"results":[{"series":[{"name":"e","columns":["time","who","id_participant","x"],
            "values":[[2000,"a","b",2]]}]}]}
            """, true
        ),
    ]

    private func read(
        _ name: String, _ change: (inout ImportOptions) -> Void
    ) throws -> [String] {
        let input = try #require(Self.inputs[name])
        let found = try importedRows(files.write("a", input.text), input.format) {
            if !input.isNamed { $0.experiment = "e" }
            change(&$0)
        }
        #expect(found.refusals.isEmpty)
        return found.lines
    }

    @Test(arguments: inputs.keys.sorted())
    func `the participant tag is that of the row's experiment`(name: String) throws {
        for types: [(name: String, type: FieldType)] in [[], [("who", .string)]] {
            let stored = try read(name) { options in
                options.settings.identity = nil
                options.table.columnTypes = types
                options.schemas = [
                    ExperimentSchema(
                        id: 1, name: "e", identity: .participant(tag: "who"),
                        typeRule: .lossless, preset: "")
                ]
            }
            #expect(stored == [#"e,who=a id_participant="b",x=2 2000"#])
            let new = try read(name) { options in
                options.settings.identity = nil
                options.table.columnTypes = types
            }
            #expect(new == [#"e,id_participant=b who="a",x=2 2000"#])
            let asked = try read(name) { options in
                options.settings.identity = .participant(tag: "who")
                options.table.columnTypes = types
            }
            #expect(asked == [#"e,who=a id_participant="b",x=2 2000"#])
        }
    }

    /// Rows of an experiment whose participants have the tag `who`, which is renamed to `user`.
    private static let renamed: [(format: InputFormat, both: String, one: String)] = [
        (.lineProtocol, "e,user=b,who=c x=2 2000\n", "e,who=c x=2 2000\n"),
        (
            .csv, "time,measurement,user,who,x\n2000,e,b,c,2\n",
            "time,measurement,who,x\n2000,e,c,2\n"
        ),
        (
            .annotatedCSV,
            "#datatype measurement,tag,tag,double,dateTime:number\ne0,user,who,x,time\n"
                + "e,b,c,2,2000\n",
            "#datatype measurement,tag,double,dateTime:number\ne0,who,x,time\ne,c,2,2000\n"
        ),
        (
            .ndjson,
            #"{"time":2000,"measurement":"e","tags":{"who":"c","user":"b"},"fields":{"x":2}}"#,
            #"{"time":2000,"measurement":"e","tags":{"who":"c"},"fields":{"x":2}}"#
        ),
        (
            .ndjson, #"{"time":2000,"measurement":"e","who":"c","user":"b","x":2}"#,
            #"{"time":2000,"measurement":"e","who":"c","x":2}"#
        ),
    ]

    @Test(arguments: renamed.indices)
    func `a renamed participant tag keeps its name beside the new one`(index: Int) throws {
        let (format, both, one) = Self.renamed[index]
        for participant in [nil, "zz"] {
            func change(_ options: inout ImportOptions) {
                options.settings.identity = nil
                options.participant = participant
                options.renames = ["who": "user"]
                options.tagNames = [Array("e".utf8): [Array("user".utf8)]]
                options.schemas = [
                    ExperimentSchema(
                        id: 1, name: "e", identity: .participant(tag: "who"), typeRule: .lossless,
                        preset: "")
                ]
            }
            let found = try importedRows(files.write("b", both), format, change)
            #expect(found.refusals.isEmpty, "\(format.name)")
            #expect(
                found.lines == ["e,user=b,who=c x=2 2000"]
                    || found.lines == [#"e,who=c user="b",x=2 2000"#],
                "\(format.name): \(found.lines)")
            guard participant != nil else { continue }
            let refused = try importedRows(files.write("o", one), format, change)
            #expect(refused.lines.isEmpty, "\(format.name): \(refused.lines)")
            #expect(
                refused.refusals.first?.reason.contains("found a rename of \"who\"") == true,
                "\(format.name)")
        }
    }

    @Test func `options that name columns apply to constants and to tags of a series`() throws {
        let table =
            "#constant,tag,id_password,secret\n#constant,string,room,r1\n#constant,double,n,3\n"
            + "#datatype measurement,tag,dateTime:number,double\nm,id_participant,time,x\n"
            + "e,p1,1000,1.5\n"
        func rows(_ change: (inout ImportOptions) -> Void) throws -> [String] {
            try importedRows(files.write("c", table), .annotatedCSV, change).lines
        }
        #expect(
            try rows { $0.table.ignoredColumns = ["id_password", "room"] }
                == ["e,id_participant=p1 n=3,x=1.5 1000"])
        #expect(
            try rows { options in
                options.table.tagColumns = ["room"]
                options.table.columnTypes = [("n", .integer)]
            } == ["e,id_participant=p1,id_password=secret,room=r1 n=3i,x=1.5 1000"])
        let answer = """
            {"results":[{"series":[{"name":"e","tags":{"id_participant":"p1","id_password":"s"},
            "columns":["time","x"],"values":[[1000,1.5]]}]}]}
            """
        let found = try importedRows(files.write("j", answer), .influxJSON) { options in
            options.table.ignoredColumns = ["id_password"]
        }
        #expect(found.lines == ["e,id_participant=p1 x=1.5 1000"])
    }

    @Test func `a column to skip has no other role`() throws {
        for (format, text) in [
            (InputFormat.csv, "time,id_participant,room,x\n1,p,r,2\n"),
            (.ndjson, #"{"time":1,"id_participant":"p","room":"r","x":2}"#),
        ] {
            for isTag in [true, false] {
                let error = #expect(throws: DatabaseError.self) {
                    try importedRows(files.write("s", text), format) { options in
                        options.experiment = "e"
                        options.table.ignoredColumns = ["room"]
                        if isTag {
                            options.table.tagColumns = ["room"]
                        } else {
                            options.table.participantColumn = "room"
                        }
                    }
                }
                #expect(error?.kind == .usage)
                #expect(error?.message.hasPrefix("found the column \"room\"") == true)
            }
        }
    }

    @Test(arguments: inputs.keys.sorted())
    func `a renamed participant tag is an error next to a participant of the options`(
        name: String
    ) throws {
        for isColumn in [false, true] {
            let error = #expect(throws: DatabaseError.self) {
                try read(name) { options in
                    options.renames = ["id_participant": "device"]
                    if isColumn {
                        options.table.participantColumn = "who"
                    } else {
                        options.participant = "p"
                    }
                }
            }
            #expect(error?.kind == .usage)
            #expect(error?.message.hasPrefix("found a rename of \"id_participant\"") == true)
        }
        let other = try read(name) { options in
            options.renames = ["id_participant": "device"]
            options.table.participantColumn = "who"
            options.participantTag = "p"
        }
        #expect(other.count == 1)
    }
}
