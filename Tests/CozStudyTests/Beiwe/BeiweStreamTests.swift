// The streams of a Beiwe export: each with the rows that are documented of it.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import Foundation
internal import Testing

struct BeiweStreamTests {
    private static let patient = BeiweExport.patient
    private static let hour = "2022-03-10 13_00_00+00_00.csv"

    /// Stream, header behind the times, a row, and what is stored of it: field, value, unit.
    struct Example: CustomTestStringConvertible, Sendable {
        var stream: String
        var header: String
        var row: String
        var fields: [String]
        var testDescription: String { stream }
    }

    static let examples = [
        Example(
            stream: "accelerometer", header: "accuracy,x,y,z",
            row: "unknown,-0.7123260498046875,-0.039520263671875,-0.4839630126953125",
            fields: [
                "accuracy unknown ", "x -0.7123260498046875 g", "y -0.039520263671875 g",
                "z -0.4839630126953125 g",
            ]),
        Example(
            stream: "gps", header: "latitude,longitude,altitude,accuracy",
            row: "42.340195663265035,-71.12715574985911,25.661691665649414,7.801107845926755",
            fields: [
                "accuracy 7.801107845926755 m", "altitude 25.661691665649414 m",
                "latitude 42.340195663265035 deg", "longitude -71.12715574985911 deg",
            ]),
        Example(
            stream: "gyro", header: "x,y,z", row: "0.007534,-0.00846,0.00107",
            fields: ["x 0.007534 rad/s", "y -0.00846 rad/s", "z 0.00107 rad/s"]),
        Example(
            stream: "gyro", header: "accuracy,x,y,z", row: "3,0.007534,-0.00846,0.00107",
            fields: ["accuracy 3 ", "x 0.007534 rad/s", "y -0.00846 rad/s", "z 0.00107 rad/s"]),
        Example(
            stream: "magnetometer", header: "x,y,z", row: "-118.817,-103.967,28.25653",
            fields: ["x -118.817 uT", "y -103.967 uT", "z 28.25653 uT"]),
        Example(
            stream: "devicemotion",
            header: "roll,pitch,yaw,rotation_rate_x,rotation_rate_y,rotation_rate_z,gravity_x,"
                + "gravity_y,gravity_z,user_accel_x,user_accel_y,user_accel_z,"
                + "magnetic_field_calibration_accuracy,magnetic_field_x,magnetic_field_y,"
                + "magnetic_field_z",
            row: "-1.80147,0.18687,0.235159,0.004084,0.026402,-0.06429,-0.95656,-0.18578,"
                + "0.224656,0.015539,-0.00918,-0.00345,uncalibrated,0,0,0",
            fields: [
                "gravity_x -0.95656 g", "gravity_y -0.18578 g", "gravity_z 0.224656 g",
                "magnetic_field_calibration_accuracy uncalibrated ", "magnetic_field_x 0.0 uT",
                "magnetic_field_y 0.0 uT", "magnetic_field_z 0.0 uT", "pitch 0.18687 rad",
                "roll -1.80147 rad", "rotation_rate_x 0.004084 rad/s",
                "rotation_rate_y 0.026402 rad/s", "rotation_rate_z -0.06429 rad/s",
                "user_accel_x 0.015539 g", "user_accel_y -0.00918 g", "user_accel_z -0.00345 g",
                "yaw 0.235159 rad",
            ]),
        Example(
            stream: "proximity", header: "event", row: "NearUser", fields: ["event NearUser "]),
        Example(
            stream: "power_state", header: "event,level", row: "Unlocked,0.68",
            fields: ["event Unlocked ", "level 0.68 "]),
        Example(
            stream: "power_state", header: "event", row: "Screen turned on",
            fields: ["event Screen turned on "]),
        Example(
            stream: "reachability", header: "event", row: "wifi", fields: ["event wifi "]),
        Example(
            stream: "identifiers",
            header: "patient_id,MAC,phone_number,device_id,device_os,os_version,product,brand,"
                + "hardware_id,manufacturer,model,beiwe_version",
            row: "43l6b8dp,jGR0,TS_8,_xje=,Android,5.0.1,jfltevzw,Verizon,qcom,samsung,SCH-I545,16",
            fields: [
                "MAC jGR0 ", "beiwe_version 16 ", "brand Verizon ", "device_id _xje= ",
                "device_os Android ", "hardware_id qcom ", "manufacturer samsung ",
                "model SCH-I545 ", "os_version 5.0.1 ", "patient_id 43l6b8dp ",
                "phone_number TS_8 ", "product jfltevzw ",
            ]),
        Example(
            stream: "ios_log", header: "launchId,memory,battery,event,msg,d1,d2,d3,d4",
            row: "1,12,0.5,start,hello,,,,",
            fields: ["battery 0.5 ", "event start ", "launchId 1 ", "memory 12 ", "msg hello "]),
        Example(
            stream: "wifi", header: "hashed MAC,frequency,RSSI", row: "MNMdDDe=,2437,-72",
            fields: ["RSSI -72 dBm", "frequency 2437 MHz", "hashed MAC MNMdDDe= "]),
        Example(
            stream: "calls", header: "hashed phone number,call type,duration in seconds",
            row: "tE6XkkmC=,Incoming Call,489",
            fields: [
                "call type Incoming Call ", "duration in seconds 489 s",
                "hashed phone number tE6XkkmC= ",
            ]),
    ]

    @Test(arguments: examples) func `a row of each stream`(example: Example) throws {
        let export = try BeiweExport([
            "\(Self.patient)/\(example.stream)/\(Self.hour)": """
            timestamp,UTC time,\(example.header)
            1646920720637,2022-03-10T13:58:40.637,\(example.row)
            """
        ])
        let report = try export.load()
        #expect(!report.hasRefusals, "\(report.examples)")
        #expect(report.points == 1)
        #expect(report.convertedValues == 0)
        let schemas = try export.with { database throws(DatabaseError) in try database.schemas() }
        #expect(schemas.map(\.name) == [example.stream])
        let schema = try #require(schemas.first)
        #expect(schema.preset == "beiwe-\(example.stream)")
        let stored = try schema.fields.map { field in
            let answer = try export.ask("SELECT \"\(field.name)\" FROM \(example.stream)")
            let time = "2022-03-10T13:58:40.637Z  "
            #expect(answer.last?.hasPrefix(time) == true)
            return "\(field.name) \(answer.last?.dropFirst(time.count) ?? "") \(field.unit)"
        }
        #expect(stored == example.fields)
        let tags = try export.ask("SHOW TAG VALUES WITH KEY =~ /./")
        #expect(tags.contains { $0.hasSuffix(Self.patient) })
        #expect(tags.contains { $0.hasPrefix("id_experiment") && $0.hasSuffix("study") })
    }

    @Test func `what phones upload lacks the words, has other folders, and is the same`() throws {
        let rows = [
            (1_646_920_720_637, ".637", "Locked,0.5"), (1_646_920_720_637, ".637", "Full,0.5"),
            (1_646_920_720_012, ".012", "Locked,-1"),
        ]
        let export = try BeiweExport([
            "\(Self.patient)/power_state/\(Self.hour)":
                "timestamp,UTC time,event,level\n"
                + rows.map { "\($0.0),2022-03-10T13:58:40\($0.1),\($0.2)\n" }.joined(),
            "\(Self.patient)/powerState/1646920720637.csv":
                "timestamp,event,level\n" + rows.map { "\($0.0),\($0.2)\n" }.joined(),
        ])
        let report = try export.load()
        #expect(!report.hasRefusals)
        let answer = try export.ask("SELECT event, level FROM power_state")
        #expect(
            answer.dropFirst(2) == [
                "2022-03-10T13:58:40.012Z        Locked  -1.0",
                "2022-03-10T13:58:40.637Z        Locked  0.5",
                "2022-03-10T13:58:40.637000001Z  Full    0.5",
            ], "\(answer)")
    }

    @Test func `the moment in words is stored where it says something else`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/gps/a.csv": """
            timestamp,UTC time, latitude, longitude, altitude, accuracy
            1444362737012,2015-10-09T03:52:17.12,41.3,-72.9,0.0,79.5
            1444362738000,2015-10-09T03:52:18.0,41.3,-72.9,0.0,79.5
            1444362739100,2015-10-09T03:52:19.100,41.3,-72.9,0.0,79.5
            1444362740100,2015-10-09T03:52:20.1,41.3,-72.9,0.0,79.5
            1444362741100,2015-10-09 03:52:21.100,41.3,-72.9,0.0,79.5
            """
        ])
        #expect(try export.load().points == 5)
        let answer = try export.ask("SELECT \"UTC time\" FROM gps")
        #expect(
            answer.dropFirst(2) == [
                "2015-10-09T03:52:20.1Z  2015-10-09T03:52:20.1",
                "2015-10-09T03:52:21.1Z  2015-10-09 03:52:21.100",
            ], "\(answer)")
    }

    @Test func `old headers, a byte order mark, carriage returns and no last newline`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/gps/2015-10-09 03_00_00.csv":
                "\u{FEFF}timestamp,UTC time, latitude, longitude, altitude, accuracy\r\n"
                + "1444362737000,2015-10-09T03:52:17.000,41.3, -72.9 ,+0.5,1e1\r\n\r\n"
                + "1444362738000,2015-10-09T03:52:18.000,41.3,-72.9,,79.5",
            "\(Self.patient)/gps/2015-10-09 04_00_00.csv":
                "timestamp,UTC time, latitude, longitude, altitude, accuracy",
            "\(Self.patient)/gps/2015-10-09 05_00_00.csv": "",
        ])
        let report = try export.load()
        #expect(!report.hasRefusals, "\(report.examples)")
        #expect(report.values == 7)
        let answer = try export.ask("SELECT * FROM gps")
        #expect(answer.last?.contains("79.5") == true)
        #expect(answer[2].contains("10.0") && answer[2].contains("-72.9"), "\(answer)")
    }

    @Test func `streams and columns in no table are kept, numbers where a column has only those`()
        throws
    {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": """
            timestamp,UTC time,bpm,source,bpm,
            1444362737000,2015-10-09T03:52:17.000,61,7,1,9
            1444362738000,2015-10-09T03:52:18.000,,watch,2,
            1444362739000,2015-10-09T03:52:19.000,62.5,8,x,10
            """,
            "\(Self.patient)/gps/a.csv": """
            timestamp,UTC time,latitude,floor
            1444362737000,2015-10-09T03:52:17.000,41.3,3
            """,
        ])
        #expect(try !export.load().hasRefusals)
        let fields = try export.with { database throws(DatabaseError) in
            try database.schemas().map { "\($0.fields.map { "\($0.name) \($0.type)" })" }
        }
        #expect(
            fields == [
                "[\"floor float\", \"latitude float\"]",
                "[\"bpm float\", \"bpm_2 string\", \"column_6 float\", \"source string\"]",
            ])
        // A field keeps its type: text that looks like numbers stays text in later files.
        try export.write(
            "timestamp,source\n1444362740000,9\n1444362741000,10\n",
            "\(Self.patient)/heart_rate/b.csv")
        #expect(try !export.load().hasRefusals)
        #expect(try export.ask("SELECT last(source) FROM heart_rate").last?.hasSuffix("10") == true)
    }

    @Test func `an integer field stores no number that was rounded`() throws {
        let numbers = [
            "1234567890123456789.0", "0.99999999999999999999", "12345678901234567890123", "1e-400",
        ]
        let rows = (numbers + ["-70.0"]).enumerated().map {
            "\(1_444_362_737_000 + $0),a,2437,\($1)\n"
        }
        let export = try BeiweExport([
            "\(Self.patient)/wifi/a.csv": "timestamp,hashed MAC,frequency,RSSI\n" + rows.joined()
        ])
        let report = try export.load()
        #expect(report.refusedValues == numbers.count && report.points == rows.count)
        #expect(try export.ask("SELECT RSSI FROM wifi").last?.hasSuffix("-70") == true)
        let reasons = try export.rejects()
        #expect(reasons.count == numbers.count)
        #expect(reasons.allSatisfy { $0.contains("string for a field") }, "\(reasons)")
    }

    @Test func `a renamed column beside one of the new name has the type of its own`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": "timestamp,bar\n1444362737000,x\n"
        ])
        _ = try export.load()
        export.options.renames = ["bpm": "bar"]
        try export.write(
            "timestamp,bpm,bar\n1444362738000,61,y\n", "\(Self.patient)/heart_rate/b.csv")
        #expect(try !export.load().hasRefusals)
        #expect(try export.ask("SELECT bpm FROM heart_rate").last?.hasSuffix("61.0") == true)
    }

    @Test func `a renamed column has the type of the name that it gets in a row`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": "timestamp,own,bar\n1444362737000,1.5,x\n"
        ])
        _ = try export.load()
        export.options.renames = ["own": "bar"]
        try export.write(
            "timestamp,own,bar\n1444362738000,1.50,\n1444362739000,2.50,y\n",
            "\(Self.patient)/heart_rate/b.csv")
        #expect(try !export.load().hasRefusals)
        #expect(
            try export.ask("SELECT bar FROM heart_rate").suffix(3).map {
                $0.split(separator: " ").last
            } == ["x", "1.50", "y"])
        #expect(try export.ask("SELECT own FROM heart_rate").last?.hasSuffix(" 2.5") == true)
    }

    @Test func `a type that a file has shown is that of the stored name`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": "timestamp,y\n1444362737000,abc\n",
            "\(Self.patient)/heart_rate/b.csv": "timestamp,x\n1444362738000,7\n",
        ])
        export.options.renames = ["x": "y"]
        #expect(try !export.load().hasRefusals)
        #expect(try export.ask("SELECT y FROM heart_rate").last?.hasSuffix(" 7") == true)
    }

    @Test(arguments: [("x,y", "abc,5", "y"), ("x,y", "abc,5", "x"), ("x,z", "abc,", "x")])
    func `a type that a file with two such names has shown, too`(
        names: String, cells: String, later: String
    ) throws {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": "timestamp,\(names)\n1444362737000,\(cells)\n",
            "\(Self.patient)/heart_rate/b.csv": "timestamp,\(later)\n1444362738000,6\n",
        ])
        export.options.renames = ["x": "z", "y": "z"]
        #expect(try !export.load().hasRefusals)
        #expect(
            try export.ask("SELECT z FROM heart_rate").suffix(2).map {
                $0.split(separator: " ").last
            } == ["abc", "6"])
    }

    @Test func `a column without values decides no type`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/heart_rate/a.csv": "timestamp,own,bar\n1444362737000,1.50,\n"
        ])
        export.options.renames = ["own": "bar"]
        #expect(try !export.load().hasRefusals)
        #expect(try export.ask("SELECT bar FROM heart_rate").last?.hasSuffix(" 1.5") == true)
    }

    @Test func `rows that are none are kept as rejects, the others are stored`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/gps/a.csv": """
            timestamp,UTC time,latitude,longitude,altitude,accuracy
            1444362737000,2015-10-09T03:52:17.000,2015-10-09T03:52:17.000,41.3,-72.9,0,79.5
            1444362738000,2015-10-09T03:52:18.000,41.3,-72.9,0
            1.44E+12,2015-10-09T03:52:18.000,41.3,-72.9,0,1
            ,2015-10-09T03:52:18.000,41.3,-72.9,0,2
            99999999999999999,2015-10-09T03:52:18.000,41.3,-72.9,0,3
            9223372036854,2262-04-11T23:47:16.854,41.3,-72.9,0,4
            1444362739000,2015-10-09T03:52:19.000,,,,
            1444362740000,2015-10-09T03:52:20.000,41.3,none,0,1
            1444362741000,2015-10-09T03:52:21.000,41.3,-72.9,0,1
            -9223372036853,1677-09-21T00:12:43.147,41.3,-72.9,0,5
            """
        ])
        let report = try export.load()
        #expect(report.refusedLines == 8)
        #expect(report.refusedValues == 1)
        let names = "timestamp,UTC time,latitude,longitude,altitude,accuracy"
        let expected = "expected milliseconds since 1970, from -9223372035000 to 9223372035000"
        #expect(
            try export.rejects() == [
                "a.csv:2:0 7 cells; expected 6 as in the header: \(names)",
                "a.csv:3:0 5 cells; expected 6 as in the header: \(names)",
                "a.csv:4:1 \"timestamp\" is \"1.44E+12\"; \(expected)",
                "a.csv:5:1 \"timestamp\" is \"\"; \(expected)",
                "a.csv:6:1 \"timestamp\" is \"99999999999999999\"; \(expected)",
                "a.csv:7:1 \"timestamp\" is \"9223372036854\"; \(expected)",
                "a.csv:8:0 no values except the time; expected at least one",
                "a.csv:11:1 \"timestamp\" is \"-9223372036853\"; \(expected)",
                "a.csv:9:0 string for a field that is locked as float",
            ])
        let counts = try export.ask("SELECT count(latitude), count(longitude) FROM gps").last
        #expect(counts?.split(separator: " ").suffix(2) == ["2", "1"])
        #expect(try export.load().refusedLines == 8)
        #expect(try export.rejects().count == 9, "kept once")
    }

    @Test func `a file under a header that is none, or of another stream, is kept as rejects`()
        throws
    {
        let export = try BeiweExport([
            "\(Self.patient)/accelerometer/a.csv":
                "timestamp,UTC time,latitude,longitude,altitude,accuracy\n1444362737000,,1,2,3,4\n",
            "\(Self.patient)/gps/a.csv": "1444362737000,2015-10-09T03:52:17.000,1,2,3,4\n",
            "\(Self.patient)/gyro/a.csv": "time,x,y,z\n1444362737000,1,2,3\n\n",
            "\(Self.patient)/magnetometer/a.csv": "timestamp,x,y,z\n1444362737000,1,2,3\n",
        ])
        let report = try export.load()
        #expect(report.points == 1)
        #expect(report.refusedLines == 5)
        let rejects = try export.rejects()
        #expect(rejects.count == 5)
        for words in ["that of accelerometer", "expected a header", "that of gyro"] {
            #expect(rejects.contains { $0.contains(words) }, "\(words): \(rejects)")
        }
    }

    @Test func `times at the ends of what can be stored, with their words`() throws {
        let export = try BeiweExport([
            "\(Self.patient)/reachability/a.csv": """
            timestamp,UTC time,event
            -9223372035000,1677-09-21T00:12:45.000,first
            9223372035000,2262-04-11T23:47:15.000,last
            -1,1969-12-31T23:59:59.999,before
            """,
            "\(Self.patient)/survey_answers/s/9999999999999.csv":
                "question id,question type,question text,question answer options,answer\nq,,,,a\n",
        ])
        #expect(try export.load().points == 3)
        let fields = try export.with { database throws(DatabaseError) in
            try database.schemas().first { $0.name == "reachability" }?.fields.map(\.name)
        }
        #expect(fields == ["event"], "the words agree")
        #expect(try export.rejects().count == 1)
    }

    @Test func `bytes that are not UTF-8 cost their row`() throws {
        let export = try BeiweExport()
        var data = Data("timestamp,event\n1444362737000,".utf8)
        data += [0xFF, 0xFE] + Data("\n1444362737000,wifi\n".utf8)
        try export.write(data, "\(Self.patient)/reachability/a.csv")
        #expect(try export.load().points == 1)
        #expect(try export.rejects() == ["a.csv:2:15 \"event\" is not valid UTF-8; expected UTF-8"])
    }

    @Test func `what stands before the end of a cut file is stored`() throws {
        let rows = (0..<20_000).map { "\(1_000 + $0),\($0 * 7919 % 9973)\n" }
        let export = try BeiweExport()
        let name = "\(Self.patient)/custom/\(Self.hour).gz"
        try export.write(halfOfGzip("timestamp,own\n" + rows.joined()), name)
        let error = #expect(throws: DatabaseError.self) { try export.load() }
        #expect(error?.kind == .damaged)
        let contents = try export.contents()
        #expect(contents.first?.contains("own:float") == true)
        let lines = contents.last?.split(separator: "\n") ?? []
        #expect(lines.count > 1_000)
    }
}
