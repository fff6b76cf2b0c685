// A watch survey of the Cozie app: its questions, their options, and the order of questions.

public import CozDB

/// A watch survey, as the Cozie app loads it from a JSON file.
///
/// Source: `WatchSurveyModelController` and `WatchSurveyViewModel` of the app (cozie-apple
/// 8c88818). The survey begins with the first question of the list. An option leads to the question
/// that it names. The survey ends if it names none or an unknown one.
public struct WatchSurvey: Sendable {
    /// A question. Its id is the name of the field that stores the answers.
    public struct Question: Sendable {
        /// The name of the field that stores the answers, such as `q_thermal`.
        public var id: String
        /// The question shown to the participant.
        public var text: String
        /// The options in display order.
        public var options: [Option]
        /// The line in the file, from 1.
        public var line: Int
        /// The byte in the line, from 1.
        public var column: Int
    }

    /// An answer option.
    public struct Option: Sendable {
        /// The text that is shown, and stored if chosen.
        public var text: String
        /// The id of the next question. Empty ends the survey.
        public var next: String
        /// The line in the file, from 1.
        public var line: Int
        /// The byte in the line, from 1.
        public var column: Int
    }

    /// The name of the survey, as in `wss_title`.
    public var name: String
    /// The identifier of the survey.
    public var id: String
    /// The questions in file order. The survey begins with the first.
    public var questions: [Question]

    /// Returns the question with this id, or nil. The first one wins, as in the app.
    public func question(_ id: String) -> Question? {
        questions.first { $0.id.utf8.elementsEqual(id.utf8) }
    }

    /// The declarations of the answer fields with questions and options, for `Database.declare`.
    public var declarations: [SchemaPreset.Field] {
        questions.map { question in
            SchemaPreset.Field(
                question.id, .string, note: "Answer to a question of the watch survey \(name).",
                question: question.text, options: question.options.map(\.text))
        }
    }
}
