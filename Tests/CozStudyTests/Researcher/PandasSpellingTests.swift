// How pandas spells values, as tried out with pandas 1.5.3, 2.2.3 and 3.1.1 on answers that
// influxdb-python 5.3.2 had read.

internal import CozDB
internal import Testing

@testable internal import CozStudy

struct PandasSpellingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var values: [FieldValue?]
        var cells: [String]
        var testDescription: String { "\(cells)" }

        static func floats(_ values: [Double?], _ cells: [String]) -> Case {
            Case(values: values.map { $0.map { .float($0) } }, cells: cells)
        }

        static func integers(_ values: [Int64?], _ cells: [String]) -> Case {
            Case(values: values.map { $0.map { .integer($0) } }, cells: cells)
        }
    }

    static let columns: [Case] = [
        .integers([74, 75], ["74", "75"]),
        .integers([74, nil], ["74.0", ""]),
        .integers([18_014_398_509_481_984, nil], ["1.8014398509481984e+16", ""]),
        .integers([9_007_199_254_740_993, nil], ["9007199254740992.0", ""]),
        .integers([.max, nil], ["9.223372036854776e+18", ""]),
        .integers([.min, nil, 5], ["-9.223372036854776e+18", "", "5.0"]),
        .integers([.max, .min], ["9223372036854775807", "-9223372036854775808"]),
        .floats([74, 75], ["74", "75"]),
        .floats([74, 75.5], ["74.0", "75.5"]),
        .floats([74, nil], ["74.0", ""]),
        .floats([-0.0, 1.5], ["0.0", "1.5"]),
        .floats([-0.0, 1], ["0", "1"]),
        .floats(
            [
                1e-5, 1e16, 1e15, 1e22, 1.5, 123_456_789.123456789, 1e-7, .leastNonzeroMagnitude,
                0.1, 1e17,
            ],
            [
                "1e-05", "1e+16", "1000000000000000.0", "1e+22", "1.5", "123456789.12345679",
                "1e-07", "5e-324", "0.1", "1e+17",
            ]),
        .floats([.greatestFiniteMagnitude, 0.0001], ["1.7976931348623157e+308", "0.0001"]),
        .floats([1e16, 1e17], ["10000000000000000", "100000000000000000"]),
        .floats([0x1p60, 1], ["1152921504606847000", "1"]),
        // Beyond 63 bits, and beyond 64.
        .floats([1e18, 1e19], ["1000000000000000000", "10000000000000000000"]),
        .floats([1e19, nil], ["1e+19", ""]),
        .floats([1e19, 1.5], ["1e+19", "1.5"]),
        .floats([1e19, 1e22], ["1e+19", "1e+22"]),
        .floats([1e19, -1], ["10000000000000000000", "-1"]),
        .floats([1e19, -1, nil], ["10000000000000000000", "-1", ""]),
        .floats([1e19, -1, 1.5], ["10000000000000000000", "-1", "1.5"]),
        .floats([1e20, 1], ["100000000000000000000", "1"]),
        .floats([1e20, nil], ["100000000000000000000", ""]),
        .floats([1e20, 1.5, nil], ["100000000000000000000", "1.5", ""]),
        .floats([1e20, 1e22], ["100000000000000000000", "1e+22"]),
        .floats([1e21, 1], ["1e+21", "1.0"]),
        .floats([1e22, nil], ["1e+22", ""]),
        .floats([-1e19, 1.5], ["-10000000000000000000", "1.5"]),
        .floats([-1e19, nil], ["-10000000000000000000", ""]),
        .floats([-0x1p63, 1], ["-9223372036854776000", "1"]),
        .floats([0x1p63, 1], ["9223372036854776000", "1"]),
        // InfluxDB has no such numbers; pandas has.
        .floats([.nan, 2], ["", "2.0"]),
        .floats([.infinity, -.infinity], ["inf", "-inf"]),
        Case(values: [.boolean(true), .boolean(false)], cells: ["True", "False"]),
        Case(values: [nil, .boolean(true)], cells: ["", "True"]),
        Case(
            values: ["00", "None", "nan", "NaN", "True", "1e5", "18.6.2"].map { .string($0) },
            cells: ["00", "None", "nan", "NaN", "True", "1e5", "18.6.2"]),
        Case(values: [.string("a"), .string(""), nil], cells: ["a", "", ""]),
        Case(values: [.string(""), .string("")], cells: ["", ""]),
        Case(
            values: [
                "a\"b", "say \"x\"", " a", "a ", "\t", "'", "#a", ";", "a\u{0}b", "é😀",
                "\u{2028}",
            ]
            .map { .string($0) },
            cells: [
                "\"a\"\"b\"", "\"say \"\"x\"\"\"", " a", "a ", "\t", "'", "#a", ";", "a\u{0}b",
                "é😀",
                "\u{2028}",
            ]),
    ]

    @Test(arguments: columns) func `a column is spelled as pandas does`(example: Case) throws {
        let study = try ResearcherStudy()
        try study.write(example.values)
        #expect(try study.cells() == example.cells)
    }

    @Test func `cells with commas and line breaks stand in quotes`() throws {
        let study = try ResearcherStudy()
        try study.write(["a,b", "a\nb", "a\r\nb", "a\rb", "\r"].map { .string($0) })
        let export = try study.export()
        for cell in ["\"a,b\"\n", "\"a\nb\"\n", "\"a\r\nb\"\n", "\"a\rb\"\n", "\"\r\"\n"] {
            #expect(export.utf8.contains(Array((",p,pw," + cell).utf8)), "\(cell.debugDescription)")
        }
    }

    @Test func `names are quoted as cells are`() throws {
        let study = try ResearcherStudy()
        let names = ["x", "x y", "x,y", "a\"b", "a\nb"]
        try study.write(
            Dictionary(uniqueKeysWithValues: names.map { ($0, FieldValue.integer(1)) }))
        let expected = """
            ,index,id_participant,id_password,"a
            b","a""b",x,x y,"x,y"
            0,2025-10-15 02:25:21.570000+0000,p,pw,1,1,1,1,1

            """
        #expect(try study.export() == expected)
    }

    struct Moment: Sendable {
        var time: Int64
        var zone: String?
        var text: String
    }

    static let moments = [
        Moment(time: 0, text: "1970-01-01 00:00:00.000000+0000"),
        Moment(time: -1, text: "1969-12-31 23:59:59.999999+0000"),
        Moment(time: -1001, text: "1969-12-31 23:59:59.999998+0000"),
        Moment(time: 999, text: "1970-01-01 00:00:00.000000+0000"),
        Moment(time: 1000, text: "1970-01-01 00:00:00.000001+0000"),
        Moment(time: 1_760_495_121_693_456_789, text: "2025-10-15 02:25:21.693456+0000"),
        Moment(time: .max - 1, text: "2262-04-11 23:47:16.854775+0000"),
        Moment(time: .min + 2, text: "1677-09-21 00:12:43.145224+0000"),
        Moment(
            time: ResearcherStudy.start, zone: "Asia/Singapore",
            text: "2025-10-15 10:25:21.570000+0800"),
        Moment(
            time: ResearcherStudy.start, zone: "America/New_York",
            text: "2025-10-14 22:25:21.570000-0400"),
        Moment(
            time: ResearcherStudy.start, zone: "Asia/Kolkata",
            text: "2025-10-15 07:55:21.570000+0530"),
        Moment(time: 0, zone: "Africa/Monrovia", text: "1969-12-31 23:15:30.000000-004430"),
        Moment(
            time: -3_000_000_000_000_000_000, zone: "Asia/Singapore",
            text: "1874-12-08 01:35:25.000000+065525"),
    ]

    @Test(arguments: moments) func `times are stamped as pandas does`(moment: Moment) throws {
        let study = try ResearcherStudy()
        try study.write(["x": .integer(1)], at: moment.time)
        let export = try study.export { $0.zone = moment.zone }
        #expect(export == "\(ResearcherStudy.header)\n0,\(moment.text),p,pw,1\n")
        // To the microsecond the import reads the same time; the earliest one lies before all times
        // once it is cut off.
        if moment.time == Timestamp.min.nanoseconds { return }
        let other = try ResearcherStudy()
        try other.import(export)
        #expect(try other.export { $0.zone = moment.zone } == export)
    }
}

extension Sequence<UInt8> {
    /// Whether some bytes stand in here in a row.
    func contains(_ other: [UInt8]) -> Bool {
        let bytes = Array(self)
        guard bytes.count >= other.count else { return false }
        return (0...(bytes.count - other.count)).contains {
            bytes[$0..<($0 + other.count)].elementsEqual(other)
        }
    }
}
