// Reading the researcher API's CSV: types, headers, times, and what is refused.

internal import CozDB
internal import CozImport
internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozStudy

struct CozieCSVImportTests {
    private let study: ResearcherStudy
    private static let time = "2025-10-15 02:25:21.570000+0000"

    init() throws {
        study = try ResearcherStudy()
    }

    /// A file with one field, a row a second.
    private static func file(_ name: String, _ cells: [String]) -> String {
        let rows = cells.enumerated().map { row, cell in
            "\(row),2025-10-15 02:25:\(row + 10).000000+0000,p,\(cell)\n"
        }
        return ",index,id_participant,\(name)\n" + rows.joined()
    }

    struct TypeCase: Sendable {
        var name: String
        var cells: [String]
        var type: FieldType?
        var stored: [FieldValue] = []
    }

    static let typeCases = [
        // The catalogue first.
        TypeCase(name: "q_wake_minute", cells: ["00", "30"], type: .string),
        TypeCase(name: "q_of_my_own", cells: ["7", "8"], type: .string),
        TypeCase(name: "si_ios_version", cells: ["26.1"], type: .string),
        TypeCase(name: "app_bundle_build_version", cells: ["51"], type: .string),
        TypeCase(name: "ts_heart_rate", cells: ["74.0"], type: .float, stored: [.float(74)]),
        TypeCase(
            name: "ws_survey_count", cells: ["3.0", "4"], type: .integer,
            stored: [.integer(3), .integer(4)]),
        TypeCase(
            name: "ws_survey_count", cells: ["9223372036854775807", "-9223372036854775808"],
            type: .integer, stored: [.integer(.max), .integer(.min)]),
        TypeCase(name: "timestamp_lambda_ms", cells: ["1.7519635e+12"], type: .float),
        TypeCase(name: "q_place_lambda_ms", cells: ["1.7519635e+12"], type: .float),
        // Then the column as a whole.
        TypeCase(name: "x", cells: ["74", "", "1e-05"], type: .float),
        TypeCase(
            name: "x", cells: ["True", "False"], type: .boolean,
            stored: [.boolean(true), .boolean(false)]),
        TypeCase(name: "x", cells: ["True", "1.0"], type: .string),
        TypeCase(name: "x", cells: ["true"], type: .string),
        TypeCase(name: "x", cells: ["3.0.2", "45"], type: .string),
        TypeCase(name: "x", cells: ["None", "1"], type: .string),
        TypeCase(name: "x", cells: ["00", "30"], type: .string),
        TypeCase(name: "x", cells: ["-1.5", "NaN", "inf"], type: .float),
        TypeCase(name: "x", cells: ["NaN"], type: .string, stored: [.string("NaN")]),
        TypeCase(name: "x", cells: ["NaN", "yes"], type: .string),
        TypeCase(name: "x", cells: [".5"], type: .string),
        TypeCase(name: "x", cells: ["1."], type: .string),
        TypeCase(name: "x", cells: ["1e400"], type: .string),
        TypeCase(name: "x", cells: ["+1"], type: .string),
        TypeCase(name: "x", cells: ["-"], type: .string),
        TypeCase(name: "x", cells: ["1152921504606847000"], type: .float),
        TypeCase(name: "x", cells: ["9007199254740993"], type: .string),
        TypeCase(name: "x", cells: ["12345678901234567890123"], type: .string),
        // One of the three tags is no field; the fourth is.
        TypeCase(name: "id_onesignal", cells: ["1f"], type: .string),
        TypeCase(name: "id_device", cells: ["1f"], type: nil),
    ]

    @Test(arguments: typeCases) func `types are what the order says`(example: TypeCase) throws {
        // A second field, so that every row is a point.
        let text = Self.file("\(example.name),y", example.cells.map { $0 + ",1.0" })
        let report = try study.import(text)
        #expect(!report.hasRefusals)
        #expect(report.convertedValues == 0)
        let schema = try #require(try study.database.schemas().first)
        #expect(schema.field(example.name)?.type == example.type)
        if example.stored.isEmpty { return }
        let answer = try study.database.query("SELECT \(example.name) FROM dev")
        let column = try #require(answer.series.first?.columns.last)
        #expect((0..<column.count).compactMap { column.value($0) } == example.stored)
    }

    @Test func `what the experiment stores goes before the catalogue`() throws {
        try study.write(["x": .string("a"), "ws_survey_count": .float(0.5)])
        let report = try study.import(Self.file("x,ws_survey_count", ["74.0,1.5"]))
        #expect(!report.hasRefusals)
        #expect(try study.types() == ["x": .string, "ws_survey_count": .float])
        #expect(try study.cells().first == "74.0")
    }

    @Test func `a later file follows an earlier one of the same import`() throws {
        let files = try [["3.0.2"], ["45"]].enumerated().map { number, cells in
            let path = study.directory.path + "-\(number).csv"
            let text = Self.file("x", cells).replacing(",p,", with: ",p\(number),")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }
        defer { files.forEach { try? FileManager.default.removeItem(atPath: $0) } }
        var options = ImportOptions()
        options.experiment = "dev"
        options.formats = [.cozieCSV, .lineProtocol]
        let report = try importFiles(files, into: study.database, options: options)
        #expect(!report.hasRefusals && report.points == 2, "and auto knows the format")
        #expect(try study.types() == ["x": .string])
    }

    @Test func `a value that does not fit is refused, and it alone`() throws {
        let text = Self.file("ws_survey_count,y", ["3,1", "3.5,1", "many,1", "NaN,1"])
        let report = try study.import(text)
        #expect(report.refusedValues == 2 && report.refusedLines == 0 && report.points == 4)
        #expect(try study.cells("y") == ["1", "1", "1", "1"])
        #expect(try study.cells("ws_survey_count") == ["3.0", "", "", ""])
    }

    @Test(arguments: [
        "1234567890123456789.0", "9007199254740993.5", "1.00000000000000000001",
        "-9223372036854775809", "-9223372036854776000", "9223372036854775808", "1e-400",
    ])
    func `an integer field stores no number that was rounded`(number: String) throws {
        let report = try study.import(Self.file("ws_survey_count,y", ["\(number),1", "3,1"]))
        #expect(report.refusedValues == 1 && report.points == 2)
        #expect(try study.cells("ws_survey_count") == ["", "3.0"])
    }

    @Test func `a renamed column beside one of the new name has the type of its own`() throws {
        try study.write(["bar": .integer(1)])
        let report = try study.import(Self.file("foo,bar", ["007,1", "1e2,1"])) {
            $0.renames = ["foo": "bar"]
        }
        #expect(!report.hasRefusals)
        #expect(try study.types() == ["bar": .integer, "foo": .string])
        #expect(Set(try study.cells("foo")) == ["", "007", "1e2"])
    }

    @Test func `a renamed column has the type of the name that it gets in a row`() throws {
        let report = try study.import(
            Self.file("thermal,q_thermal,y", ["7,,1", "8,9,1", ",10,1"])
        ) { $0.renames = ["thermal": "q_thermal"] }
        #expect(!report.hasRefusals)
        #expect(try study.types() == ["q_thermal": .string, "thermal": .float, "y": .float])
        #expect(Set(try study.cells("q_thermal")) == ["7", "9", "10"])
        #expect(Set(try study.cells("thermal")) == ["", "8.0"])
    }

    @Test func `of two columns with one new name the second keeps its name and type`() throws {
        try study.write(["x": 1.5, "y": "s", "z": 2.5], tags: ["id_participant": "q"])
        let report = try study.import(Self.file("x,y", ["1.50,2.50", ",3.50"])) {
            $0.renames = ["x": "z", "y": "z"]
        }
        #expect(!report.hasRefusals)
        #expect(Set(try study.cells("y")) == ["2.50", "", "s"])
        #expect(Set(try study.cells("z")) == ["1.5", "3.5", "2.5"])
    }

    @Test(arguments: [
        ("x,y", ["abc,5", ",7"], "y"), ("x,y", ["abc,5"], "x"), ("x,z", ["abc,"], "x"),
    ])
    func `a type that a file has shown is that of the new name`(
        names: String, rows: [String], later: String
    ) throws {
        let report = try study.import(
            Self.file(names, rows), Self.file(later, ["6"]).replacing("25:10", with: "25:20")
        ) { $0.renames = ["x": "z", "y": "z"] }
        #expect(!report.hasRefusals)
        #expect(try study.types()["z"] == .string)
        #expect(Set(try study.cells("z")).isSuperset(of: ["abc", "6"]))
    }

    @Test func `the type of the catalogue holds from the first value on`() throws {
        let report = try study.import(Self.file("ws_survey_count,y", ["many,1", "3,1"])) {
            $0.settings.preset = "none"
        }
        #expect(report.refusedValues == 1)
        #expect(try study.types()["ws_survey_count"] == .integer)
    }

    static let headers = [
        ",index,id_participant,x\n0,\(time),p,1.5\n",
        "\u{FEFF},index,id_participant,x\r\n0,\(time),p,1.5\r\n",
        "index,x,id_participant\n\(time),1.5,p",
        "Unnamed: 0,Unnamed: 0.1,x,id_participant,index\n0,0,1.5,p,\(time)\n",
        "\"\",\"index\",\"id_participant\",\"x\"\n\"0\",\"\(time)\",\"p\",\"1.5\"\n\n \n",
    ]

    @Test(arguments: headers) func `columns stand in any order`(text: String) throws {
        let report = try study.import(text)
        #expect(!report.hasRefusals && report.points == 1)
        let expected = ",index,id_participant,x\n0,\(Self.time),p,1.5\n"
        #expect(try study.export() == expected)
    }

    static let times = [
        "2025-10-15 02:25:21.570000+0000", "2025-10-15 10:25:21.570000+0800",
        "2025-10-15 02:25:21.57", "2025-10-15T02:25:21.570Z", "2025-10-15 02:25:21.570000000Z",
        "2025-10-14 22:25:21.570000-04:00", "2025-10-15 09:20:46.570000+065525",
    ]

    @Test(arguments: times) func `times may have an offset, or none`(text: String) throws {
        try study.import(",index,id_participant,x\n0,\(text),p,1.5\n")
        #expect(try study.export().contains("\n0,\(Self.time),p,1.5\n"))
    }

    static let problems = [
        ("", "empty file"), ("\n", "index"), ("a,b\n1,2\n", "expected a column \"index\""),
        (",index,x,x\n", "column \"x\" twice"), (",index,id_participant,\"x\n", "line 1"),
    ]

    @Test(arguments: problems) func `a file of another kind is refused as a whole`(
        text: String, reason: String
    ) throws {
        let error = #expect(throws: DatabaseError.self) { try study.import(text) }
        #expect(error?.kind == .usage)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try study.database.schemas().isEmpty)
    }

    @Test func `a file without its experiment's name is refused`() throws {
        let error = #expect(throws: DatabaseError.self) {
            try study.import(Self.file("x", ["1"])) { $0.experiment = nil }
        }
        #expect(error?.kind == .usage && error?.remedy == .change([.experiment]))
    }

    @Test func `bad rows are kept with their places, good ones stored`() throws {
        let text = """
            ,index,id_participant,x
            0,\(Self.time),p,1.5
            1,\(Self.time),p
            2,yesterday,p,1.5
            3,2025-02-30 02:25:21.570000+0000,p,1.5
            4,2025-10-15 02:25:22.570000+0000,p,
            5,"2025-10-15 02:25:23.570000+0000,p,2.5
            6,2025-10-15 02:25:24.570000+0000,p,2.5

            """
        let report = try study.import(text)
        #expect(report.points == 2 && report.refusedLines == 5)
        let reasons = report.examples.map { "\($0.line):\($0.column) \($0.reason)" }
        #expect(reasons.count == 5)
        for (place, word) in zip(
            ["3:0 ", "4:3 ", "5:3 ", "6:0 ", "7:3 "],
            ["found 3 cells", "yesterday", "2025-02-30", "no value", "quote"])
        {
            #expect(reasons.contains { $0.hasPrefix(place) && $0.contains(word) }, "\(reasons)")
        }
    }

    @Test func `rows without a participant are somebody's only when told so`() throws {
        let text = ",index,x\n0,\(Self.time),1.5\n"
        #expect(try study.import(text).hasRefusals)
        #expect(try study.import(text) { $0.participant = "p9" }.points == 1)
        #expect(try study.export().hasSuffix(",p9,1.5\n"))
        let half = ",index,id_participant,x\n0,\(Self.time),,2.5\n1,\(Self.time),q,3.5\n"
        try study.import(half) { $0.participant = "p9" }
        #expect(try study.cells().sorted() == ["2.5", "3.5"])
    }

    @Test func `id_participant is the tag that the experiment calls its participant`() throws {
        try study.import(Self.file("x", ["1"])) {
            $0.participantTag = "host"
            $0.settings.identity = .participant(tag: "host")
        }
        try study.import(Self.file("x", ["", "2"]))
        let answer = try study.database.query("SELECT host, x FROM dev")
        #expect(answer.series.first?.column("host")?.texts == ["p", "p"])
    }

    private func rows() throws -> [String] {
        try study.database.query("SHOW SERIES").series.flatMap { $0.column("key")?.texts ?? [] }
            .compactMap(\.self)
    }

    @Test func `a participant of the options replaces none that a row names`() throws {
        let text = ",index,id_device,x\n0,\(Self.time),w7,1.5\n"
        try study.import(text) {
            $0.participant = "p9"
            $0.renames = ["id_device": "id_participant"]
        }
        #expect(try rows() == ["dev,id_participant=w7"])
        let other = try ResearcherStudy()
        try other.import(text) {
            $0.participant = "p9"
            $0.settings.identity = .participant(tag: "id_device")
        }
        let answer = try other.database.query("SELECT id_device, x FROM dev")
        #expect(answer.series.first?.column("id_device")?.texts == ["w7"])
    }

    @Test func `of two columns that name the participant both must say the same`() throws {
        let lines = ["p1,p1,1.5", "p1,p2,2.5", ",p3,3.5", "p4,,4.5", ",,5.5"]
        let text = lines.enumerated().map { row, cells in
            "\(row),2025-10-15 02:25:\(row + 10).000000+0000,\(cells)\n"
        }
        let report = try study.import(",index,id_participant,id_device,x\n" + text.joined()) {
            $0.settings.identity = .participant(tag: "id_device")
            $0.participant = "p9"
        }
        #expect(report.points == 4 && report.refusedLines == 1)
        #expect(try rows() == ["p1", "p3", "p4", "p9"].map { "dev,id_device=\($0)" })
    }

    @Test func `a participant tag that is renamed keeps its participants`() throws {
        let text = ",index,id_participant,x\n0,\(Self.time),p1,1.5\n1,\(Self.time),p2,2.5\n"
        try study.import(text) {
            $0.settings.identity = .allTags
            $0.renames = ["id_participant": "who"]
        }
        #expect(try rows() == ["dev,who=p1", "dev,who=p2"])
    }

    @Test func `a field with the name of the participant column is exported, too`() throws {
        var batch = WriteBatch()
        batch.settings.identity = .participant(tag: "who")
        try batch.add(
            experiment: "dev", tags: ["who": "w1"], time: Timestamp(nanoseconds: 0),
            fields: ["id_participant": "badge7", "x": 1.5])
        _ = try study.database.write(batch)
        let lines = try study.export().split(separator: "\n")
        #expect(lines.first == ",index,id_participant,id_participant_1,x")
        #expect(lines.last?.hasSuffix(",w1,badge7,1.5") == true)
    }

    @Test func `a refused row does not give its tags to the next one`() throws {
        let long = String(repeating: "w", count: 70_000)
        let cells = ["p1,w1,1.5", "p2,\(long),2.5", "p2,w1,3.5"]
        let text = cells.enumerated().map { row, cells in
            "\(row),2025-10-15 02:25:\(row + 10).000000+0000,\(cells)\n"
        }
        let report = try study.import(",index,id_participant,id_password,x\n" + text.joined())
        #expect(report.refusedLines == 1)
        let answer = try study.database.query("SELECT x FROM dev WHERE id_participant = 'p2'")
        #expect(answer.series.first?.column("x")?.doubles == [3.5])
    }

    @Test(arguments: [1, 2, 3, 10_000]) func `the size of batches changes nothing`(
        size: Int
    ) throws {
        let rows = (0..<50).map { row in
            "\(row),2025-10-15 02:25:\(row + 10).000000+0000,"
                + "p\(row % 3),w\(row / 7),\(row).5,\"t,\(row)\"\n"
        }
        let text = ",index,id_participant,id_password,x,y\n" + rows.joined()
        let report = try study.import(text) { $0.batchRows = size }
        #expect(report.points == 50 && report.values == 100 && !report.hasRefusals)
        #expect(try study.export() == text)
    }

    @Test func `options of tables are refused, not ignored`() throws {
        let text = Self.file("x", ["1"])
        let error = #expect(throws: DatabaseError.self) {
            try study.import(text) { $0.table.columnTypes = [("x", .integer)] }
        }
        #expect(error?.kind == .usage && error?.message.contains("columnTypes") == true)
        #expect(error?.remedy == .change([.columnTypes, .format]))
    }

    @Test func `what stands before the end of a cut file is stored`() throws {
        let rows = (0..<20_000).map { row in
            let second = String(100 + row % 60).dropFirst()
            let minute = String(100 + row / 60 % 60).dropFirst()
            let hour = String(100 + row / 3600).dropFirst()
            let time = "2025-10-15 \(hour):\(minute):\(second).000000+0000"
            return "\(row),\(time),p,\(row * 7919 % 9973)\n"
        }
        let text = ",index,id_participant,x\n" + rows.joined()
        let file = URL(fileURLWithPath: study.directory.path + "/cut.csv.gz")
        try halfOfGzip(text).write(to: file)

        var options = ImportOptions()
        options.format = .cozieCSV
        options.experiment = "dev"
        let error = #expect(throws: DatabaseError.self) {
            try importFiles([file.path], into: study.database, options: options)
        }
        #expect(error?.kind == .damaged)
        let stored = try study.cells("").compactMap { Int($0) }
        #expect(stored.count > 1_000 && stored == Array(0..<stored.count))
        #expect(try study.types()["x"] == .float)
    }

    @Test func `lines that end with a carriage return alone are an error`() throws {
        let text = Self.file("x", ["1"]).split(separator: "\n").joined(separator: "\r")
        let error = #expect(throws: DatabaseError.self) { try study.import(text) }
        #expect(error?.kind == .usage && error?.message.contains("LF or CRLF") == true)
    }
}
