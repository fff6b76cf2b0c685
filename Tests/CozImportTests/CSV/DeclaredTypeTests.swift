// A declared type holds from the first value on, whatever that is; and what tables must say before
// anything of them is stored.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct DeclaredTypeTests {
    private let files = TemporaryFiles()

    /// The points of one file as `a` of the experiment `m`: its type, and the refused values.
    private func stored(
        _ text: String, _ format: InputFormat, _ type: FieldType? = nil
    ) throws -> (type: FieldType?, refused: [String], rows: UInt64) {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = format
        options.settings.identity = .allTags
        if format.name != "annotated-csv" { options.experiment = "m" }
        if let type { options.table.columnTypes = [("a", type)] }
        let report = try importFiles([files.write("f", text)], into: database, options: options)
        var refused: [String] = []
        try database.rejects { entry throws(DatabaseError) in
            if case .value(_, _, _, _, let value, _) = entry.refusal.subject {
                refused.append("\(value)")
            }
            return true
        }
        let schema = try database.schemas().first { $0.name == "m" }
        let declared = schema?.field("a")?.type ?? schema?.declaration(of: "a")?.type
        return (declared, refused, UInt64(report.points))
    }

    @Test(arguments: ["9223372036854775808", "-9223372036854775809", "18446744073709551615"])
    func `an integer beyond 64 bits is refused as it was written`(number: String) throws {
        let head = "#datatype measurement,tag,dateTime:RFC3339,"
        let row = "m,x,time,a\nm,p,1970-01-01T00:00:01Z,\(number)\n"
        let found = [
            try stored(head + "long\n" + row, .annotatedCSV),
            try stored(head + "unsignedLong\n" + row, .annotatedCSV),
            try stored("time,a\n1,\(number)\n", .csv, .integer),
            try stored("{\"time\":1,\"a\":\(number)}\n", .ndjson, .integer),
            try stored("{\"time\":1,\"fields_int\":{\"a\":\(number)}}\n", .ndjson),
        ]
        for one in found {
            #expect(one.type == .integer)
            #expect(one.refused == ["\(FieldValue.string(number))"])
        }
    }

    @Test(arguments: ["1.5", "2e300"])
    func `the first value does not decide where a type is declared`(number: String) throws {
        let head = "#datatype measurement,tag,dateTime:RFC3339,long\nm,x,time,a\n"
        let first = "m,p,1970-01-01T00:00:01Z,\(number)\n"
        let second = "m,p,1970-01-01T00:00:02Z,2\n"
        for isSwapped in [false, true] {
            func file(_ one: String, _ two: String) -> String { isSwapped ? two + one : one + two }
            let found = [
                try stored(head + file(first, second), .annotatedCSV),
                try stored("time,a\n" + file("1,\(number)\n", "2,2\n"), .csv, .integer),
                try stored(
                    file("{\"time\":1,\"a\":\(number)}\n", "{\"time\":2,\"a\":2}\n"), .ndjson,
                    .integer),
                try stored(
                    file(
                        "{\"time\":1,\"fields_int\":{\"a\":\(number)}}\n",
                        "{\"time\":2,\"fields_int\":{\"a\":2}}\n"), .ndjson),
            ]
            for one in found {
                #expect(one.type == .integer)
                #expect(one.refused.count == 1)
            }
        }
    }

    @Test func `texts and negative zero do not decide it either`() throws {
        for value in ["\"5\"", "-0.0", "true"] {
            let found = try stored("{\"time\":1,\"fields_int\":{\"a\":\(value)}}\n", .ndjson)
            #expect(found.type == .integer)
            #expect(found.refused.count == 1, "\(value)")
        }
        let found = try stored("time,a\n1,-0.0\n2,2\n", .csv, .integer)
        #expect(found.type == .integer)
    }

    private func failure(_ text: String, _ format: InputFormat) -> String {
        do {
            _ = try stored(text, format)
            return "nothing was thrown"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test
    func `a type for a column that is not there is an error, unless another file may have it`()
        throws
    {
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "m"
        options.settings.identity = .allTags
        options.table.columnTypes = [("b", .integer)]
        let (one, two) = (
            files.write("1.csv", "time,a\n1,2\n"), files.write("2.csv", "time,b\n1,2\n")
        )
        let error = #expect(throws: DatabaseError.self) { try Recorder().run([one], options) }
        #expect(error?.kind == .usage && error?.message.contains("no column \"b\"") == true)
        #expect(error?.remedy == .change([.columnTypes]))
        let recorder = Recorder()
        _ = try recorder.run([one, two], options)
        #expect(recorder.points.map(\.text) == ["m a=2 1", "m b=2i 1"])
    }

    @Test func `lines that end with a carriage return alone are an error`() {
        let table = "time,a\r1,2\r2,3\r"
        #expect(failure(table, .csv).contains("lines that end with LF or CRLF"))
        #expect(failure("time,a\r1,2\n", .csv).contains("lines that end with LF or CRLF"))
        let annotated = "#datatype measurement,dateTime,long\rm,time,a\rm,1,2\r"
        #expect(failure(annotated, .annotatedCSV).contains("lines that end with LF or CRLF"))
        #expect(failure("time,a,\"b\rc\"\r\n1,2,3\r\n", .csv) == "nothing was thrown")
    }

    /// Clocks of New York went from 2:00 to 3:00 on 2021-03-14, and from 2:00 to 1:00 on 11-07.
    @Test func `local times that clocks never showed are refused, of two the first is taken`()
        throws
    {
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "m"
        options.settings.identity = .allTags
        options.table.timeZone = try TimeZoneRules(named: "America/New_York")
        let recorder = Recorder()
        let text = """
            time,a
            2021-03-14 01:59:59.5,1
            2021-03-14 02:00:00,2
            2021-03-14 02:30:00,3
            2021-03-14 03:00:00,4
            2021-11-07 01:30:00,5
            1969-12-31 18:59:59.5,6

            """
        _ = try recorder.run([files.write("f.csv", text)], options)
        #expect(
            recorder.points.map(\.text) == [
                "m a=1 1615705199500000000", "m a=4 1615705200000000000",
                "m a=5 1636263000000000000", "m a=6 -500000000",
            ])
        #expect(recorder.refusals.map(\.line) == [3, 4])
        #expect(recorder.refusals.allSatisfy { $0.reason.contains("put forward") })
    }

    @Test func `where a datatype names the measurement, Flux's labels are names`() throws {
        var options = ImportOptions()
        options.format = .annotatedCSV
        options.settings.identity = .allTags
        let recorder = Recorder()
        let text = """
            #datatype measurement,tag,tag,dateTime:RFC3339,double,string,long,string
            measurement,_measurement,result,time,_value,_field,_time,table
            m,x,r,1970-01-01T00:00:01Z,1.5,f,7,t

            """
        _ = try recorder.run([files.write("f.csv", text)], options)
        #expect(
            recorder.points.map(\.text) == [
                "m,_measurement=x,result=r _field=\"f\",_time=7i,_value=1.5,table=\"t\" 1000000000"
            ])
    }

    @Test func `answers with a column twice, or without an array of results, are errors`() {
        func failure(_ text: String) -> String {
            var options = ImportOptions()
            options.format = .influxJSON
            options.settings.identity = .allTags
            do {
                _ = try Recorder().run([files.write("f.json", text)], options)
                return "nothing was thrown"
            } catch {
                return error.message
            }
        }
        let twice =
            "{\"results\":[{\"series\":[{\"name\":\"m\",\"columns\":[\"time\",\"a\",\"a\"],"
            + "\"values\":[[1,2,3]]}]}]}"
        #expect(failure(twice).contains("two columns named \"a\""))
        for value in ["5", "true", "null", "\"x\"", "{}"] {
            #expect(failure("{\"results\":\(value)}").contains("is not an array"), "\(value)")
        }
        #expect(failure("{\"results\":[]}") == "nothing was thrown")
    }
}
