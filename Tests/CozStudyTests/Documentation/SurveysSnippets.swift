// The code of the article Surveys, which DocumentationTests compares with the article.

internal import CozDB
internal import CozStudy
internal import CozTestSupport
internal import Testing

struct SurveysSnippets {
    private static let text = """
        {
          "survey_name": "Thermal preference",
          "survey_id": "thermal",
          "survey": [
            {
              "question": "How would you prefer to be?",
              "question_id": "q_preference_thermal",
              "response_options": [
                {"text": "Cooler", "next_question_id": "", "icon": "a",
                 "icon_background_color": "#0000FF", "use_sf_symbols": false,
                 "sf_symbols_color": "#000000"},
                {"text": "Warmer", "next_question_id": "", "icon": "b",
                 "icon_background_color": "#FF0000", "use_sf_symbols": false,
                 "sf_symbols_color": "#000000"}
              ]
            }
          ]
        }
        """

    @Test func `the article's survey is registered and counted`() throws {
        let folder = TemporaryDirectory()
        let database = try Database.open(folder.path)
        let text = Self.text
        // Snippet: Check a file
        let check = SurveyCheck(text)
        for finding in check.findings {
            note("\(finding.line):\(finding.column): \(finding.severity): \(finding.message)")
        }
        // End of snippet
        #expect(check.isUsable)

        // Snippet: Register it
        if let survey = check.survey, check.isUsable {
            let registration = try database.register(survey, for: "dev")
            note("declared \(registration.fields.joined(separator: ", "))")
        }
        // End of snippet
        var batch = WriteBatch()
        try batch.add(
            experiment: "dev", tags: ["id_participant": "p01"], time: Timestamp(nanoseconds: 1),
            fields: ["q_preference_thermal": .string("Warmer")])
        _ = try database.write(batch)

        // Snippet: Count the answers
        var lines: [String] = []
        for question in try database.surveyAnswers(of: "dev") {
            for count in question.offered + question.others {
                lines.append("\(question.field): \(count.answer) \(count.rows)")
            }
        }
        // End of snippet
        #expect(lines == ["q_preference_thermal: Cooler 0", "q_preference_thermal: Warmer 1"])
        try database.close()
    }
}

private func note(_ text: String) {}
