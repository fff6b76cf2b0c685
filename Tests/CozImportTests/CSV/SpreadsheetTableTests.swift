// Tables of European spreadsheets: decimal commas, and date and time of day in two columns.

internal import CozTestSupport
internal import Testing

@testable internal import CozDB
@testable internal import CozImport

@Suite struct SpreadsheetTableTests {
    private let files = TemporaryFiles()

    private func read(
        _ text: String, _ change: (inout ImportOptions) throws -> Void
    ) throws -> (lines: [String], refusals: [String]) {
        var options = ImportOptions()
        options.format = .csv
        options.experiment = "dev"
        options.table.hasDecimalComma = true
        try change(&options)
        let recorder = Recorder()
        _ = try recorder.run([files.write("t.csv", text)], options)
        return (
            recorder.points.map(\.text),
            recorder.refusals.map { "\($0.line):\($0.column) \($0.reason)" }
        )
    }

    @Test(arguments: [
        ("21,3", "21.3"), ("1.204,5", "1204.5"), ("988", "988"), ("-0,5", "-0.5"), ("+7", "7"),
        (",5", "0.5"), ("12.345", "12345"), ("1.234.567,25", "1234567.25"), ("1,5e3", "1500"),
        ("1.234e2", "123400"), ("-12.345,0", "-12345"),
    ])
    func `numbers have a decimal comma`(_ cell: String, _ value: String) throws {
        let found = try read("time;id_participant;x\n1;p;\(cell)\n") { _ in }
        #expect(found.lines == ["dev,id_participant=p x=\(value) 1"])
        #expect(found.refusals.isEmpty)
    }

    /// A point that separates no groups of three digits is that of a date, or of a file that mixes
    /// both notations.
    @Test(arguments: [
        "1.5", "1.2.2024", "1.2345", "1234.567", "1.234,5,6", "1.23,4", ".123", "1.234.5", "1.2e3",
        "1,234.5", "1.", "007,5",
    ])
    func `what is no such number makes its column text`(_ cell: String) throws {
        let found = try read("time;id_participant;x;y\n1;p;\(cell);2,5\n2;p;1,5;3\n") { _ in }
        #expect(
            found.lines == [
                "dev,id_participant=p x=\"\(cell)\",y=2.5 1",
                "dev,id_participant=p x=\"1,5\",y=3 2",
            ])
    }

    @Test func `a typed column refuses what is no such number`() throws {
        let found = try read("time;id_participant;x\n1;p;1.5\n2;p;1,5\n3;p;NaN\n4;p;7,0\n") {
            $0.table.columnTypes = [("x", .float)]
        }
        #expect(found.lines.count == 3 && found.lines.contains("dev,id_participant=p x=1.5 2"))
        #expect(found.lines.contains("dev,id_participant=p x=\"1.5\" 1"))
    }

    @Test func `a datatype of the header has its own notation`() throws {
        let found = try read("time;id_participant;x|double\n1;p;1.5\n") { _ in }
        #expect(found.lines == ["dev,id_participant=p x=\"1.5\" 1"])
        let other = try read("time;id_participant;\"x|double:,.\"\n1;p;1.5,5\n") { _ in }
        #expect(other.lines == ["dev,id_participant=p x=15.5 1"])
    }

    @Test func `date and time of day may be in two columns`() throws {
        let text =
            "Proband;Datum;Uhrzeit;x\np;26.10.2024;23:30;1\np;27.10.2024;00:30;2\np;;1:00;3\n"
            + "p;28.10.2024;;4\np;28.10.2024;25:00;5\n"
        let found = try read(text) {
            $0.table.participantColumn = "Proband"
            $0.table.timeColumn = "Datum"
            $0.table.timeOfDayColumn = "Uhrzeit"
            $0.table.timeFormat = .pattern(try TimePattern(strptime: "%d.%m.%Y %H:%M"))
            $0.table.timeZone = try TimeZoneRules(named: "Europe/Berlin")
        }
        #expect(
            found.lines == [
                "dev,id_participant=p x=1 1729978200000000000",
                "dev,id_participant=p x=2 1729981800000000000",
            ])
        #expect(found.refusals.count == 3, "\(found.refusals)")
        #expect(found.refusals.contains { $0.contains("expected a time of day in its own column") })
        let plain = try read("id_participant,time,clock,x\np,2024-10-26,23:30,1\n") {
            $0.table.timeOfDayColumn = "clock"
        }
        #expect(plain.lines == ["dev,id_participant=p x=1 1729985400000000000"])
    }

    @Test func `a column of the time of day must be there, and belongs to tables`() throws {
        let missing = #expect(throws: DatabaseError.self) {
            try read("id_participant,time,x\np,1,1\n") { $0.table.timeOfDayColumn = "clock" }
        }
        #expect(missing?.message.contains("the column with the time of day") == true)
        let rows = #expect(throws: DatabaseError.self) {
            try read("{\"time\":1,\"id_participant\":\"p\",\"x\":1}\n") {
                $0.format = .ndjson
                $0.table.timeOfDayColumn = "clock"
            }
        }
        #expect(rows?.remedy == .change([.timeOfDayColumn]))
    }
}
