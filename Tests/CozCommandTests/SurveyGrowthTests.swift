// What checking and showing a survey costs grows in proportion to its questions.

internal import CozStudy
internal import CozTestSupport
internal import Testing

@testable internal import CozCommand

struct SurveyGrowthTests {
    @Test func `a survey of many questions is checked and shown`() {
        let growth = Growth(from: 200) { size in
            let questions = (0..<size).map { number in
                """
                {"question": "How?", "question_id": "q\(number)", "response_options": [
                {"text": "So", "icon": "", "icon_background_color": "", "use_sf_symbols": false,
                "sf_symbols_color": "", "next_question_id": "q\(number + 1)"}]}
                """
            }
            return """
                {"survey_name": "Test", "survey_id": "t",
                "survey": [\(questions.joined(separator: ","))]}
                """
        } _: { text in
            _ = SurveyText.table(SurveyCheck(text), of: "file")
        }
        #expect(growth.isLinear, "\(growth)")
    }
}
