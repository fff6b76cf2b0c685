// The types that an input asks for: for which field, from which row on, and for which numbers.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct AskedTypeTests {
    private let files = TemporaryFiles()

    /// What a database holds: the types and values of its fields by name, and the refused values.
    private struct Outcome: Equatable {
        var types: [String: FieldType] = [:]
        var values: [String: [String]] = [:]
        var refused: [String] = []
    }

    private func imported(
        _ texts: [String], _ format: InputFormat, into existing: Database? = nil,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        let database = try existing ?? Database.inMemory()
        var options = ImportOptions()
        options.format = format
        options.settings.identity = .allTags
        // The others name it.
        if ["csv", "ndjson"].contains(format.name) { options.experiment = "m" }
        change(&options)
        let paths = texts.enumerated().map { files.write("\($0)", $1) }
        _ = try importFiles(paths, into: database, options: options)
        var outcome = Outcome()
        let schema = try #require(try database.schemas().first { $0.name == "m" })
        for declaration in schema.declarations {
            outcome.types[declaration.name] = declaration.type
        }
        for field in schema.fields {
            outcome.types[field.name] = field.type
            let answer = try database.query("SELECT \"\(field.name)\" FROM m")
            let column = try #require(answer.series.first?.columns.last)
            outcome.values[field.name] = (0..<column.count).compactMap {
                column.value($0).map { "\($0)" }
            }
        }
        try database.rejects { entry throws(DatabaseError) in
            if case .value(_, _, _, let field, let value, _) = entry.refusal.subject {
                outcome.refused.append("\(field)=\(value)")
            }
            return true
        }
        return outcome
    }

    // MARK: Numbers of integer fields

    private static func forms(
        _ number: String
    ) -> [(text: String, format: InputFormat, type: FieldType?)] {
        let annotated = "#datatype measurement,tag,dateTime:RFC3339,long\nm,x,time,a\n"
        let series = #"{"results":[{"series":[{"name":"m","columns":["time","a"],"values":"#
        return [
            ("\(annotated)m,p,1970-01-01T00:00:01Z,\(number)\n", .annotatedCSV, nil),
            ("time,a\n1,\(number)\n", .csv, .integer),
            ("name,tags,time,a\nm,,1,\(number)\n", .influxCSV, .integer),
            (series + "[[1,\(number)]]}]}]}", .influxJSON, .integer),
            ("{\"time\":1,\"a\":\(number)}\n", .ndjson, .integer),
            ("{\"time\":1,\"fields_int\":{\"a\":\(number)}}\n", .ndjson, nil),
        ]
    }

    @Test(arguments: [
        "1234567890123456789.0", "-1234567890123456789.0", "9007199254740993.5",
        "1.00000000000000000001", "4503599627370497.25", "12345678901234567.89e2",
        "-9223372036854775809", "-9223372036854776000", "9223372036854775808",
        "9223372036854775807.0", "12345678901234567890123.0", "1e-400", "-8427e-500", "0.1E-330",
    ])
    func `an integer field stores no number that was rounded`(number: String) throws {
        for (text, format, type) in AskedTypeTests.forms(number) {
            let found = try imported([text], format) { options in
                if let type { options.table.columnTypes = [("a", type)] }
            }
            let expected = Outcome(
                types: ["a": .integer], refused: ["a=\(FieldValue.string(number))"])
            #expect(found == expected, "\(format.name): \(text)")
            // The same without a type, in a database that knows it.
            if type == nil { continue }
            let database = try Database.inMemory()
            try database.declare(
                experiment: "m", fields: [SchemaPreset.Field("a", .integer)],
                settings: ExperimentSettings(identity: .allTags))
            #expect(try imported([text], format, into: database) == expected, "\(format.name)")
        }
    }

    @Test(arguments: [
        ("1234567890123456768.0", Int64(1_234_567_890_123_456_768)),
        // As programs print this Double.
        ("1.2345678901234568e+18", 1_234_567_890_123_456_768),
        ("1e18", 1_000_000_000_000_000_000), ("123456789012345678e-17", nil),
        ("9007199254740992.0", 9_007_199_254_740_992), ("74.00000000000000000000", 74),
        ("0.00000000000000000000", 0), ("0.0000000000000000000074e22", 74),
        ("74000000000000000000000e-21", 74),
    ])
    func `a whole number may have a point and an exponent`(number: String, value: Int64?) throws {
        for (text, format, type) in AskedTypeTests.forms(number) {
            let found = try imported([text], format) { options in
                if let type { options.table.columnTypes = [("a", type)] }
            }
            var expected = Outcome(types: ["a": .integer])
            if let value {
                expected.values["a"] = ["\(value)i"]
            } else {
                expected.refused = ["a=\(try #require(Double(number)))"]
            }
            #expect(found == expected, "\(format.name): \(text)")
        }
    }

    @Test func `numbers that are near a Double are rounded, and it and its texts are not`() {
        let seed = TestSeed.seed()
        var random = SeededRandom(seed: seed)
        func isRounded(_ text: String) -> Bool {
            var buffer = PaddedBuffer()
            buffer.append(Array(text.utf8).span)
            return NumberParsing.isRounded(
                buffer.bytes, 0..<buffer.count, to: Double(text) ?? .nan)
        }
        for _ in 0..<20_000 {
            let limit: Int64 = 1 << Int64.random(in: 0...62, using: &random)
            let integer = Int64.random(in: -limit...limit, using: &random)
            let value = Double(integer)
            guard let whole = Int64(exactly: value) else { continue }
            for text in ["\(value)", "\(whole)", "\(whole).0", "\(whole)0.00e-1"] {
                #expect(!isRounded(text), "\(text), seed \(seed)")
            }
            let isExact = whole == integer
            #expect(isRounded("\(integer)") == !isExact, "\(integer), seed \(seed)")
            #expect(!isRounded("0.000e\(integer)"))
            let near = "\(integer).00000000000000000001"
            #expect(isRounded(near) == (integer != 0), "\(near), seed \(seed)")
        }
    }

    // MARK: Names

    @Test func `forget takes the names along that only refused values had`() throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try database.declare(
            experiment: "m", fields: [SchemaPreset.Field("planned", .integer)])
        func row(_ participant: String, _ field: String) -> String {
            """
            {"measurement":"m","time":1,"tags":{"id_participant":"\(participant)"},\
            "fields":{"x":1},"fields_int":{"\(field)":1.5}}\n
            """
        }
        let rows = row("p1", "q_own") + row("p1", "q_both") + row("p2", "q_both")
        var options = ImportOptions()
        options.format = .ndjson
        let report = try importFiles([files.write("a", rows)], into: database, options: options)
        #expect(report.refusedValues == 3)
        func declared() throws -> [String] {
            try database.schemas().flatMap(\.declarations).map(\.name).sorted()
        }
        #expect(try declared() == ["planned", "q_both", "q_own"])
        _ = try database.forget(["p1"])
        #expect(try declared() == ["planned", "q_both"])
        try database.close()
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let contents = FileManager.default.contents(atPath: "\(directory.path)/\(name)")
            #expect(contents?.range(of: Data("q_own".utf8)) == nil, "\(name)")
        }
        let again = try Database.open(directory.path, access: .readOnly)
        #expect(try again.schemas().flatMap(\.declarations).count == 2)
        try again.close()
    }

    @Test(
        arguments: [
            "DELETE FROM m WHERE id_participant = 'p1'", "DROP SERIES WHERE id_participant = 'p1'",
            "clear",
        ])
    func `names go with their last refused value, whatever removes it`(statement: String) throws {
        let directory = TemporaryDirectory()
        let database = try Database.open(directory.path)
        try database.declare(
            experiment: "m", fields: [SchemaPreset.Field("planned", .integer)])
        var options = ImportOptions()
        options.experiment = "m"
        options.table.columnTypes = [("q_own", .integer), ("q_kept", .integer)]
        let table = "id_participant,time,q_own,q_kept,z\np1,5,x,3,1\np2,6,,,2\n"
        let report = try importFiles(
            [files.write("a", table)], into: database, options: options)
        #expect(report.refusedValues == 1)
        if statement == "clear" {
            _ = try database.clearRejects()
        } else {
            _ = try database.execute(statement)
        }
        let declared = try database.schemas().flatMap(\.declarations).map(\.name)
        #expect(!declared.contains("q_own"))
        #expect(declared.contains("planned"))
        _ = try database.forget(["p1"])
        try database.close()
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let contents = FileManager.default.contents(atPath: "\(directory.path)/\(name)")
            #expect(contents?.range(of: Data("q_own".utf8)) == nil, "\(name)")
        }
    }

    @Test func `forget keeps the type that the refused value of another participant has`() throws {
        let database = try Database.inMemory()
        var options = ImportOptions()
        options.format = .ndjson
        let row = """
            {"measurement":"m","tags":{"id_participant":"p2"},"time":1,"fields_int":{"n":1.5}}\n
            """
        _ = try importFiles([files.write("a", row)], into: database, options: options)
        options.format = .lineProtocol
        _ = try importFiles(
            [files.write("b", "m,id_participant=p1 x=1 1\n")], into: database, options: options)
        _ = try database.forget(["p1"])
        let lines = "m,id_participant=p2 n=7 2\nm,id_participant=p2 n=9007199254740993i 3\n"
        let report = try importFiles([files.write("c", lines)], into: database, options: options)
        #expect(report.refusedValues == 0)
        let schema = try #require(try database.schemas().first)
        #expect(schema.field("n")?.type == .integer)
        #expect(schema.field("x") == nil)
    }

    // MARK: The field and its rows

    @Test(arguments: [1, 10_000])
    func `a type that a later row asks for changes nothing before it`(batchRows: Int) throws {
        let floats = (1...3).map { "{\"time\":\($0),\"fields\":{\"a\":0.\($0)}}\n" }.joined()
        let objects = try imported(
            [floats + #"{"time":4,"fields_int":{"a":"x"}}"# + "\n"], .ndjson
        ) { $0.batchRows = batchRows }
        let expected = Outcome(
            types: ["a": .float], values: ["a": ["0.1", "0.2", "0.3"]], refused: [#"a="x""#])
        #expect(objects == expected)
        func table(_ type: String, _ rows: [String]) -> String {
            "#datatype measurement,tag,dateTime:number,\(type)\nm,x,time,a\n"
                + rows.map { "m,p,\($0)\n" }.joined() + "\n"
        }
        let tables = table("double", ["1,0.1", "2,0.2", "3,0.3"]) + table("long", ["4,x"])
        #expect(try imported([tables], .annotatedCSV) { $0.batchRows = batchRows } == expected)
    }

    @Test(arguments: [1, 10_000])
    func `a type of a renamed column is not that of the column beside it`(batchRows: Int) throws {
        let annotated = """
            #datatype measurement,tag,dateTime:number,long,string
            m,x,time,a,b
            m,p,1,x,t
            m,p,2,,u

            """
        let inputs: [(String, InputFormat)] = [
            (annotated, .annotatedCSV), ("time,a,b\n1,x,t\n2,,u\n", .csv),
            (#"{"time":1,"a":"x","b":"t"}"# + "\n" + #"{"time":2,"b":"u"}"#, .ndjson),
        ]
        let expected = Outcome(
            types: ["a": .integer, "b": .string], values: ["b": [#""t""#, #""u""#]],
            refused: [#"a="x""#])
        for (text, format) in inputs {
            let found = try imported([text], format) { options in
                options.batchRows = batchRows
                options.renames = ["a": "b"]
                if format.name != "annotated-csv" { options.table.columnTypes = [("a", .integer)] }
            }
            #expect(found == expected, "\(format.name)")
        }
        // Alone, the renamed column asks for the type of its new name.
        let alone = try imported(["time,a\n1,x\n2,3\n"], .csv) { options in
            options.renames = ["a": "b"]
            options.table.columnTypes = [("a", .integer)]
        }
        let renamed = Outcome(
            types: ["b": .integer], values: ["b": ["3i"]], refused: [#"b="x""#])
        #expect(alone == renamed)
    }

    @Test func `the type of a renamed column is not that of one that keeps the name`() throws {
        let found = try imported(["time,a\n1,x\n", "time,a,b\n2,0.5,y\n"], .csv) {
            $0.renames = ["a": "b"]
        }
        #expect(
            found
                == Outcome(
                    types: ["a": .float, "b": .string],
                    values: ["a": ["0.5"], "b": [#""x""#, #""y""#]]))
    }
}
