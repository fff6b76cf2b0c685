// What the questions of a study are answered with.

public import CozDB

/// One participant's data as a whole.
public struct ParticipantOverview: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// Time of the first value of any field.
    public var first: Timestamp
    /// Time of the last one.
    public var last: Timestamp
    /// The local days of both.
    public var days: ClosedRange<LocalDate>
    /// Fields that have values.
    public var fields: Int
    /// Values of all fields.
    public var values: Int
    /// Rows with a survey, duplicates included.
    public var responses: Int
}

/// What one participant answered on one local day; days without any are there too, from the
/// participant's first day with data of any kind to the last.
public struct DailyResponses: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// Rows with a survey (`ws_survey_count`): a survey sent three times counts three times.
    public var responses: Int
    /// Surveys that were begun at different times (`ws_timestamp_start`); nil where the study has
    /// no such field.
    public var surveys: Int?
}

/// Valid votes of one participant on one local day.
public struct DailyVotes: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// Rows with a survey.
    public var responses: Int
    /// Those of them that come more than the gap after the last valid one.
    public var valid: Int
    /// The others.
    public var invalid: Int { responses - valid }
}

/// How far one participant is at the end of a local day.
public struct GoalProgress: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// Responses from the first one on.
    public var responses: Int
    /// Valid votes from the first one on.
    public var valid: Int
    /// Responses wanted: the participant's last `wss_goal`, whenever it came, or what was asked
    /// for; nil where neither is there.
    public var goal: Int?
}

/// When a participant's last value of a field was.
public struct LastEntry: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// `ws_survey_count`, or a modality.
    public var field: String
    /// Time of the last value at or before now; nil where there is none.
    public var last: Timestamp?
    /// Nanoseconds from then until now, 0 or more.
    public var silence: Int64?
}

/// How late data of one trigger arrives: `_lambda` minus the time of the row, in seconds.
public struct DelayStatistics: Hashable, Sendable {
    /// Value of the participant tag; nil where all are taken together.
    public var participant: String?
    /// The field whose arrival it is; nil for rows as a whole.
    public var field: String?
    /// What made the phone send it; empty where a row does not say.
    public var trigger: String
    /// Rows with a delay.
    public var count: Int
    /// The least; negative where a clock was wrong.
    public var min: Double
    /// As many are above as below.
    public var median: Double
    /// 90 percent are at most this.
    public var p90: Double
    /// 99 percent are at most this.
    public var p99: Double
    /// The most.
    public var max: Double
}

/// Time between one value of a field and the next one of the same participant, in seconds.
public struct IntervalStatistics: Hashable, Sendable {
    /// Value of the participant tag; nil where all are taken together.
    public var participant: String?
    /// The modality.
    public var field: String
    /// How many intervals.
    public var count: Int
    /// As many are above as below.
    public var median: Double
    /// 90 percent are at most this.
    public var p90: Double
    /// The longest: a gap.
    public var max: Double
}

/// How many values of a field one participant has on one local day; days without any are there
/// too, from the participant's first day with data of any kind to the last.
public struct DailyAvailability: Hashable, Sendable {
    /// Value of the participant tag.
    public var participant: String
    /// The modality.
    public var field: String
    /// The local day.
    public var day: LocalDate
    /// Values, duplicates of one moment once.
    public var count: Int
}
