// Tables to points: which column is what, types, times, and what is refused.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

extension ParsedPoint {
    /// Like line protocol, nothing escaped; fields by name.
    var text: String {
        let tags = tags.sorted { $0.key < $1.key }.map { ",\($0.key)=\($0.value)" }.joined()
        let fields = fields.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case .float(let number):
                let whole = Int64(exactly: number)
                return "\(name)=\(whole.map(String.init) ?? "\(number)")"
            case .integer(let number): return "\(name)=\(number)i"
            case .boolean(let flag): return "\(name)=\(flag)"
            case .string(let text): return "\(name)=\"\(text)\""
            }
        }
        return "\(experiment)\(tags) \(fields.joined(separator: ",")) \(time)"
    }
}

@Suite struct TableImportTests {
    private let files = TemporaryFiles()

    /// The points of a table, as line protocol in the order of the rows, and refusals.
    private func read(
        _ text: String, _ format: InputFormat = .csv, name: String = "t.csv",
        _ change: (inout ImportOptions) throws -> Void = { _ in }
    ) throws -> (lines: [String], refusals: [String]) {
        var options = ImportOptions()
        options.format = format
        options.experiment = format.name == "csv" ? "dev" : nil
        options.settings.identity = .allTags
        try change(&options)
        let recorder = Recorder()
        _ = try recorder.run([files.write(name, text)], options)
        return (
            recorder.points.map(\.text),
            recorder.refusals.map { "\($0.line):\($0.column) \($0.reason)" }
        )
    }

    private func failure(
        _ text: String, _ format: InputFormat = .csv,
        _ change: (inout ImportOptions) throws -> Void = { _ in }
    ) -> String {
        do {
            _ = try read(text, format, change)
            return "nothing was thrown"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test func `a column of row numbers may be named with a number sign`() throws {
        let found = try read(
            "# made by a logger\n#,time,temp\n1,1970-01-01T00:00:00.000000001Z,20.5\n"
                + "\n#,time,temp\n2,1970-01-01T00:00:00.000000002Z,21.5\n")
        #expect(found.lines == ["dev #=1,temp=20.5 1", "dev #=2,temp=21.5 2"])
        #expect(found.refusals.isEmpty)
    }

    @Test func `types are those of the column as a whole`() throws {
        let found = try read(
            """
            time,n,mixed,id,flag,version,answer,long
            1970-01-01T00:00:00.000000001Z,1,1,007,true,18.6.2,None,12345678901234567890
            1970-01-01T00:00:00.000000002Z,2.5,x,008,False,26.1,A lot,1

            """)
        #expect(
            found.lines == [
                "dev answer=\"None\",flag=true,id=\"007\",long=\"12345678901234567890\","
                    + "mixed=\"1\",n=1,version=\"18.6.2\" 1",
                "dev answer=\"A lot\",flag=false,id=\"008\",long=\"1\",mixed=\"x\",n=2.5,"
                    + "version=\"26.1\" 2",
            ])
    }

    @Test func `a row that does not fit the header does not decide types`() throws {
        let found = try read(
            """
            time,a,b
            1970-01-01T00:00:00.000000001Z,1,2
            1970-01-01T00:00:00.000000002Z,text
            1970-01-01T00:00:00.000000003Z,text,4,5
            1970-01-01T00:00:00.000000004Z,3,,

            """)
        #expect(found.lines == ["dev a=1,b=2 1", "dev a=3 4"])
        #expect(found.refusals.count == 2)
    }

    @Test func `nothing is null, quotes are the empty string, and of numbers NaN is null`() throws {
        let found = try read("time,a,b,c\n1,,\"\",NaN\n2,x,,4\n3,,,\n4,y,,\"\"\n")
        #expect(found.lines == ["dev b=\"\" 1", "dev a=\"x\",c=4 2", "dev a=\"y\" 4"])
        #expect(found.refusals.isEmpty)
        let nulls = try read("time,a,b\n1,NA,-\n2,5,x\n") { $0.table.nulls = ["NA", "-"] }
        #expect(nulls.lines == ["dev a=5,b=\"x\" 2"])
    }

    @Test func `types can be told, and what does not fit is refused by the database`() throws {
        let found = try read("time,n,m\n1,74,\n2,74.5,7\n3,x,y\n") {
            $0.table.columnTypes = [("n", .integer), ("m", .string)]
        }
        #expect(
            found.lines == ["dev n=74i 1", "dev m=\"7\",n=74.5 2", "dev m=\"y\",n=\"x\" 3"])
    }

    @Test func `columns of participants, tags, experiments and row numbers`() throws {
        let text = """
            ,Time,who,site,kind,v
            0,1,p1,A,e1,5
            1,2,p2,,e2,6

            """
        let found = try read(text) {
            $0.experiment = nil
            $0.settings.identity = nil
            $0.table.experimentColumn = "kind"
            $0.table.participantColumn = "who"
            $0.table.tagColumns = ["site"]
        }
        #expect(
            found.lines == ["e1,id_participant=p1,site=A v=5 1", "e2,id_participant=p2 v=6 2"])
        let rest = try read(text) {
            $0.settings.identity = nil
            $0.participant = "p9"
            $0.table.ignoredColumns = ["who", "kind", "site"]
        }
        #expect(rest.lines == ["dev,id_participant=p9 v=5 1", "dev,id_participant=p9 v=6 2"])
    }

    @Test func `times parse in every notation, or are refused with the text`() throws {
        func time(_ text: String, _ format: TableTimeFormat = .automatic) throws -> String? {
            let found = try read("time,v\n\(text),1\n") { $0.table.timeFormat = format }
            return found.lines.first ?? found.refusals.first
        }
        func pattern(_ text: String) throws -> TableTimeFormat {
            .pattern(try .init(strptime: text))
        }
        let expected = "dev v=1 1707705430500000000"
        #expect(try time("2024-02-12 10:37:10.5+08:00") == expected)
        #expect(try time("2024-02-12T02:37:10.5Z") == expected)
        #expect(try time("2024-02-12 02:37:10.500 UTC") == expected)
        #expect(try time("1707705430.5", .epoch(.seconds)) == expected)
        #expect(try time("1707705430500", .epoch(.milliseconds)) == expected)
        let american = try pattern("%m/%d/%y %I:%M:%S.%f %p")
        #expect(try time("2/12/24 2:37:10.5 AM", american) == expected)
        let wordy = try pattern("%a %b %d %H:%M:%S.%f %Z %Y")
        #expect(try time("Mon Feb 12 02:37:10.5 UTC 2024", wordy) == expected)
        #expect(
            try time("2/30/24 2:37:10 AM", american)?.hasPrefix("2:1 column 1: the time") == true)
        #expect(try time("yesterday")?.hasPrefix("2:1 column 1: the time \"yesterday\"") == true)
        let local = try read("time,v\n2024-07-01 12:00:00,1\n2024-01-01T12:00:00Z,2\n") {
            $0.table.timeZone = try TimeZoneRules(named: "Europe/Berlin")
        }
        #expect(local.lines == ["dev v=1 1719828000000000000", "dev v=2 1704110400000000000"])
    }

    @Test func `numbers that were not meant as nanoseconds stop the import`() throws {
        let text = "time,v\n1705545013,1\n"
        #expect(failure(text).contains("the precision to s for 2024-01-18T02:30:13Z"))
        let found = try read(text) { $0.precision = .seconds }
        #expect(found.lines == ["dev v=1 1705545013000000000"])
        let insisted = try read(text) { $0.table.timeFormat = .epoch(.nanoseconds) }
        #expect(insisted.lines == ["dev v=1 1705545013"])
    }

    @Test(arguments: [
        ("31.12.2024 10:00", "here \"%d.%m.%Y %H:%M\""), ("1.2.2024", "here \"%d.%m.%Y\""),
        ("31/12/2024 10:00:05", "here \"%d/%m/%Y %H:%M:%S\""),
        ("12/31/2024 11:00 PM", "here \"%m/%d/%Y %I:%M %p\""),
        ("1/2/2024", "here \"%d/%m/%Y\" or \"%m/%d/%Y\""),
        ("2024/12/31", "here \"%Y/%m/%d\""), ("31.31.2024", "give a time format"),
        ("31.12.2024 soon", "give a time format"),
    ])
    func `a time in a common format is refused with its pattern`(
        text: String, suggestion: String
    ) throws {
        let refused = try read("time,a\n\(text),2\n")
        #expect(refused.refusals.count == 1)
        #expect(refused.refusals.first?.hasSuffix(suggestion) == true, "\(refused.refusals)")
        guard let pattern = suggestion.split(separator: "\"").dropFirst().first else { return }
        let found = try read("time,a\n\(text),2\n") {
            $0.table.timeFormat = .pattern(try! TimePattern(strptime: String(pattern)))
        }
        #expect(found.lines.count == 1 && found.refusals.isEmpty)
    }

    @Test func `rows that cannot be points are kept with place and reason`() throws {
        let found = try read(
            "time,a,b\n1,x,y\n2,x\n3,x,y,,\n4,x,y,z\nsoon,x,y\n"
                + "6,\"x\"y,z\n,x,y\n7,x,\"two\nlines\"\n"
        )
        #expect(found.lines.count == 3)
        #expect(
            found.refusals == [
                "3:0 2 cells, expected 3 as in the header in line 1",
                "5:0 4 cells, expected 3 as in the header in line 1",
                "6:1 column 1: the time \"soon\": expected RFC 3339 or a number; for other "
                    + "times, give a time format",
                "7:3 the quoted cell that begins here has \"y\" after its closing quote; "
                    + "expected the end of the cell (double a quote inside a cell)",
                "8:1 column 1: the time is empty, expected a time",
            ])
    }

    @Test func `an identity that no experiment can have is refused before rows are read`() throws {
        for (names, reason) in [
            ((0...100).map { "t\($0)" }, "found an identity of 101 tags"),
            ([], "found an identity without tags"), ([""], "identity tag of 0 bytes"),
        ] {
            #expect(
                failure("time,f\n1,2\n") { $0.settings.identity = .tags(names) }
                    .hasPrefix(reason))
        }
    }

    @Test func `headers that cannot be understood say what to do`() {
        #expect(failure("a,b\n1,2\n").contains("name the time column"))
        #expect(failure("time,b\n1,2\n") { $0.experiment = nil }.contains("name the experiment"))
        #expect(
            failure("time,b\n1,2\n") { $0.settings.identity = nil }
                .contains("no participant column"))
        #expect(failure("time,b,b\n1,2,3\n").contains("columns 2 and 3 have the same name \"b\""))
        #expect(
            failure("time,b\n1,2\n") { $0.table.tagColumns = ["c"] }.contains("as a tag column"))
        #expect(failure("time,\"b\n1,2\n").contains("never closed"))
        #expect(failure("time\n1\n").contains("found no field column"))
    }

    @Test func `tables behind an empty line may have another header`() throws {
        let found = try read("time,a\n1,x\n\n2,y\n\nb,time\n5,3\n")
        #expect(found.lines == ["dev a=\"x\" 1", "dev a=\"y\" 2", "dev b=5 3"])
    }

    @Test func `delimiters are seen in the header, preambles passed over`() throws {
        let lines = ["dev a=\"x,y\",b=1 1"]
        #expect(try read("time;a;b\n1;x,y;1\n").lines == lines)
        #expect(try read("\r\ntime;a;b\r\n1;x,y;1\r\n").lines == lines)
        #expect(try read("time\ta\tb\n1\tx,y\t1\n", name: "t.tsv").lines == lines)
        #expect(try read("time;\"a,b\";c\n1;x;1\n").lines == [#"dev a,b="x",c=1 1"#])
        #expect(try read("time;5\";b\n1;2;1\n").lines == [#"dev 5"=2,b=1 1"#])
        #expect(try read("time;5\";b\n1;\"2,0\";1\n").lines == [#"dev 5"="2,0",b=1 1"#])
        #expect(try read("\"time\";\"a,\n\"\"b\";c\n1;\"x,\";1\n").lines.count == 1)
        #expect(try read("\"l\nf\";time;x\n2;1;3\n").lines.count == 1)
        #expect(try read("time;\"a \"\"b, c\"\"\"\n1;2\n").lines.count == 1)
        let names = (0..<300).map { "\"q\($0): well, how are you?\"" }.joined(separator: ";")
        let ones = String(repeating: "1;", count: 300)
        #expect(try read("\(names);time\n\(ones)5\n").lines.count == 1)
        #expect(
            try read("Device: \"X\nUnit, C\n\ntime;a;b\n1;x,y;1\n") {
                $0.table.skippedLines = 3
            }.lines == lines)
    }

    @Test func `what stands before the end of a cut file is stored`() throws {
        var text = "time,id_participant,a\n"
        for row in 0..<100_000 { text += "\(row),p\(row % 7),\(row * 7919 % 100_003)\n" }
        let whole = gzip(Array(text.utf8))
        var options = ImportOptions()
        options.experiment = "dev"
        options.formats = [.annotatedCSV, .influxCSV, .csv, .lineProtocol]
        for size in [whole.count / 8, whole.count / 2, whole.count - 1] {
            let recorder = Recorder()
            let path = files.write("cut.csv.gz", Array(whole[..<size]))
            let error = #expect(throws: DatabaseError.self) { try recorder.run([path], options) }
            #expect(error?.kind == .damaged)
            let times = recorder.points.map(\.time)
            // Compressed bytes of a part of a block and of a row cannot be read.
            let least = 100_000 * size / whole.count - 20_000
            #expect(times.count > least && times == Array(0..<Int64(times.count)), "\(size)")
            if size == whole.count - 1 { #expect(times.count >= 99_999) }
        }
    }

    @Test func `the same bytes give the same points however they are compressed or cut`() throws {
        var text = "time,id_participant,a,b\n"
        for row in 0..<5000 {
            text += "\(row),p\(row % 7),\(row % 3 == 0 ? "" : "\(row)"),t\(row)\n"
        }
        let plain = try read(text).lines
        #expect(plain.count == 5000)
        #expect(try read(text) { $0.batchRows = 7 }.lines == plain)
        let path = files.write("t.csv.gz", gzip(Array(text.utf8)))
        let recorder = Recorder()
        var options = ImportOptions()
        options.experiment = "dev"
        options.formats = [.annotatedCSV, .influxCSV, .csv, .lineProtocol]
        options.settings.identity = .allTags
        _ = try recorder.run([path], options)
        #expect(recorder.points.map(\.text) == plain)
    }
}
