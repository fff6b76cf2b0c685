// The output formats of `cozdb query`, cell by cell.

internal import CozDB
internal import CozTestSupport
internal import Testing

@testable internal import CozCommand

struct FormatTests {
    private static let time: Int64 = 1_709_280_000_500_000_000

    /// One series with each kind of cell, and a second row with nothing but nulls.
    private func text(
        _ style: TimeText.Style = .full, tags: [(String, String)] = [],
        _ make: (OutputWriter, TimeText) -> any ResultWriter
    ) -> String {
        let output = OutputWriter(descriptor: nil)
        let format = make(output, TimeText(style: style))
        var header = ResultHeader()
        header.name = "my dev"
        header.tags = tags.map { (name: $0.0, value: $0.1) }
        header.columns = [
            .init(title: "time", kind: .time, source: nil),
            .init(title: "f", kind: .field(.float), source: nil),
            .init(title: "i", kind: .field(.integer), source: nil),
            .init(title: "b", kind: .field(.boolean), source: nil),
            .init(title: "s", kind: .field(.string), source: nil),
            .init(title: "s_1", kind: .tag, source: "s"),
        ]
        format.beginStatement(0)
        format.beginSeries(header)
        format.row([
            .time(Self.time), .value(.float(74)), .value(.integer(-3)), .value(.boolean(true)),
            .value(.string("a \"b\", \\ <c>\nd")), .value(.string("t 1")),
        ])
        format.row([
            .time(0), .value(.float(1e21)), .null, .null, .value(.string("")), .null,
        ])
        format.endSeries()
        format.endStatement(error: nil)
        format.end()
        return String(decoding: output.collected, as: UTF8.self)
    }

    @Test func `influx-json is InfluxDB's body`() {
        let text = text(.shortest, tags: [("p", "")]) { InfluxJSONFormat($0, $1) }
        #expect(
            text == """
                {"results":[{"statement_id":0,"series":[{"name":"my dev","tags":{"p":""},\
                "columns":["time","f","i","b","s","s_1"],"values":[\
                ["2024-03-01T08:00:00.5Z",74,-3,true,"a \\"b\\", \\\\ \\u003cc\\u003e\\nd","t 1"],\
                ["1970-01-01T00:00:00Z",1e+21,null,null,"",null]]}]}]}

                """)
    }

    @Test func `influx-json without series, with errors, and for a wrong text`() {
        let output = OutputWriter(descriptor: nil)
        let format = InfluxJSONFormat(output, TimeText(style: .shortest))
        format.beginStatement(0)
        format.endStatement(error: nil)
        format.beginStatement(1)
        format.endStatement(error: "not executed")
        format.end()
        InfluxJSONFormat(output, TimeText(style: .shortest)).parseError("found \"x\"")
        #expect(
            String(decoding: output.collected, as: UTF8.self) == """
                {"results":[{"statement_id":0},{"statement_id":1,"error":"not executed"}]}
                {"error":"error parsing query: found \\"x\\""}

                """)
    }

    @Test func `csv tells null from the empty string and puts tags first`() {
        let text = text(tags: [("p", "p,1")]) { CSVFormat($0, $1) }
        #expect(
            text == """
                p,time,f,i,b,s,s_1
                "p,1",2024-03-01T08:00:00.500000000Z,74,-3,true,"a ""b"", \\ <c>
                d",t 1
                "p,1",1970-01-01T00:00:00.000000000Z,1e+21,,,"",

                """)
    }

    @Test func `json is an array, ndjson a line each`() {
        let first =
            #"{"p":"1","time":1709280000500,"f":74,"i":-3,"b":true,"#
            + #""s":"a \"b\", \\ <c>\nd","s_1":"t 1"}"#
        let second = #"{"p":"1","time":0,"f":1e+21,"i":null,"b":null,"s":"","s_1":null}"#
        let style = TimeText.Style.epoch(nanosecondsPerUnit: 1_000_000)
        let array = text(style, tags: [("p", "1")]) { JSONFormat($0, $1, isArray: true) }
        #expect(array == "[\n\(first),\n\(second)\n]\n")
        let lines = text(style, tags: [("p", "1")]) { JSONFormat($0, $1, isArray: false) }
        #expect(lines == "\(first)\n\(second)\n")
    }

    @Test func `the experiment and the tags get names that no column has`() {
        var header = ResultHeader()
        (header.name, header.showsName) = ("dev", true)
        header.tags = [("name", "Ann"), ("id", "p1")]
        header.columns = [
            .init(title: "time", kind: .time), .init(title: "name", kind: .field(.string)),
            .init(title: "name_2", kind: .field(.integer)),
        ]
        func text(_ make: (OutputWriter) -> any ResultWriter) -> String {
            let output = OutputWriter(descriptor: nil)
            let format = make(output)
            format.beginStatement(0)
            format.beginSeries(header)
            format.row([.time(0), .value(.string("x")), .value(.integer(1))])
            format.endSeries()
            format.endStatement(error: nil)
            return String(decoding: output.collected, as: UTF8.self)
        }
        let time = TimeText(style: .full)
        #expect(
            text { JSONFormat($0, time, isArray: false) } == """
                {"name_1":"dev","name_3":"Ann","id":"p1",\
                "time":"1970-01-01T00:00:00.000000000Z","name":"x","name_2":1}

                """)
        #expect(
            text { CSVFormat($0, time) } == """
                name_1,name_3,id,time,name,name_2
                dev,Ann,p1,1970-01-01T00:00:00.000000000Z,x,1

                """)
    }

    @Test func `columns of one title get different names`() {
        var header = ResultHeader()
        header.columns = ["f", "f_1", "f", "f", "time"].map {
            .init(title: $0, kind: .field(.integer))
        }
        header.tags = [("f", "p")]
        #expect(header.uniqueTitles == ["f", "f_1", "f_2", "f_3", "time"])
        #expect(header.leadingColumns.map(\.name) == ["f_4"])
    }

    @Test func `many columns of one title`() {
        let growth = Growth(from: 300) { count in
            var header = ResultHeader()
            header.columns = (0..<count).map { _ in .init(title: "f", kind: .field(.integer)) }
            return header
        } _: { header in
            #expect(header.uniqueTitles.last == "f_\(header.columns.count - 1)")
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test(arguments: ["SHOW MEASUREMENTS", "SHOW DATABASES"])
    func `a list of names has one column`(_ statement: String) throws {
        let folder = try TemporaryFolder()
        let write = "echo 'cozdb,id_participant=p f=1 1' | cozdb write --db x"
        #expect(try Command.shell(write, in: folder.url).status == 0)
        for (format, expected) in [
            ("csv", "name\ncozdb\n"), ("ndjson", "{\"name\":\"cozdb\"}\n"),
            ("json", "[\n{\"name\":\"cozdb\"}\n]\n"),
        ] {
            let run = try Command.cozdb(
                ["query", "--db", "x", "--format", format, statement], in: folder.url)
            #expect(run.output == expected)
        }
    }

    @Test func `line protocol keeps names, tags and types`() {
        let text = text(tags: [("id participant", "p=1")]) { output, _ in
            LineProtocolFormat(output)
        }
        #expect(
            text == """
                my\\ dev,id\\ participant=p\\=1,s=t\\ 1 f=74,i=-3i,b=true,\
                s="a \\"b\\", \\\\ <c>
                d" 1709280000500000000
                my\\ dev,id\\ participant=p\\=1 f=1e+21,s="" 0

                """)
    }

    @Test func `a table is aligned and harmless to a terminal`() {
        let text = text(tags: [("p", "1")]) { TableFormat($0, $1) }
        #expect(
            text == """
                name: my dev
                tags: p=1
                time                                f   i  b     s                s_1
                ------------------------------  -----  --  ----  ---------------  ---
                2024-03-01T08:00:00.500000000Z     74  -3  true  a "b", \\ <c>\\nd  t 1
                1970-01-01T00:00:00.000000000Z  1e+21

                """)
    }

    @Test func `a table wider than the terminal is shown a field per line`() {
        let text = text { TableFormat($0, $1, widthMax: 60) }
        #expect(
            text == """
                name: my dev
                -- 1
                time  2024-03-01T08:00:00.500000000Z
                f     74
                i     -3
                b     true
                s     a "b", \\ <c>\\nd
                s_1   t 1
                -- 2
                time  1970-01-01T00:00:00.000000000Z
                f     1e+21
                s
                (empty fields are not shown; use --format csv to see all columns)

                """)
        let wide = self.text { TableFormat($0, $1, widthMax: 80) }
        #expect(wide == self.text { TableFormat($0, $1) })
    }

    @Test func `a report leaves out columns that a terminal has no room for, and says so`() {
        var table = TextTable([.init("name"), .init("count", right: true), .init("bytes")])
        table.append(["ts_heart_rate", "12", "345"])
        var narrow = table
        let whole = table.takeText()
        let text = narrow.takeText(widthMax: 24, elsewhere: "json")
        #expect(
            text == """
                name           count
                -------------  -----
                ts_heart_rate     12
                (not enough room for bytes; use json to see them)

                """)
        var again = TextTable([.init("name"), .init("count", right: true), .init("bytes")])
        again.append(["ts_heart_rate", "12", "345"])
        #expect(again.takeText(widthMax: 27, elsewhere: "json") == whole)
    }

    @Test func `the width of text counts wide characters twice`() {
        #expect(PlainText.width("温度") == 4)
        #expect(PlainText.width("😀 good") == 7)
        #expect(PlainText.width("é") == 1)
        #expect(PlainText.cut("温度计温度计", width: 7) == "温度计…")
        #expect(PlainText.cut("abc", width: 3) == "abc")
        #expect(PlainText.escaped("a\u{1B}[0m\u{202E}") == "a\\u{1b}[0m\\u{202e}")
    }

    @Test func `numbers are grouped and rounded for people`() {
        #expect(PlainText.grouped(-1_234_567) == "-1,234,567")
        #expect(PlainText.grouped(999) == "999")
        #expect(PlainText.fixed(0.0495, digits: 2) == "0.05")
        #expect(PlainText.fixed(12.999, digits: 1) == "13.0")
        #expect(PlainText.size(999) == "999 B")
        #expect(PlainText.size(8_163_158) == "8.2 MB")
        #expect(PlainText.size(999_960) == "1.0 MB")
        #expect(ProgressDisplay.clock(3_661) == "1:01:01")
        #expect(ProgressDisplay.clock(59.2) == "1:00")
    }

    @Test func `json documents are read and written`() throws {
        let text = #"{"a": [1, -2.5, true, null], "b": {"c": "x\u00e9\ud83d\ude00\n"}}"#
        let value = try JSONValue.read(text)
        #expect(value.line == #"{"a": [1, -2.5, true, null], "b": {"c": "xé😀\n"}}"#)
        #expect(try JSONValue.read(value.text()) == value)
        for wrong in ["", "{", "[1,]", "{\"a\" 1}", "nul", "\"\\x\"", "1 2", "\"\\ud83d\""] {
            #expect(throws: DatabaseError.self, "\(wrong)") { try JSONValue.read(wrong) }
        }
    }

    @Test func `parameters have the types InfluxDB gives them`() throws {
        let text = #"{"a": 1, "b": 1.0, "c": "x", "d": {"regex": "^p"}, "e": {"duration": "1m"}}"#
        let parameters = try QueryParameters.read(text)
        #expect(parameters["a"] == .value(.integer(1)))
        #expect(parameters["b"] == .value(.float(1)))
        #expect(parameters["c"] == .value(.string("x")))
        #expect(parameters["d"] == .regex("^p"))
        #expect(parameters["e"] == .duration("1m"))
        #expect(throws: DatabaseError.self) { try QueryParameters.read("[1]") }
        #expect(throws: DatabaseError.self) { try QueryParameters.read(#"{"a": [1]}"#) }
    }

    /// Swift's strings would be equal.
    @Test(arguments: ["csv", "json", "influx-json"])
    func `names that differ only in normalization keep their titles`(_ name: String) {
        let output = OutputWriter(descriptor: nil)
        let time = TimeText(style: .full)
        let format: any ResultWriter =
            switch name {
            case "csv": CSVFormat(output, time)
            case "json": JSONFormat(output, time, isArray: false)
            default: InfluxJSONFormat(output, time)
            }
        let names = ["\u{E9}", "e\u{301}"]
        for (index, name) in names.enumerated() {
            var header = ResultHeader()
            header.columns = [.init(title: name, kind: .field(.integer))]
            format.beginStatement(index)
            format.beginSeries(header)
            format.row([.value(.integer(1))])
            format.endSeries()
            format.endStatement(error: nil)
        }
        format.end()
        let scalars = String(decoding: output.collected, as: UTF8.self).unicodeScalars
        #expect(scalars.count { $0 == "\u{E9}" } == 1)
        #expect(scalars.count { $0 == "\u{301}" } == 1)
    }
}
