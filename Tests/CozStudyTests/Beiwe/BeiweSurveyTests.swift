// Survey answers and survey timings of Beiwe exports.

internal import CozDB
internal import CozImport
internal import CozStudy
internal import Foundation
internal import Testing

struct BeiweSurveyTests {
    private static let patient = BeiweExport.patient
    private static let survey = "hkmxse2N7aMGfNyVMQDiWWEP"
    private static let answers = "\(patient)/survey_answers/\(survey)/"
    private static let timings = "\(patient)/survey_timings/\(survey)/"
    private static let header =
        "question id,question type,question text,question answer options,answer\n"

    private static let file =
        header + """
            q1,info_text_box,Welcome,,
            q2,slider,How \"warm\" is it?,min = 0; max = 10,4
            q3,checkbox,Where are you?,[Boston; Brookline],NOT_PRESENTED
            q4,free_response,Why?,Text-field input type = SINGLE_LINE_TEXT,it's "so";ßo
            """

    @Test func `a survey is a row, with a field for each question`() throws {
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv": Self.file,
            Self.answers + "2022-03-14 18_32_57+02_00.csv":
                Self.header + "q2,slider,How \"warm\" is it?,min = 0; max = 10,7.5\n",
            Self.answers + "2015-03-14 16_32_56.csv":
                Self.header + "q4,free_response,Why?,,\r\n",
        ])
        #expect(try !export.load().hasRefusals)
        let answer = try export.ask("SELECT q2, q3, q4, \"survey id\" FROM survey_answers")
        #expect(
            answer.dropFirst(2).map { $0.split(separator: " ").joined(separator: " ") } == [
                "2015-03-14T16:32:56Z - - - \(Self.survey)",
                "2022-03-14T16:32:56Z 4 NOT_PRESENTED it's \"so\";ßo \(Self.survey)",
                "2022-03-14T16:32:57Z 7.5 - - \(Self.survey)",
            ])
        let schema = try export.with { database throws(DatabaseError) in
            try database.schemas().first { $0.name == "survey_answers" }
        }
        let slider = try #require(schema?.declaration(of: "q2"))
        #expect(slider.question == "How \"warm\" is it?")
        #expect(slider.note == "slider: min = 0; max = 10")
        #expect(schema?.declaration(of: "q3")?.options == ["Boston", "Brookline"])
        #expect(schema?.declaration(of: "q1")?.question == "Welcome")
        #expect(schema?.field("q1") == nil, "nobody ever answered it")
    }

    @Test func `questions and columns with names that are taken get other ones`() throws {
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv": Self.header + """
                time,slider,When?,,4
                time_,slider,When not?,,5
                survey id,slider,Which?,,6
                times,slider,How often?,,7

                """,
            "\(Self.patient)/gps/a.csv": """
            timestamp,UTC time,latitude,longitude,altitude,accuracy
            1639530204861,2021-12-15T01:03:24.861,42.3,-71.1,25.6,7.8

            """,
            "\(Self.patient)/steps/a.csv": """
            timestamp,UTC time,time,n
            1639530204861,2021-12-15T01:03:24.861,9,1

            """,
        ])
        try export.load()
        let schemas = try export.with { database throws(DatabaseError) in
            try database.schemas()
        }
        let answers = try #require(schemas.first { $0.name == "survey_answers" })
        #expect(
            answers.fields.map(\.name).sorted()
                == ["survey id", "survey id_", "time_", "time__", "times"])
        #expect(answers.declaration(of: "time_")?.question == "When?")
        #expect(answers.declaration(of: "survey id_")?.question == "Which?")
        let row = try export.ask(
            "SELECT time_, time__, \"survey id_\", times, \"survey id\" FROM survey_answers")
        #expect(
            row.last?.split(separator: " ").dropFirst().map(String.init)
                == ["4", "5", "6", "7", Self.survey])
        let asked = try export.ask("SELECT \"question id\" FROM survey_questions LIMIT 1")
        #expect(asked.last?.hasSuffix(" time") == true, "\(asked)")
        #expect(!schemas.contains { $0.field("time") != nil })
        #expect(schemas.contains { $0.name == "steps" && $0.field("time_") != nil })
    }

    @Test func `what was asked is kept, a row a question, and numbers can be averaged`() throws {
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv": Self.file,
            Self.answers + "2022-03-14 16_40_00+00_00.csv": Self.file,
        ])
        try export.load()
        let asked = try export.ask(
            """
            SELECT "question id", "question type", answer FROM survey_questions LIMIT 4
            """)
        #expect(
            asked.dropFirst(2).map { $0.split(separator: " ").joined(separator: " ") } == [
                "2022-03-14T16:32:56Z q1 info_text_box -",
                "2022-03-14T16:32:56.000000001Z q2 slider 4",
                "2022-03-14T16:32:56.000000002Z q3 checkbox NOT_PRESENTED",
                "2022-03-14T16:32:56.000000003Z q4 free_response it's \"so\";ßo",
            ])
        let mean = try export.ask(
            "SELECT mean(number), count(number) FROM survey_questions WHERE \"question id\" = 'q2'")
        #expect(mean.last?.split(separator: " ").suffix(2) == ["4.0", "2"])
    }

    @Test func `two surveys of one second are two rows, the same one twice is one`() throws {
        let second = Self.header + "q2,slider,How?,,9\n"
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv": Self.file,
            Self.answers + "2022-03-14 16_32_56+00_00_2.csv": second,
            Self.answers + "2022-03-14 16_32_56+00_00_3.csv": Self.file,
            "\(Self.patient)/survey_answers/otherSurvey/2022-03-14 16_32_56+00_00.csv": second,
        ])
        for _ in 0..<2 {
            try export.load()
            let answer = try export.ask("SELECT q2, \"survey id\" FROM survey_answers")
            #expect(
                answer.dropFirst(2).map { $0.split(separator: " ").joined(separator: " ") } == [
                    "2022-03-14T16:32:56Z 4 \(Self.survey)",
                    "2022-03-14T16:32:56.000000001Z 9 \(Self.survey)",
                    "2022-03-14T16:32:56.000000002Z 9 otherSurvey",
                ])
            #expect(try export.ask("SELECT * FROM survey_questions").count == 2 + 4 + 1 + 1)
        }
    }

    @Test func `answers that are none are kept as rejects`() throws {
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv":
                Self.header + "q1,a,b,c\nq2,a,b,c,d,e\n,a,b,c,d\nq3,a,b,c,d\nq3,a,b,c,e\n",
            Self.answers + "no time.csv": Self.header + "q9,a,b,c,d\n",
            Self.answers + "2022-03-14 16_32_57+00_00.csv": "timestamp,x\n1000,1\n",
            Self.answers + "2022-03-14 16_32_58+00_00.csv": Self.header,
        ])
        #expect(try export.load().points == 2)
        let rejects = try export.rejects()
        #expect(rejects.count == 7)
        for words in [
            "56+00_00.csv:2:0 found 4 cells", "56+00_00.csv:3:0 found 6 cells",
            ":4:1 found no question id",
            ":6:1 found question \"q3\" twice", "no time.csv:2:0 found no time in the file name",
            "57+00_00.csv:1:0 found the header \"timestamp,x\", expected that of survey_answers",
        ] {
            #expect(rejects.contains { $0.contains(words) }, "\(words): \(rejects)")
        }
    }

    @Test func `the answers of a file have at most 16 MiB`() throws {
        let answer = String(repeating: "x", count: 1_000_000)
        let rows = (1...17).map { "q\($0),a,b,c,\(answer)\n" }.joined()
        let export = try BeiweExport([
            Self.answers + "2022-03-14 16_32_56+00_00.csv": Self.header + rows
        ])
        let report = try export.load()
        #expect(report.points == 1 + 16 && report.refusedLines == 1)
        let rejects = try export.rejects()
        #expect(rejects.count == 1)
        #expect(rejects[0].contains("found more than 16 MiB of answers, expected at most that"))
    }

    @Test func `timings keep every event, also those of the whole survey`() throws {
        let rows = """
            1646920720637,2022-03-10T13:58:40.637,q1,\(Self.survey),slider,How?,min = 0,,present
            1646920723463,2022-03-10T13:58:43.463,q1,\(Self.survey),slider,How?,min = 0,4,changed
            1646920723463,2022-03-10T13:58:43.463,q1,\(Self.survey),slider,How?,min = 0,4,unpresent
            1646920731445,2022-03-10T13:58:51.445,,\(Self.survey),,,,,submitted
            """
        let raw = """
            timestamp,question id,question type,question text,question answer options,answer,event
            1646920723463,q1,slider,How?,min = 0,4,changed
            1646920731445,,,,,,submitted
            1646920731445,,,,,,expired
            """
        let export = try BeiweExport([
            Self.timings + "2022-03-10 13_00_00+00_00.csv":
                "timestamp,UTC time,question id,survey id,question type,question text,"
                + "question answer options,answer,event\n" + rows,
            "\(Self.patient)/surveyTimings/\(Self.survey)/1646920723463.csv": raw,
        ])
        #expect(try !export.load().hasRefusals)
        let answer = try export.ask(
            "SELECT event, answer, \"survey id\" FROM survey_timings")
        #expect(
            answer.dropFirst(2).map { $0.split(separator: " ").joined(separator: " ") } == [
                "2022-03-10T13:58:40.637Z present - \(Self.survey)",
                "2022-03-10T13:58:43.463Z changed 4 \(Self.survey)",
                "2022-03-10T13:58:43.463000001Z unpresent 4 \(Self.survey)",
                "2022-03-10T13:58:51.445Z submitted - \(Self.survey)",
                "2022-03-10T13:58:51.445000001Z expired - \(Self.survey)",
            ])
    }
}
