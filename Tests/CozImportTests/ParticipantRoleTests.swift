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
