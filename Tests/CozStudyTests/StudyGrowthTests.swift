// What reading the formats of studies costs grows in proportion to the input.

internal import CozTestSupport
internal import Foundation
internal import Testing

@testable internal import CozDB
@testable internal import CozImport
@testable internal import CozStudy

@Suite(.serialized) struct StudyGrowthTests {
    private let folder = TemporaryDirectory()
    private let directory = TemporaryDirectory()

    /// A file in a folder that goes with the test.
    private func write(_ text: String, to name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func `a header of equal names`() {
        let growth = Growth(from: 200) { size in
            Array("#a\(String(repeating: ",a", count: size))\n".utf8)
        } _: { head in
            _ = BeiweHeader(head: head)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `equal names, and names that look like theirs, stay apart`() {
        let header = BeiweHeader(["a", "a_2", "a", " a ", "", "a_2", "column_5", "time", "a"])
        #expect(
            header.names == [
                "a", "a_2", "a_3", "a_4", "column_5", "a_2_2", "column_5_2", "time_", "a_5",
            ])
    }

    @Test func `a row with more cells than its header is refused in few words`() throws {
        let names = (0..<5_000).map { "c\($0)" }.joined(separator: ",")
        let path = try write(
            "timestamp,UTC time,\(names)\n" + String(repeating: "1,2,3\n", count: 20), to: "f.csv")
        let database = try Database.open(directory.path)
        var beiwe = BeiweOptions()
        beiwe.stream = "reachability"
        var options = ImportOptions()
        options.format = .beiwe(beiwe)
        options.participant = "p"
        let report = try importFiles([path], into: database, options: options)
        #expect(report.refusedLines == 21)
        #expect(report.examples.allSatisfy { $0.reason.utf8.count < 400 })
        try database.close()
    }

    @Test func `the tags of a payload`() throws {
        var options = ImportOptions()
        options.format = .cozieJSON()
        let growth = try Growth(from: 300) { size in
            let tags = (0..<size).map { "\"c\($0)\":\"x\"" }.joined(separator: ",")
            let text = """
                {"time":"2025-10-15T02:25:21Z","measurement":"dev",
                "tags":{"id_participant":"p",\(tags)},"fields":{"v":1}}
                """
            return try write(text, to: "\(size).json")
        } _: { path in
            _ = try importFiles([path], options: options) { _ in WriteReport() }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `refused values of a payload whose experiment has a long name`() throws {
        var options = ImportOptions()
        options.format = .cozieJSON()
        let growth = try Growth(from: 500) { size in
            let name = String(repeating: "x", count: 30 * size)
            let fields = (0..<size).map { "\"f\($0)\":true" }.joined(separator: ",")
            let text = """
                {"time":"2025-10-15T02:25:21Z","measurement":"\(name)",
                "tags":{"id_participant":"p"},"fields_int":{\(fields)}}
                """
            return try write(text, to: "\(size).json")
        } _: { path in
            _ = try importFiles([path], options: options) { _ in WriteReport() }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `options of a question with a long name`() {
        let growth = Growth(from: 500) { size in
            """
            {"survey_name":"a","survey_id":"b","survey":[{"question":"q",
            "question_id":"q_\(String(repeating: "x", count: 100 * size))","response_options":[
            \(String(repeating: "{},", count: size))
            {"text":"t","next_question_id":"z"},{"text":"t","next_question_id":"z"}]}]}
            """
        } _: { text in
            #expect(SurveyCheck(text).findings.count > 500)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `a file of a phone that comes back to each hour`() throws {
        var beiwe = BeiweOptions()
        beiwe.stream = "reachability"
        var options = ImportOptions()
        options.format = .beiwe(beiwe)
        options.participant = "p"
        options.experiment = "m"
        for isNested in [false, true] {
            let growth = try Growth(from: 1000) { size in
                var hours: [Int] = []
                for hour in 0..<size { hours += isNested && hour > 0 ? [hour, hour - 1] : [hour] }
                if !isNested { hours += Array(0..<size) }
                let rows = hours.enumerated().map { place, hour in
                    "\(1_630_454_400_000 + hour * 3_600_000 + place % 1000),,wifi\n"
                }
                return try write(
                    "timestamp,UTC time,event\n" + rows.joined(),
                    to: "\(isNested)\(size).csv")
            } _: { path in
                _ = try importFiles([path], options: options) { _ in WriteReport() }
            }
            #expect(growth.isLinear, "\(growth)")
        }
    }

    @Test(arguments: ["1630454400000,,1\n1630458000000,,2\n", "1630458000000,,2\n"])
    func `small files of a phone that share hours`(rows: String) throws {
        var options = ImportOptions()
        options.format = .beiwe(BeiweOptions())
        let growth = try Growth(from: 50) { size in
            for number in 0..<size {
                // Every second file has another hour.
                let text = number % 2 == 0 ? rows : "1630461600000,,3\n"
                let path = "\(folder.path)/\(size)/p/ios_log"
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
                try Data(
                    ("timestamp,UTC time,launchId,memory,battery,event,msg,d1,d2,d3,d4\n"
                        + text.replacing("\n", with: ",,,,,,\n")).utf8
                )
                .write(to: URL(fileURLWithPath: "\(path)/\(number).csv"))
            }
            return "\(folder.path)/\(size)"
        } _: { path in
            _ = try importFiles([path], options: options) { _ in WriteReport() }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `the refused members of a payload with as many tags`() throws {
        var options = ImportOptions()
        options.format = .cozieJSON()
        let growth = try Growth(from: 300) { size in
            let tags = (0..<size).map { "\"c\($0)\":\"x\"" }.joined(separator: ",")
            let fields = (0..<size).map { "\"f\($0)\":{}" }.joined(separator: ",")
            let text = """
                {"time":"2025-10-15T02:25:21Z","measurement":"dev",
                "tags":{"id_participant":"p",\(tags)},"fields":{"v":1,\(fields)}}
                """
            return try write(text, to: "\(size).json")
        } _: { path in
            _ = try importFiles([path], options: options) { batch in
                #expect(batch.refusals.count >= 300)
                return WriteReport()
            }
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `participants who each have a field of their own`() throws {
        let growth = try Growth(from: 1000) { size in
            let database = try Database.open(
                "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
            var batch = WriteBatch()
            for number in 0..<size {
                try batch.add(
                    experiment: "dev", tags: ["id_participant": "p\(number)"],
                    time: Timestamp(nanoseconds: 0), fields: ["f\(number)": .float(1)])
            }
            _ = try database.write(batch)
            return try database.snapshot()
        } _: { snapshot in
            let options = StudyOptions(now: Timestamp(nanoseconds: 1_000))
            let study = try Study(snapshot, experiment: "dev", options: options)
            #expect(study.participants.count >= 1000)
            #expect(study.participants.allSatisfy { $0.fields == 1 && $0.values == 1 })
            #expect(study.modalities.count == study.participants.count)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `the availability of many fields`() throws {
        let growth = try Growth(from: 500) { size in
            let database = try Database.open(
                "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
            var batch = WriteBatch()
            let fields = (0..<size).map { ("f\($0)", FieldValue.float(1)) }
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p"], time: Timestamp(nanoseconds: 0),
                fields: Dictionary(uniqueKeysWithValues: fields))
            _ = try database.write(batch)
            var options = StudyOptions(now: Timestamp(nanoseconds: 1_000))
            options.query.limits = QueryLimits()
            return try Study(database.snapshot(), experiment: "dev", options: options)
        } _: { study in
            let answer = try study.availability()
            #expect(answer.rows.count >= 500)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `the options that a registration keeps`() throws {
        let growth = try Growth(from: 500) { size in
            let database = try Database.open(
                "db", access: .readWrite, options: DatabaseOptions(), on: FaultyFileSystem())
            func survey(_ prefix: String) throws -> WatchSurvey {
                let options = (0..<size).map { number in
                    """
                    {"text": "\(prefix)\(number)", "icon": "", "icon_background_color": "",
                    "use_sf_symbols": false, "sf_symbols_color": "", "next_question_id": ""}
                    """
                }
                return try #require(
                    SurveyCheck(
                        """
                        {"survey_name": "Test", "survey_id": "t", "survey": [{"question": "How?",
                        "question_id": "q", "response_options": [\(options.joined(separator: ","))]
                        }]}
                        """
                    ).survey)
            }
            _ = try database.register(survey("old"), for: "dev")
            return (database, try survey("new"))
        } _: { database, survey in
            _ = try database.register(survey, for: "dev", keepsOptions: true)
        }
        #expect(growth.isLinear, "\(growth)")
    }

    @Test func `of two tags with one name the later counts`() throws {
        let path = try write(
            """
            {"time":"2025-10-15T02:25:21Z","measurement":"dev",
            "tags":{"id_participant":"p","a":"1","b":"2","a":"3","b":""},"fields":{"v":1}}
            """, to: "f.json")
        let database = try Database.open(directory.path)
        var options = ImportOptions()
        options.format = .cozieJSON()
        _ = try importFiles([path], into: database, options: options)
        let row = try database.query("SELECT v, a, b FROM dev").series[0]
        #expect(row.columns[2].texts == ["3"])
        #expect(row.columns[3].texts == ["2"])
        try database.close()
    }

    @Test func `participants times fields are never kept`() throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        let count = 1000
        for number in 0..<count {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p\(number)"],
                time: Timestamp(nanoseconds: Int64(number)), fields: ["f\(number)": .float(1)])
        }
        _ = try database.write(batch)
        var options = StudyOptions(now: Timestamp(nanoseconds: 0))
        options.query.limits = QueryLimits()
        // A word for each of a thousand times a thousand would be eight times as much.
        options.query.limits?.memorySizeBytesMax = 1 << 20
        let study = try Study(database.snapshot(), experiment: "dev", options: options)
        #expect(study.participants.count == count)
        #expect(study.participants.allSatisfy { $0.fields == 1 && $0.values == 1 })
        #expect(try study.overview().rows == study.participants)
        try database.close()
    }

    @Test func `an answer with a row for each participant and field has a limit`() throws {
        let database = try Database.open(directory.path)
        var batch = WriteBatch()
        for number in 0...1_000 {
            try batch.add(
                experiment: "dev", tags: ["id_participant": "p\(number)"],
                time: Timestamp(nanoseconds: Int64(number)),
                fields: ["f\(number)": .float(1), "g": .float(2)])
        }
        _ = try database.write(batch)
        let options = StudyOptions(now: Timestamp(nanoseconds: 1_000_000))
        let study = try Study(database.snapshot(), experiment: "dev", options: options)
        let error = #expect(throws: DatabaseError.self) { try study.silence() }
        #expect(error?.kind == .limitExceeded)
        #expect(error?.message.contains("1001 participants and 1002 fields") == true)

        var few = options
        few.modalities = ["g"]
        let answer = try Study(database.snapshot(), experiment: "dev", options: few).silence()
        #expect(answer.rows.count == 1_001)
        #expect(answer.rows.allSatisfy { $0.last != nil })
        try database.close()
    }
}
