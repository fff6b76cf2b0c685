// A watch survey of the Cozie app: questions, the answers they offer, and which question follows.

public import CozDB

/// The definition of a watch survey, as the Cozie app loads it from a JSON file.
///
/// Source: `WatchSurveyModelController` and `WatchSurveyViewModel` of the app (cozie-apple
/// 8c88818): the survey begins with the first question of the list, an option leads to the
/// question it names, and where it names none, or one that is not there, the survey ends.
public struct WatchSurvey: Sendable {
    /// A question. Its answers are stored in the field that is called like its id.
    public struct Question: Sendable {
        /// Name of the field that takes the answers, such as `q_thermal`.
        public var id: String
        /// The question as the participant reads it.
        public var text: String
        /// In the order in which they are shown.
        public var options: [Option]
        /// Line in the file, from 1.
        public var line: Int
        /// Byte in the line, from 1.
        public var column: Int
    }

    /// An answer to choose.
    public struct Option: Sendable {
        /// What is shown, and stored when it is chosen.
        public var text: String
        /// The id of the question that follows; empty: the survey ends.
        public var next: String
        /// Line in the file, from 1.
        public var line: Int
        /// Byte in the line, from 1.
        public var column: Int
    }

    /// Name of the survey, as `wss_title` has it.
    public var name: String
    /// Identifier of the survey.
    public var id: String
    /// In the order of the file; the survey begins with the first.
    public var questions: [Question]

    /// The question whose answers a field takes; the first of several, as in the app.
    public func question(_ id: String) -> Question? {
        questions.first { $0.id.utf8.elementsEqual(id.utf8) }
    }

    /// The fields of the answers, with questions and options, for `Database.declare`.
    public var declarations: [SchemaPreset.Field] {
        questions.map { question in
            SchemaPreset.Field(
                question.id, .string, note: "Answer to a question of the watch survey \(name).",
                question: question.text, options: question.options.map(\.text))
        }
    }
}
