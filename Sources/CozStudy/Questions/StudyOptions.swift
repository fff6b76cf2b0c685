// How the questions of a study are asked, and which there are.

public import CozDB

/// What one can ask of a study.
public enum StudyQuestion: String, CaseIterable, Sendable {
    /// Who takes part, since when, with how much data.
    case overview
    /// Survey responses per participant and local day.
    case responses
    /// Valid votes among them.
    case votes
    /// Cumulative responses against the goal.
    case goal
    /// Time since the last entry.
    case silence
    /// Logging delay by trigger.
    case delay
    /// Sampling interval per modality.
    case interval
    /// Which data is there, per participant, modality and local day.
    case availability
}

/// How the questions of a study are asked; what is left out asks for everything, in UTC.
public struct StudyOptions: Sendable {
    /// Zone of the tz database whose days are counted, such as `Asia/Singapore`.
    public var zone = "UTC"
    /// Answers are about times from here on; nil for all. What makes a vote valid, and how far
    /// a participant is on the way to the goal, counts from the very first response all the same.
    public var from: Timestamp?
    /// ... and before this.
    public var until: Timestamp?
    /// Participants asked for; none is all.
    public var participants: [String] = []
    /// Fields that `interval`, `availability`, `silence` and `delay` are about; none chooses by
    /// what is stored (`Study.modalities`).
    public var modalities: [String] = []
    /// The field that makes a row a response.
    public var surveyField = "ws_survey_count"
    /// Responses wanted of each participant; nil takes the last `wss_goal` of each.
    public var goal: Int?
    /// Time that must pass after a valid vote before another one is.
    ///
    /// Source: 55 minutes are what coziepy (`keep_valid_votes_participant`) and the published data
    /// sets use.
    public var minGap = Duration.seconds(55 * 60)
    /// Whether `delay` and `interval` are answered for each participant, not for all together.
    public var isByParticipant = false
    /// The tag that names participants; nil takes what the experiment's identity says, where that
    /// is no single tag `id_participant`.
    public var participantTag: String?
    /// Clock, limits and cancellation of the statements.
    public var query: QueryOptions

    /// - Parameter now: the clock by which silence is counted.
    public init(now: Timestamp) {
        query = QueryOptions(now: now)
    }
}

/// The answer to one question.
public struct StudyAnswer<Row: Sendable>: Sendable {
    /// The statement that was asked; nil where there was nothing to ask for.
    public var statement: String?
    /// By participant, then by what the rows are about, then by day.
    public var rows: [Row]
    /// Why there is nothing, where a reader would ask.
    public var note: String?

    init(statement: String? = nil, rows: [Row] = [], note: String? = nil) {
        self.statement = statement
        self.rows = rows
        self.note = note
    }
}
