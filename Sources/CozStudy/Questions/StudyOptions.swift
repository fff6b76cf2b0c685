// The questions of a study, their options, and the answer type.

public import CozDB

/// The questions about a study.
public enum StudyQuestion: String, CaseIterable, Sendable {
    /// Participants with their time range and totals.
    case overview
    /// Survey responses per participant and local day.
    case responses
    /// Valid votes per participant and local day.
    case votes
    /// Cumulative responses against the goal.
    case goal
    /// Time since the last response and the last value.
    case silence
    /// Delay between measurement and arrival, by trigger.
    case delay
    /// Sampling interval per modality.
    case interval
    /// Number of values per participant, modality and local day.
    case availability
}

/// Options of the questions. The defaults select everything, in UTC.
public struct StudyOptions: Sendable {
    /// The time zone that defines local days, a tz database name such as `Asia/Singapore`.
    public var zone = "UTC"
    /// The inclusive start of the time range. Nil means no bound. Valid votes and progress towards
    /// the goal are still computed from the first response.
    public var from: Timestamp?
    /// The exclusive end of the time range. Nil means no bound.
    public var until: Timestamp?
    /// The selected participants. Empty selects all.
    public var participants: [String] = []
    /// The fields of `interval`, `availability`, `silence` and `delay`. Empty selects the default
    /// (`Study.modalities`).
    public var modalities: [String] = []
    /// The field that marks a row as a response.
    public var surveyField = "ws_survey_count"
    /// The required responses per participant. Nil uses the last `wss_goal` of each participant.
    public var goal: Int?
    /// The minimum time between two valid votes.
    ///
    /// Source: coziepy (`keep_valid_votes_participant`) and the published data sets use 55 minutes.
    public var minGap = Duration.seconds(55 * 60)
    /// Whether `delay` and `interval` cover each participant separately.
    public var isByParticipant = false
    /// The tag that identifies participants. Nil derives it from the experiment's identity: its
    /// participant tag, else `id_participant`. A tag list without `id_participant` uses its first
    /// tag.
    public var participantTag: String?
    /// Clock, limits and cancellation check of the statements.
    ///
    /// The limit of a statement's text (`QueryLimits.textSizeBytesMax`) does not apply, because
    /// the length of the statements follows the number of fields.
    public var query: QueryOptions

    /// Creates the default options.
    ///
    /// - Parameter now: the current time, used to compute silence.
    public init(now: Timestamp) {
        query = QueryOptions(now: now)
    }
}

/// The answer to a question.
public struct StudyAnswer<Row: Sendable>: Sendable {
    /// The statement that was run. Nil if the study has no data for the question.
    public var statement: String?
    /// Ordered by participant, then by field or trigger, then by day.
    public var rows: [Row]
    /// The reason for an empty answer, if it needs one.
    public var note: String?

    init(statement: String? = nil, rows: [Row] = [], note: String? = nil) {
        self.statement = statement
        self.rows = rows
        self.note = note
    }
}
