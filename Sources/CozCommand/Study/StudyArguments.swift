// Arguments of `cozdb study`: questions and durations.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

struct QuestionName: ExpressibleByArgument {
    let question: StudyQuestion

    static let allValueStrings = StudyQuestion.allCases.map(\.rawValue)

    init?(argument: String) {
        guard let question = StudyQuestion(rawValue: argument) else { return nil }
        self.question = question
    }
}

/// A duration in the syntax of statements: `55m`, `1h30m`.
struct DurationArgument: ExpressibleByArgument {
    let nanoseconds: Int64

    init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    init?(argument: String) {
        guard let nanoseconds = DurationText.nanoseconds(argument), nanoseconds >= 0 else {
            return nil
        }
        self.nanoseconds = nanoseconds
    }

    var defaultValueDescription: String { DurationText.text(nanoseconds) }
}
