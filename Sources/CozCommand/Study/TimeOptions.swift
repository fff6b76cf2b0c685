// Questions, days, times and spans of time as arguments of `cozdb study` name them.

internal import ArgumentParser
internal import CozDB
internal import CozStudy

/// The subject of a question.
struct QuestionName: ExpressibleByArgument {
    let question: StudyQuestion

    static let allValueStrings = StudyQuestion.allCases.map(\.rawValue)

    init?(argument: String) {
        guard let question = StudyQuestion(rawValue: argument) else { return nil }
        self.question = question
    }
}

/// A day of the participants' calendar, or a moment.
enum DayOrTime: ExpressibleByArgument {
    case day(LocalDay)
    case time(LocalTime)

    /// `2024-03-01`, or a time; without an offset it is that of the participants' clocks.
    init?(argument: String) {
        if let day = LocalDay(argument) {
            self = .day(day)
        } else if let time = LocalTime(argument: argument) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// The moment, or the first one of the day.
    func time(_ calendar: LocalCalendar) -> Timestamp {
        switch self {
        case .day(let day): calendar.start(of: day)
        case .time(let time): time.time(in: calendar.zone)
        }
    }
}

/// A duration as statements write it: `55m`, `1h30m`.
struct SpanOfTime: ExpressibleByArgument {
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
