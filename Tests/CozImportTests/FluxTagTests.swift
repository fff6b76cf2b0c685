// The tags of Flux answers: `#group` names them only as far as the answer is grouped by them.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct FluxTagTests {
    private let files = TemporaryFiles()

    private static let header = """
        #datatype,string,long,dateTime:RFC3339,double,string,string,string,string
        ,result,table,_time,_value,_field,_measurement,id_participant,room
        ,,0,2023-01-01T00:52:00Z,1.5,x,e,p1,r1
        ,,1,2023-01-01T00:52:00Z,2.5,x,e,p2,r2

        """
    /// The answer without `#group`, after `group()`, and grouped by some and by all of its tags.
    private static let answers = [
        header, "#group,false,false,false,false,false,false,false,false\n" + header,
        "#group,false,false,false,false,false,false,true,false\n" + header,
        "#group,false,false,false,false,true,true,true,true\n" + header,
    ]
    private static let pivoted = """
        #datatype,string,long,dateTime:RFC3339,double,string,string,string,string
        ,result,table,_time,x,note,_measurement,id_participant,room
        ,,0,2023-01-01T00:52:00Z,1.5,a,e,p1,r1
        ,,1,2023-01-01T00:52:00Z,2.5,b,e,p2,r2

        """

    /// Returns the series of the imported rows, and their values.
    private func read(
        _ text: String, isKnown: Bool, _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> [String] {
        let database = try Database.inMemory()
        if isKnown {
            var batch = WriteBatch()
            try batch.add(
                experiment: "e", tags: ["id_participant": "q", "room": "r0"],
                time: Timestamp(nanoseconds: 1), fields: ["x": 9.0])
            _ = try database.write(batch)
        }
        var options = ImportOptions()
        options.format = .annotatedCSV
        change(&options)
        let report = try importFiles([files.write("a", text)], into: database, options: options)
        #expect(!report.hasRefusals)
        let rows = try database.query(
            "SELECT id_participant::tag, room::tag, x FROM e WHERE time > 1 ORDER BY time"
        ).series[0]
        return (0..<rows.rowCount).map { row in
            rows.columns.dropFirst().map { $0.value(row)?.plainText ?? "-" }.joined(separator: " ")
        }.sorted()
    }

    @Test(arguments: answers)
    func `beside the name and the value of a field every text is a tag`(text: String) throws {
        for isKnown in [false, true] {
            let found = try read(text, isKnown: isKnown)
            #expect(found == ["p1 r1 1.5", "p2 r2 2.5"])
            let assumed = try read(text, isKnown: isKnown) { $0.participant = "zz" }
            #expect(assumed == found)
        }
        #expect(
            try read(text, isKnown: false) { $0.settings.identity = .allTags }
                == ["p1 r1 1.5", "p2 r2 2.5"])
    }

    @Test func `texts of a pivoted answer are the tags that the experiment has`() throws {
        let found = try read(Self.pivoted, isKnown: true)
        #expect(found == ["p1 r1 1.5", "p2 r2 2.5"])
        let named = try importedRows(files.write("b", Self.pivoted), .annotatedCSV) {
            $0.participant = "zz"
        }
        #expect(
            named.lines == [
                "e,id_participant=p1 note=\"a\",room=\"r1\",x=1.5 1672534320000000000",
                "e,id_participant=p2 note=\"b\",room=\"r2\",x=2.5 1672534320000000000",
            ])
        let grouped = "#group,false,false,false,false,false,true,true,false\n" + Self.pivoted
        #expect(try read(grouped, isKnown: true) == found)
    }

    @Test func `a computed column of another type is a field`() throws {
        let text = """
            #datatype,string,dateTime:RFC3339,double,string,string,string,double
            ,result,_time,_value,_field,_measurement,id_participant,change
            ,,2023-01-01T00:52:00Z,1.5,x,e,p1,0.5

            """
        let found = try importedRows(files.write("a", text), .annotatedCSV) { _ in }
        #expect(found.lines == ["e,id_participant=p1 change=0.5,x=1.5 1672534320000000000"])
    }

    @Test func `the labels of Flux are no data, with and without annotations`() throws {
        let types = "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,"
        let labels = ",result,table,_start,_stop,"
        let row = ",_result,0,1970-01-01T00:00:00Z,1970-01-01T00:00:01Z,"
        let aggregate =
            types + "double,string,string\n" + labels + "_value,_field,_measurement\n" + row
            + "1.5,mem,e\n"
        for (column, time) in [("_start", 0), ("_stop", 1_000_000_000)] {
            let found = try importedRows(files.write("a", aggregate), .annotatedCSV) {
                $0.table.timeColumn = column
            }
            #expect(found.lines == ["e mem=1.5 \(time)"])
        }
        let pivoted = labels + "_time,_measurement,x\n" + row + "1970-01-01T00:00:00Z,e,1.5\n"
        let typed = types + "dateTime:RFC3339,string,double\n" + pivoted
        for (text, format) in [(pivoted, InputFormat.csv), (typed, .annotatedCSV)] {
            let found = try importedRows(files.write("b", text), format) { _ in }
            #expect(found.lines == ["e x=1.5 0"])
        }
        let bare = ",result,table,_time,_value,_field,_measurement\n,r,0,0,1.5,mem,e\n"
        let found = try importedRows(files.write("c", bare), .csv) {
            $0.experiment = "h"
            $0.table.timeFormat = .epoch(.nanoseconds)
        }
        // As for every table without annotations, the option names the experiment.
        #expect(found.lines == ["h mem=1.5 0"])
    }
}
