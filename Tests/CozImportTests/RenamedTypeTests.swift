// The types of renamed fields: in rows that have a value under the new name, and in others.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct RenamedTypeTests {
    private let files = TemporaryFiles()
    private let database: Database

    init() throws { database = try Database.inMemory() }

    /// Stores a point of another participant, whose values decide types.
    private func store(_ fields: [String: FieldValue], tags: [String: String] = [:]) throws {
        var batch = WriteBatch()
        try batch.add(
            experiment: "m", tags: tags.merging(["id_participant": "p0"]) { $1 },
            time: Timestamp(nanoseconds: 1), fields: fields)
        _ = try database.write(batch)
    }

    /// Imports a text and returns the fields and tags of participant p1, row by row.
    private func imported(
        _ text: String, _ format: InputFormat, _ renames: [String: String],
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> [[String: String]] {
        var options = ImportOptions()
        options.format = format
        options.experiment = "m"
        options.renames = renames
        change(&options)
        let report = try importFiles(
            [files.write("a", text)], into: database, options: options)
        #expect(!report.hasRefusals)
        let result = try database.query("SELECT * FROM m WHERE id_participant = 'p1'")
        let series = try #require(result.series.first)
        return (0..<series.rowCount).map { row in
            var values: [String: String] = [:]
            for (header, column) in zip(series.header.columns, series.columns)
            where !["time", "id_participant"].contains(header.name) {
                guard let value = column.value(row) else { continue }
                if case .string(let text) = value {
                    values[header.name] = text
                } else {
                    values[header.name] = "\(value)"
                }
            }
            return values
        }
    }

    @Test func `a cell without a value takes no name`() throws {
        try store(["a": 1.5, "b": .integer(1)])
        let table = "time,id_participant,a,b\n1,p1,9007199254740993,NaN\n2,p1,2,3\n3,p1,4,\n"
        let rows = try imported(table, .csv, ["a": "b"])
        #expect(rows == [["b": "9007199254740993i"], ["a": "2.0", "b": "3i"], ["b": "4i"]])
    }

    @Test func `an empty text is no value of a number`() throws {
        try store(["a": .integer(1), "b": "s"])
        let rows = try imported(
            "time,id_participant,a,b\n1,p1,7,\"\"\n2,p1,8,NaN\n", .csv, ["a": "b"])
        #expect(rows == [["a": "7i", "b": ""], ["a": "8i", "b": "NaN"]])
    }

    @Test func `a text beside a number that is none gets the new name`() throws {
        try store(["a": "s", "b": 1.5])
        let rows = try imported(
            "time,id_participant,a,b\n1,p1,7,NaN\n2,p1,7,8\n3,p1,NaN,9\n", .csv, ["a": "b"])
        #expect(rows == [["b": "7.0"], ["a": "7", "b": "8.0"], ["a": "NaN", "b": "9.0"]])
    }

    @Test func `of two old names of one new name the second keeps its own, with its type`() throws {
        try store(["x": .integer(1), "y": .integer(1), "z": 1.5])
        let rows = try imported(
            "time,id_participant,x,y\n1,p1,2,9007199254740993\n2,p1,,3\n3,p1,NaN,4\n", .csv,
            ["x": "z", "y": "z"])
        #expect(rows == [["y": "9007199254740993i", "z": "2.0"], ["z": "3.0"], ["z": "4.0"]])
    }

    @Test(arguments: [#""NA""#, #""""#, "null"])
    func `a renamed tag beside none is that tag`(none: String) throws {
        try store(["a": 1.5], tags: ["room": "r1"])
        let row = """
            {"time":1,"id_participant":"p1","zone":"Z","room":\(none),"a":1}\n
            """
        let rows = try imported(row, .ndjson, ["zone": "room"]) { $0.table.nulls = ["NA"] }
        #expect(rows == [["a": "1.0", "room": "Z"]])
        #expect(try database.schemas().first?.field("room") == nil)
    }

    @Test func `a renamed participant beside none names the participant`() throws {
        let row = """
            {"time":1,"user":"p1","id_participant":"NA","a":1}\n
            """
        let rows = try imported(row, .ndjson, ["user": "id_participant"]) {
            $0.table.nulls = ["NA"]
        }
        #expect(rows == [["a": "1.0"]])
    }
}
