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
    case time(Timestamp)

    /// `2024-03-01`, or RFC 3339 with an offset: a clock without one would not say whose it is.
    init?(argument: String) {
        if let day = LocalDay(argument) {
            self = .day(day)
            return
        }
        let clock = argument.utf8.dropFirst(11)
        let hasOffset = clock.contains { "Zz+-".utf8.contains($0) }
        guard hasOffset, let time = Timestamp(argument) else { return nil }
        self = .time(time)
    }

    /// The first moment that belongs to it.
    func start(_ calendar: LocalCalendar) -> Timestamp {
        switch self {
        case .day(let day): calendar.start(of: day)
        case .time(let time): time
        }
    }

    /// The first moment after a day; a moment itself.
    func end(_ calendar: LocalCalendar) -> Timestamp {
        switch self {
        case .day(let day): calendar.start(of: day.advanced(by: 1))
        case .time(let time): time
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
