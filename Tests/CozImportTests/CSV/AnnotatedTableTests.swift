// Annotated CSV of InfluxDB 2, the CSV of InfluxDB 1.x's shell, and how files are known.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct AnnotatedTableTests {
    private let files = TemporaryFiles()

    private func read(
        _ text: String, _ format: InputFormat = .annotatedCSV,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> (lines: [String], refusals: [String]) {
        let found = try importedRows(files.write("a.csv", text), format, change)
        return (found.lines, found.refusals.map { "\($0.line):\($0.column) \($0.reason)" })
    }

    private func failure(_ text: String, _ format: InputFormat = .annotatedCSV) -> String {
        do {
            _ = try read(text, format)
            return "nothing was thrown"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test func `what annotations give each row counts as input`() throws {
        let text = String(repeating: "x", count: 1 << 20)
        let rows = (1...100).map { "\($0),1" }.joined(separator: "\n")
        var options = ImportOptions()
        options.format = .annotatedCSV
        options.settings.identity = .allTags
        let recorder = Recorder()
        let report = try recorder.run(
            [
                files.write(
                    "a.csv",
                    """
                    #constant,measurement,m
                    #constant,string,note,\(text)
                    #datatype,dateTime:number,long
                    t,n
                    \(rows)

                    """)
            ], options)
        #expect(report.points == 100, "\(recorder.refusals)")
        // A batch ends after 32 MiB of input.
        #expect(recorder.committed == [32, 64, 96, 100])
    }

    @Test func `answers of Flux are a field and a value a row`() throws {
        let found = try read(
            """
            #group,false,false,true,true,false,false,true,true,true
            #datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string\
            ,string,string
            #default,_result,,,,,,,,
            ,result,table,_start,_stop,_time,_value,_field,_measurement,host
            ,,0,2022-12-31T05:41:24Z,2023-01-31T05:41:24Z,1970-01-01T00:00:01Z,15.43,mem,m,A
            ,,1,2022-12-31T05:41:24Z,2023-01-31T05:41:24Z,1970-01-01T00:00:01Z,59,mem,m,

            #group,false,false,true,true,false,false,true
            #datatype,string,long,string,string,dateTime:RFC3339,string,string
            #default,_result,,,,,,
            ,result,table,_field,_measurement,_time,_value,host
            ,,2,state,m,1970-01-01T00:00:02Z,ok,A

            """)
        #expect(
            found.lines == [
                "m,host=A mem=15.43 1000000000", "m mem=59 1000000000",
                "m,host=A state=\"ok\" 2000000000",
            ])
    }

    @Test func `pivoted answers have a column a field`() throws {
        let found = try read(
            """
            #group,false,false,false,true,false,false
            #datatype,string,long,dateTime:RFC3339,string,double,long
            #default,_result,,,,,
            ,result,table,_time,_measurement,temp,count
            ,,0,1970-01-01T00:00:01Z,m,1.5,7
            ,,0,1970-01-01T00:00:02Z,m,,8

            """)
        #expect(found.lines == ["m count=7i,temp=1.5 1000000000", "m count=8i 2000000000"])
    }

    @Test func `extended annotations give every column its meaning`() throws {
        let found = try read(
            """
            #timezone,+0200
            #constant,measurement,m
            #constant,tag,dc,eu
            #constant double,level,0.5
            #datatype dateTime:02.01.2006 15:04,"double:,.",duration,unsignedLong,\
            boolean:y:n,ignored
            time,price,took,ul,ok,rest
            01.01.1970 02:00,"1.234,5",1h0.5s,7,y,x
            01.01.1970 03:00,"2",-2us,,n,

            """)
        #expect(
            found.lines == [
                "m,dc=eu level=0.5,ok=true,price=1234.5,took=3600500000000i,ul=7i 0",
                "m,dc=eu level=0.5,ok=false,price=2,took=-2000i 3600000000000",
            ])
    }

    @Test(arguments: [
        ("0.071m", 4_260_000_000), ("0.500768256s", 500_768_256), ("0.283m", 16_980_000_000),
        ("1h0.5m", 3_630_000_000_000), ("-1.5h", -5_400_000_000_000), ("0.9ns", 0),
        ("0", 0), ("-0", 0), (".5s", 500_000_000), ("1.m", 60_000_000_000),
        ("0.1234567891234h", 444_444_440_844), ("0.9999999999h", 3_599_999_999_640),
        ("1.9999999999w", 1_209_599_999_939_520),
        ("0.00000000000027777777777777777777777777777778h", 1),
    ])
    func `durations are exact`(_ text: String, _ nanoseconds: Int) throws {
        let found = try read(
            "#datatype measurement,tag,dateTime:number,duration\n"
                + "m,id_participant,time,f\nm,p,1,\(text)\n")
        #expect(found.lines.first?.contains("f=\(nanoseconds)i") == true, "\(found)")
    }

    /// Go's rule (the end of `parse` in its time/format.go): AM and PM count for both hours of a
    /// layout, and 12 without either is noon.
    @Test(arguments: [
        ("2006-01-02 03:04", "2024-02-12 12:30", 45_000),
        ("2006-01-02 03:04", "2024-02-12 00:30", 1800),
        ("2006-01-02 03:04 PM", "2024-02-12 12:30 AM", 1800),
        ("2006-01-02 03:04 PM", "2024-02-12 12:30 PM", 45_000),
        ("2006-01-02 03:04 PM", "2024-02-12 03:30 PM", 55_800),
        ("2006-01-02 15:04 PM", "2024-02-12 03:30 PM", 55_800),
        ("2006-01-02 15:04 PM", "2024-02-12 12:30 AM", 1800),
        ("2006-01-02 15:04 PM", "2024-02-12 15:30 AM", 55_800),
        ("02_01_2006 15:04", "12_02_2024 15:30", 55_800),
        ("2006-01-02 15:04 -0700 MST", "2024-02-12 15:30 +0100 GMT", 52_200),
        ("2006-01-02 15:04 MST-0700", "2024-02-12 15:30 GMT+0100", 52_200),
        ("2006-01-02 15:04 -0700 MST", "2024-02-12 15:30 +0100 UTC", 55_800),
        ("2006-01-02 15:04 MST-0700", "2024-02-12 15:30 UTC+0100", 55_800),
        ("2006-01-02T3:04PMZ07:00", "2024-02-12T3:30PMZ", 55_800),
        ("2Jan2006T15:04", "12Feb2024T15:30", 55_800),
        ("2006JanuaryT02 15:04", "2024februaryT12 15:30", 55_800),
        ("MonT2006-01-02 15:04", "MondayT2024-02-12 15:30", 55_800),
        ("Month Jan 2 2006 Januar 15:04", "Month Feb 12 2024 Januar 15:30", 55_800),
    ])
    func `hours and offsets of a layout are Go's`(_ layout: String, _ text: String, _ second: Int)
        throws
    {
        let found = try read(
            "#datatype measurement,tag,dateTime:\(layout),double\n"
                + "m,id_participant,time,f\nm,p,\(text),1\n")
        #expect(found.refusals.isEmpty)
        #expect(found.lines.first?.contains(" \(1_707_696_000 + second)000000000") == true)
    }

    @Test func `headers may say types, and columns may have values of their own`() throws {
        let found = try read(
            "#constant,measurement,m\nname|tag,s|string|none,n|long|0,t|dateTime:number\n"
                + "a,x,1,5\nb,,,6\n"
        )
        #expect(found.lines == ["m,name=a n=1i,s=\"x\" 5", "m,name=b n=0i,s=\"none\" 6"])
    }

    @Test func `what exports write comes back as it was`() throws {
        let text = """
            #datatype measurement,tag,tag,dateTime:RFC3339,double,long,boolean,string,string
            measurement,id_participant,x,time,x,n,flag,text,a|b
            dev,p1,1,1970-01-01T00:00:00.000000001Z,-0,9007199254740993,true,"",
            dev,p2,,1970-01-01T00:00:00.000000002Z,,,,"a ""b"",
            c",z

            #datatype measurement,tag,dateTime:RFC3339,string
            measurement,id_participant,time,n
            other,p1,1970-01-01T00:00:00.000000003Z,07

            """
        let lines = [
            "dev,id_participant=p1,x=1 flag=true,n=9007199254740993i,text=\"\",x=0 1",
            "dev,id_participant=p2 a|b=\"z\",text=\"a \"b\",\nc\" 2",
            "other,id_participant=p1 n=\"07\" 3",
        ]
        #expect(try read(text).lines == lines)
        #expect(try read(text, .csv).lines == lines)
    }

    @Test func `what is no table says so`() {
        #expect(
            failure("#datatype,string,long\n,error,reference\n,Failed to parse query,897\n")
                .contains("line 3: found the error message of a failed query"))
        #expect(failure("#datatype,strnig\n,a\n").contains("unknown datatype \"strnig\""))
        #expect(failure("#datatype,string\n").contains("annotations without a table"))
        #expect(failure("#timezone,Nowhere/Land\n").contains("Nowhere/Land"))
        #expect(
            failure("#datatype tag,double,time\na,b,time\n1,2,3\n").contains("name the experiment"))
    }

    @Test func `numbers and texts that do not fit are kept`() throws {
        let found = try read(
            """
            #datatype measurement,dateTime:number,long,double,boolean
            m,time,l,d,b
            x,1,5.5,1e999,maybe
            x,2,99999999999999999999,1,t
            ,3,1,1,t
            x,,1,1,t

            """)
        #expect(
            found.lines == [
                "x b=\"maybe\",d=\"1e999\",l=5.5 1",
                "x b=true,d=1,l=\"99999999999999999999\" 2",
            ])
        #expect(
            found.refusals == [
                "5:1 column 1: the experiment is empty, expected a name",
                "6:3 column 2: the time is empty, expected a time",
            ])
    }

    @Test func `the shell's tables follow each other with a header each`() throws {
        let found = try read(
            """
            name,time,heart,note
            dev,1,74,"a,b"
            dev,2,,c

            name,tags,time,mean
            dev,"host=a,region=b,c",3,1.5
            other,,4,2
            name,time,heart
            third,1970-01-01T00:00:00.000000005Z,1

            """, .influxCSV)
        #expect(
            found.lines == [
                "dev heart=74,note=\"a,b\" 1", "dev note=\"c\" 2",
                "dev,host=a,region=b,c mean=1.5 3", "other mean=2 4", "third heart=1 5",
            ])
    }

    @Test func `tags without a name are refused`() throws {
        let found = try read(
            "name,tags,time,v\nm,host=a,1,2\nm,a,3,4\nm,=a,5,6\nm,\"host=a,b\",7,8\n", .influxCSV)
        #expect(found.lines == ["m,host=a v=2 1", "m,host=a,b v=8 7"])
        #expect(
            found.refusals.map { $0.contains("expected name=value") } == [true, true],
            "\(found.refusals)")
    }

    @Test func `files are known by their first line`() throws {
        func format(_ head: String, _ name: String = "x") -> String? {
            let formats: [InputFormat] = [.annotatedCSV, .influxCSV, .csv]
            return formats.first { $0.recognizes(Array(head.utf8), name) }?.name
        }
        #expect(format("#datatype measurement,tag\n") == "annotated-csv")
        #expect(format("\u{FEFF}\n#group,false\r\n") == "annotated-csv")
        #expect(format("#constant,measurement,m\n", "a.csv") == "annotated-csv")
        #expect(format("name,time,v\n") == "influx-csv")
        #expect(format("name,tags,time\r\n") == "influx-csv")
        #expect(format("name,surname,time\n") == "csv")
        #expect(format("anything", "a.CSV") == "csv")
        #expect(format("anything", "a.tsv.gz") == "csv")
        #expect(format("id;Timestamp;x\n") == "csv")
        #expect(format("# INFLUXDB EXPORT: x\n") == nil)
        #expect(format("m,tag=a v=1 5\n") == nil)
        #expect(format("# DDL\n") == nil)
        #expect(format("{\"time\":1}\n") == nil)
        #expect(format("") == nil)
    }

    @Test(arguments: [UInt64](0..<30))
    func `tables of hostile texts come back from what exports write`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "\"", "\n", "\r\n", ",", "#datatype", "a", "12", "😀", "\u{202E}שלום", "\u{0}", " ", "|",
        ]
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &random))
                .map { _ in pieces.randomElement(using: &random)! }.joined()
        }
        func cell(_ text: String) -> String {
            "\""
                + text.utf8.split(separator: 0x22, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\"\"") + "\""
        }
        var table =
            "#datatype measurement,tag,dateTime:number,string,double\n,id,time,\(cell("f,\n")),n\n"
        var expected: [ParsedPoint] = []
        for row in 1...20 {
            let (name, tag, value) = ("m" + text(), text(), text())
            let number = Double.random(in: -1e6...1e6, using: &random)
            table +=
                "\(cell(name)),\(tag.isEmpty ? "" : cell(tag)),\(row),\(cell(value)),\(number)\n"
            expected.append(
                ParsedPoint(
                    experiment: name, tags: tag.isEmpty ? [:] : ["id": tag], time: Int64(row),
                    fields: ["f,\n": .string(value), "n": .float(number)]))
        }
        var options = ImportOptions()
        options.formats = [.annotatedCSV, .csv, .lineProtocol]
        options.settings.identity = .allTags
        options.batchRows = Int.random(in: 1...30, using: &random)
        let recorder = Recorder()
        _ = try recorder.run([files.write("a.csv", table)], options)
        let found = recorder.points.map { point in
            var point = point
            point.line = 0
            return point
        }
        #expect(found == expected, "seed \(seed)")
        #expect(recorder.refusals.isEmpty)
    }

    @Test(arguments: [UInt64](0..<40))
    func `no bytes bring a reader down`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 77)
        let pieces = [
            "#datatype", "#constant,", "#default", "#group,true", "#timezone,+99", "measurement",
            "tag", "time", "_time", "_field", "_value", "name,time", "name,tags,time", ",", ",",
            "\n",
            "\n", "\"", "|", ":", "1", "-", "1e", "2024-01-01", "T", "9999999999999999999999", "x=",
            "long", "double:,.", "boolean:", "dateTime:2006", "duration", "1h", "\u{0}", "ö", " ",
        ]
        let text =
            "time,a\n".prefix(Int.random(in: 0...7, using: &random))
            + (0..<Int.random(in: 0...120, using: &random))
            .map { _ in pieces.randomElement(using: &random)! }.joined()
        for format in [InputFormat.csv, .annotatedCSV, .influxCSV] {
            for hasExperiment in [false, true] {
                _ = try? read(String(text), format) {
                    $0.experiment = hasExperiment ? "dev" : nil
                    $0.now = hasExperiment ? Timestamp(nanoseconds: 1) : nil
                    $0.table.nulls = ["x"]
                }
            }
        }
    }

    @Test(arguments: [
        ("first,a,second", "1", "second=\"2\""), ("_time,a,arrived", "1", "arrived=\"2\""),
        ("time,a,arrived", "1", "arrived=\"2\""), ("sent,a,time", "2", "sent=\"1\""),
        ("sent,a,_time", "2", "sent=\"1\""),
    ])
    func `of two times the one called time, else the first, is that of the row`(
        _ header: String, time: String, other: String
    ) throws {
        let found = try read(
            "#datatype measurement,dateTime:number,double,dateTime:number\nm,\(header)\nm,1,5,2\n")
        #expect(found.lines == ["m a=5,\(other) \(time)"])
    }
}
