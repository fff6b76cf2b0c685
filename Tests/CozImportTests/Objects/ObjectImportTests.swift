// Rows of JSON and InfluxDB's JSON answers to points.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct ObjectImportTests {
    private let files = TemporaryFiles()

    private func read(
        _ text: String, _ format: InputFormat = .ndjson,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> (lines: [String], refusals: [String]) {
        let found = try importedRows(files.write("a.json", text), format, change)
        return (found.lines, found.refusals.map { "\($0.line):\($0.column) \($0.reason)" })
    }

    private func failure(_ text: String, _ format: InputFormat) -> String {
        do {
            _ = try read(text, format)
            return "nothing was thrown"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test func `rows of exports say what is tag, integer and field`() throws {
        let found = try read(
            """
            {"measurement":"dev","tags":{"id_participant":"p1","x":"1"},\
            "time":"1970-01-01T00:00:00.\
            000000001Z","fields":{"x":74,"note":"a \\"b\\"\\n","flag":true,"empty":""},\
            "fields_int":{"n":9007199254740993}}
            {"measurement":"e\\u00f6","tags":{},"time":2,\
            "fields":{"time_":-0.0,"none":null},"fields_int":{}}

            """)
        #expect(
            found.lines == [
                "dev,id_participant=p1,x=1 empty=\"\",flag=true,n=9007199254740993i,"
                    + "note=\"a \"b\"\n\",x=74 1",
                "eö time_=0 2",
            ])
        #expect(found.refusals.isEmpty)
    }

    @Test(arguments: ["id_experiment", "experiment", "measurement", "_measurement", "timestamp"])
    func `a series of InfluxDB's JSON names the experiment of all its rows`(column: String) throws {
        func series(_ name: String) -> String {
            """
            {"name":"\(name)","columns":["time","x","\(column)"],\
            "values":[[1,1,"pilot"],[2,2,null],[3,3,""],[4,4,"b"]]}
            """
        }
        let found = try read(
            "{\"results\":[{\"series\":[\(series("dev")),\(series("e")),\(series("dev"))]}]}",
            .influxJSON)
        let rows = ["dev", "e", "dev"].flatMap { name in
            [
                "\(name) \(column)=\"pilot\",x=1 1", "\(name) x=2 2",
                "\(name) \(column)=\"\",x=3 3", "\(name) \(column)=\"b\",x=4 4",
            ]
        }
        // Fields are in the order of their columns or names.
        #expect(found.lines.sorted() == rows.sorted(), "\(found.lines)")
        #expect(found.refusals.isEmpty)
    }

    @Test func `a text for no value is none as tag, participant and experiment, too`() throws {
        let found = try read(
            """
            {"time":1,"id_participant":"NA","room":"r","x":1,"experiment":"dev"}
            {"time":2,"id_participant":"p","room":"NA","x":2,"experiment":"dev"}
            {"time":3,"id_participant":"p","room":"r","x":3,"experiment":"NA"}

            """
        ) {
            $0.table.nulls = ["NA"]
            $0.table.tagColumns = ["room"]
        }
        #expect(found.lines == ["dev,room=r x=1 1", "dev,id_participant=p x=2 2"])
        #expect(found.refusals.count == 1 && found.refusals[0].contains("no experiment found"))
    }

    @Test func `a row has one participant`() throws {
        let found = try read(
            """
            {"time":1,"id_participant":"p","user":"u","x":1}
            {"time":2,"user":"u","id_participant":"p","x":2}
            {"time":3,"user":"u","x":3}

            """
        ) {
            $0.experiment = "dev"
            $0.table.participantColumn = "user"
        }
        #expect(found.lines == ["dev,id_participant=u x=3 3"])
        #expect(found.refusals.count == 2)
    }

    @Test func `a float field takes large whole numbers that a float holds`() throws {
        func lines(_ values: [String]) -> String {
            values.enumerated()
                .map { #"{"measurement":"dev","time":\#($0),"x":\#($1)}"# + "\n" }.joined()
        }
        let rows = lines(["10000000000000000", "9007199254740993", "-1760000000000000000"])
        #expect(
            try read(rows).lines == [
                "dev x=10000000000000000i 0", "dev x=9007199254740993i 1",
                "dev x=-1760000000000000000i 2",
            ])
        let floats = try read(rows) { $0.table.columnTypes = [("x", .float)] }.lines
        #expect(
            floats == [
                "dev x=10000000000000000 0", "dev x=9007199254740993i 1",
                "dev x=-1760000000000000000 2",
            ])
        #expect(
            try read(lines(["1.5", "10000000000000000", "9007199254740993"])).lines
                == ["dev x=1.5 0", "dev x=10000000000000000 1", "dev x=9007199254740993i 2"])
        #expect(
            try read(lines(["9007199254740993", "10000000000000000", "2", "1.5"])).lines
                == [
                    "dev x=9007199254740993i 0", "dev x=10000000000000000i 1", "dev x=2i 2",
                    "dev x=1.5 3",
                ])
    }

    @Test func `an integer field takes -0 as 0`() throws {
        let row = #"{"measurement":"dev","time":0,"x":-0}"# + "\n"
        #expect(try read(row) { $0.table.columnTypes = [("x", .integer)] }.lines == ["dev x=0i 0"])
        let long = row.replacing("-0}", with: "-92233720368547758080}")
        #expect(
            try read(long) { $0.table.columnTypes = [("x", .integer)] }.lines
                == [#"dev x="-92233720368547758080" 0"#])
    }

    @Test func `flat rows, in lines or in arrays, are tables`() throws {
        let lines = ["dev,id_participant=p1,site=a n=1i,s=\"x\",v=74 1", "dev v=1.5 2"]
        let rows = [
            #"{"time":"1970-01-01T00:00:00.000000001Z","id_participant":"p1","#
                + #""v":74,"s":"x","n":1,"site":"a","skip":1}"#,
            #"{"s":null,"time":2,"v":1.5,"other":null}"#,
        ]
        for text in [
            rows.joined(separator: "\n"), "[\n" + rows.joined(separator: ",\n") + "\n]\n",
            rows.joined(),
        ] {
            let found = try read(text) {
                $0.experiment = "dev"
                $0.table.tagColumns = ["site"]
                $0.table.ignoredColumns = ["skip"]
                $0.table.columnTypes = [("n", .integer)]
            }
            #expect(found.lines == lines)
        }
    }

    @Test func `what is no row is kept with its place, and the rest is read`() throws {
        let found = try read(
            """
            {"time":1,"v":1}
            {"time":"soon","v":1}
            {"v":1}
            {"time":2,"v":{"a":[1,{}]}}
              {"time":3,"v":1e999}
            {"time":4,"v":oops}
            {"time":5,"v":5}
            7
            {"time":6
            """
        ) { $0.experiment = "dev" }
        #expect(found.lines == ["dev v=1 1", "dev v=5 5"])
        #expect(
            found.refusals.map { $0.prefix(24) } == [
                "2:1 the time \"soon\": exp", "3:1 no time found, expec",
                "4:1 \"v\" is an object or ", "5:3 \"v\" is a number too ",
                "6:15 found \"oops}\", expe", "8:1 found a value outsid",
                "9:10 found the end, expe",
            ])
    }

    @Test func `answers of InfluxDB become points of their series`() throws {
        let found = try read(
            """
            {"results":[{"statement_id":0,"series":[
              {"name":"dev","tags":{"host":"a","none":""},\
            "columns":["time","id_participant","v","s"],
               "values":[["1970-01-01T00:00:00.000000001Z","p1",74,"x"],\
            [2,null,null,null],[3,"p2",null,""]]},
              {"name":"other","columns":["time","v"],"values":[[4,true],[5]],"partial":true}]}]}
            {"results":[{"statement_id":0},{"messages":[{"text":"series"}]}]}
            {
                "results": [
                    {
                        "series": [
                            {
                                "columns": ["v", "time"],
                                "name": "dev",
                                "values": [
                                    [
                                        1.5,
                                        6
                                    ]
                                ]
                            }
                        ]
                    }
                ]
            }
            """, .influxJSON)
        #expect(
            found.lines == [
                "dev,host=a,id_participant=p1 s=\"x\",v=74 1",
                "dev,host=a,id_participant=p2 s=\"\" 3", "other v=true 4", "dev v=1.5 6",
            ])
        #expect(found.refusals == ["4:61 1 values, expected 2 (one per column)"])
    }

    @Test func `answers that are no data say so`() throws {
        #expect(
            failure(#"{"results":[{"error":"database not found: x"}]}"#, .influxJSON)
                .contains("of a failed query, expected data: database not found: x"))
        #expect(
            failure(
                #"{"results":[{"series":[{"name":"databases","columns":["name"],"#
                    + #""values":[["a"]]}]}]}"#,
                .influxJSON
            ).contains("series \"databases\" has no column \"time\""))
        #expect(
            failure(#"{"results":[{"series":[{"values":[[1]]}]}]}"#, .influxJSON)
                .contains("\"values\" before \"columns\""))
        let cut = try read(
            #"{"results":[{"series":[{"name":"m","columns":["time","v"],"values":[[1,1],[2,"#,
            .influxJSON)
        #expect(cut.lines == ["m v=1 1"])
        #expect(cut.refusals.count == 1)
        #expect(cut.refusals[0].contains("the rest of the file was not read"))
    }

    @Test func `of a rest of a file that is refused the journal has what it can hold`() throws {
        let rows = (0..<60_000).map { #"[\#($0),"text of row \#($0)"]"# }.joined(separator: ",")
        let start = #"{"results":[{"series":[{"name":"m""#
        let columns = #""columns":["time","s"],"values":["#
        for (text, index) in [
            (start + #" "# + columns + rows + "]}]}]}", start.utf8.count + 1),
            (
                start + "," + columns + "[1,nul{]," + rows + "]}]}]}",
                start.utf8.count + 1 + columns.utf8.count
            ),
        ] {
            let bytes = Array(text.utf8)
            let found = try importedRows(files.write("a.json", text), .influxJSON) { _ in }
            try #require(found.refusals.count == 1)
            guard case .line(let line) = found.refusals[0].subject else {
                Issue.record("found \(found.refusals[0])")
                continue
            }
            #expect(line.count == Refusal.lineSizeBytesMax)
            #expect(line.elementsEqual(bytes[index...].prefix(line.count)))
        }
    }

    private static func answer(_ rows: [String]) -> String {
        #"{"results":[{"series":[{"name":"m","columns":["time","v","s"],"values":["#
            + rows.joined(separator: ",") + #"]},{"name":"n","columns":["time","v"],"#
            + #""values":[[7,8],[9,10]]}]}]}"#
    }

    @Test func `a wrong byte in a row of an answer costs this row`() throws {
        let found = try read(
            Self.answer([#"[1,1,"a"]"#, #"[2,2x,"b"]"#, #"[3,3,"c"]"#, #"[4,4,"d"]"#]), .influxJSON)
        #expect(
            found.lines == [
                "m s=\"a\",v=1 1", "m s=\"c\",v=3 3", "m s=\"d\",v=4 4", "n v=8 7", "n v=10 9",
            ])
        #expect(found.refusals.count == 1)
        // The end of a series stays its end, so that no row gets another name or tag.
        let last = try read(Self.answer([#"[1,1,"a"]"#, #"[2,2,"b"x]"#]), .influxJSON)
        #expect(last.lines == ["m s=\"a\",v=1 1", "n v=8 7", "n v=10 9"])
        #expect(last.refusals.count == 1)
        let opened = try read(
            Self.answer([#"[1,1,"a"]"#, #"[[2,2,"b"]"#, #"[3,3,"c"]"#, #"[4,4,"d"]"#]), .influxJSON)
        #expect(opened.lines.last == "n v=10 9")
    }

    // A bracket that ends the list of rows too early is another matter: what follows is refused.
    @Test func `any wrong byte in an answer makes no row up, and each row is kept`() throws {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        // Beyond one read of the file.
        // The texts look like rows.
        let rows = (0..<12_000).map {
            "[\($0),\($0)," + #""x\"],[7,77,\"y\"],[7,77,"# + "\($0)\"]"
        }
        let text = Array(Self.answer(rows).utf8)
        let whole = Set(try read(String(decoding: text, as: UTF8.self), .influxJSON).lines)
        #expect(whole.count == 12_002)
        let start = 70
        for _ in 0..<30 {
            var bytes = text
            let index = start + Int(random.next() % UInt64(text.count - start - 120))
            bytes[index] = Array("x\"[,: \u{1}".utf8)[Int(random.next() % 7)]
            let found = try read(String(decoding: bytes, as: UTF8.self), .influxJSON)
            let strange = found.lines.filter { !whole.contains($0) }
            #expect(strange.count <= 1, "seed \(seed), byte \(index): \(strange)")
            // A quote or a backslash too many or too few hides what follows. So does a row without
            // its opening bracket: its closing one ends the list.
            let isBracketGone = text[index] == openingBracket && bytes[index] == space
            if bytes[index] != quote, !#""\"#.utf8.contains(text[index]), !isBracketGone {
                #expect(found.lines.count >= 12_002 - 8, "seed \(seed), byte \(index)")
            }
            #expect(found.lines.count == 12_002 || !found.refusals.isEmpty, "seed \(seed)")
        }
    }

    @Test func `no row is made up of a text behind a wrong byte`() throws {
        let hostile = #"[2,2,"a\x],[9,9,\"b\"],[9,9,"]"#
        let found = try read(
            Self.answer([#"[1,1,"a"]"#, hostile, #"[3,3,"c"]"#]), .influxJSON)
        #expect(found.lines == ["m s=\"a\",v=1 1", "m s=\"c\",v=3 3", "n v=8 7", "n v=10 9"])
        #expect(found.refusals.count == 1)
    }

    @Test func `members that InfluxDB does not write are refused`() throws {
        func answer(_ series: String) -> String {
            #"{"results":[{"series":[{"name":"m",\#(series)}]}]}"#
        }
        let rows = #""columns":["time","v"],"values":[[1,2]]"#
        for (series, part) in [
            (#""tags":{"a":5},\#(rows)"#, "tag \"a\" is not a string"),
            (#""tags":{"a":{"b":"c"}},\#(rows)"#, "tag \"a\" is not a string"),
            (#""tags":["a"],\#(rows)"#, "\"tags\" is not an object"),
            (#""columns":["time",5,"v"],"values":[[1,2,3]]"#, "a column is not a string"),
            (#""columns":"time","values":[[1]]"#, "\"columns\" is not an array"),
            (#""columns":["time","v"],"valuez":[[1,2]]"#, "found the member \"valuez\""),
            (#""tagz":{"a":"b"},\#(rows)"#, "found the member \"tagz\""),
            (#""columns":["time","v"],"values":{"1":2}"#, "\"values\" is not an array"),
        ] {
            #expect(failure(answer(series), .influxJSON).contains(part))
        }
        #expect(
            failure(#"{"results":[{"serjes":[{"name":"m",\#(rows)}]}]}"#, .influxJSON)
                .contains("found the member \"serjes\""))
        #expect(
            failure(#"{"results":[{"series":[{"nome":"m",\#(rows)}]}]}"#, .influxJSON)
                .contains("without a name"))
        #expect(failure(#"{"results":[{"series":{}}]}"#, .influxJSON).contains("\"series\" is not"))
        let found = try read(
            answer(#""columns":["time","v"],"values":[[1,2],5,{"time":3},null,[4,5]]"#), .influxJSON
        )
        #expect(found.lines == ["m v=2 1", "m v=5 4"])
        #expect(found.refusals.count == 3)
    }

    @Test func `small batches are the same points`() throws {
        var rows: [String] = []
        for row in 1...500 { rows.append("[\(row),\(row).5,\"p\(row % 3)\"]") }
        let text =
            #"{"results":[{"series":[{"name":"m","#
            + #""columns":["time","v","id_participant"],"values":["#
            + rows.joined(separator: ",") + "]}]}]}"
        let whole = try read(text, .influxJSON).lines
        #expect(whole.count == 500)
        for size in [1, 7, 100] {
            #expect(try read(text, .influxJSON) { $0.batchRows = size }.lines == whole)
        }
    }

    @Test func `files are known by how they begin`() {
        func format(_ head: String) -> String? {
            let formats: [InputFormat] = [.influxJSON, .ndjson]
            return formats.first { $0.recognizes(Array(head.utf8), "x.json") }?.name
        }
        #expect(format("{\"results\":[") == "influx-json")
        #expect(format(" {\n  \"results\" : [") == "influx-json")
        #expect(format("{\"time\":1,\"v\":2}\n") == "ndjson")
        #expect(format("[\n{\"time\":1") == "ndjson")
        #expect(
            format(
                "{\"measurement\":\"m\",\"tags\":{},"
                    + "\"time\":\"2025-10-15T02:25:21.570000000Z\",\"fields\":{"
            )
                == "ndjson")
        // U+200D and the quote before it are one character.
        #expect(
            format(
                "{\"measurement\":\"\u{200D}m\",\"tags\":{},"
                    + "\"time\":\"2025-10-15T02:25:21.570000000Z\",\"fields\":{"
            )
                == "ndjson")
        // What apps post belongs to another format.
        #expect(format("{\"time\":\"x\",\"measurement\":\"m\",\"tags\":{},\"fields\":{}}") == nil)
        #expect(format("[{\"measurement\": \"m\", \"fields\": {}}]") == nil)
        #expect(format("{\"a\":1}") == nil)
        #expect(format("m v=1") == nil)
    }

    @Test(arguments: [UInt64](0..<40))
    func `no bytes bring a reader down`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\"time\":", "\"results\":[{\"series\":[{",
            "\"columns\":[\"time\",\"v\"]", "\"values\":[[", "\"tags\":{", "\"fields\":{",
            "\"name\":",
            "\"fields_int\":{", "1", "-", "1e9", "\"x\"", "null", "true", "\n", " ", "\\", "\u{0}",
            "ö",
            "{\"time\":1,\"v\":2}\n",
        ]
        let text = (0..<Int.random(in: 0...80, using: &random))
            .map { _ in pieces.randomElement(using: &random)! }.joined()
        for format in [InputFormat.ndjson, .influxJSON] {
            for batchRows in [1, 1000] {
                _ = try? read(text, format) {
                    $0.experiment = format.name == "ndjson" ? "dev" : nil
                    $0.batchRows = batchRows
                }
            }
        }
    }
}
