// The row types of the answers about a study.

public import CozDB

/// The totals of one participant.
public struct ParticipantOverview: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// The time of the first value of any field.
    public var first: Timestamp
    /// The time of the last value of any field.
    public var last: Timestamp
    /// The local days of `first` and `last`.
    public var days: ClosedRange<LocalDate>
    /// The number of fields that have values.
    public var fields: Int
    /// The number of values of all fields.
    public var values: Int
    /// The number of rows with a survey, including duplicates.
    public var responses: Int
}

/// The responses of one participant on one local day. Days without responses are included, from the
/// participant's first day with any data to the last.
public struct DailyResponses: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// The number of rows with a survey (`ws_survey_count`). A survey sent three times counts three
    /// times.
    public var responses: Int
    /// The number of surveys with different start times (`ws_timestamp_start`). Nil if the study
    /// has no such field.
    public var surveys: Int?
}

/// The valid votes of one participant on one local day.
public struct DailyVotes: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// The number of rows with a survey.
    public var responses: Int
    /// The number of valid ones: those later than the previous valid one by more than the gap.
    public var valid: Int
    /// The number of invalid ones.
    public var invalid: Int { responses - valid }
}

/// The progress of one participant at the end of a local day.
public struct GoalProgress: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// The local day.
    public var day: LocalDate
    /// The number of responses since the first one.
    public var responses: Int
    /// The number of valid votes since the first one.
    public var valid: Int
    /// The required responses: the goal in the options, or else the participant's last `wss_goal`
    /// before the end of the range, even from before its start. Nil if there is neither.
    public var goal: Int?
}

/// The time of a participant's last value of a field.
public struct LastEntry: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// `ws_survey_count`, or a modality.
    public var field: String
    /// The time of the last value up to now. Nil if there is none.
    public var last: Timestamp?
    /// Nanoseconds from `last` until now, from 0 to `Int64.max`, which means 292 years or more.
    public var silence: Int64?
}

/// The delay of data with one trigger: arrival time minus row time, in seconds.
public struct DelayStatistics: Hashable, Sendable {
    /// The value of the participant tag. Nil for all participants together.
    public var participant: String?
    /// The field with the arrival time. Nil for whole rows.
    public var field: String?
    /// What made the phone send the data. Empty if the row has no trigger.
    public var trigger: String
    /// The number of rows with a delay.
    public var count: Int
    /// The minimum. Negative if a clock was wrong.
    public var min: Double
    /// The median.
    public var median: Double
    /// The 90th percentile.
    public var p90: Double
    /// The 99th percentile.
    public var p99: Double
    /// The maximum.
    public var max: Double
}

/// The time between consecutive values of a field of one participant, in seconds.
public struct IntervalStatistics: Hashable, Sendable {
    /// The value of the participant tag. Nil for all participants together.
    public var participant: String?
    /// The modality.
    public var field: String
    /// The number of intervals.
    public var count: Int
    /// The median.
    public var median: Double
    /// The 90th percentile.
    public var p90: Double
    /// The maximum: the longest gap.
    public var max: Double
}

/// The number of values of a field of one participant on one local day. Days without values are
/// included, from the participant's first day with any data to the last.
public struct DailyAvailability: Hashable, Sendable {
    /// The value of the participant tag.
    public var participant: String
    /// The modality.
    public var field: String
    /// The local day.
    public var day: LocalDate
    /// The number of values. Duplicates at one time count once.
    public var count: Int
}
