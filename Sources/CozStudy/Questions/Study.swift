// A study as its coordinators see it: one experiment in one snapshot. Its questions are in
// extensions.

public import CozDB

/// One experiment in one snapshot, and the questions about it.
///
/// Each question runs one statement on the snapshot. The answer contains the statement and typed
/// rows. Safe to use from any thread. Keeps the snapshot's files open. The cost of a question is
/// that of its statement: it grows with the number of values of the fields involved and with
/// participants times days.
public struct Study: Sendable {
    /// The name of the experiment.
    public let experiment: String
    /// The tag that identifies participants.
    public let participantTag: String
    /// The time zone that defines local days.
    public let zone: TimeZoneRules
    /// The options of this study.
    public let options: StudyOptions
    /// The selected participants in byte order. Their totals cover all times, not only the range in
    /// the options.
    public let participants: [ParticipantOverview]

    let snapshot: DatabaseSnapshot
    let schema: ExperimentSchema
    let statements: StudyStatements
    /// The number of values per field, of all participants.
    let valueCounts: [[UInt8]: Int]

    /// Opens a study and collects the totals of its participants.
    ///
    /// Cost: reads directories, no values.
    ///
    /// - Throws: `notFound` for an unknown experiment, participant or field, with a list of known
    ///   names; `usage` for an unknown time zone or a negative gap; `io`, `damaged`, `cancelled`.
    public init(
        _ snapshot: DatabaseSnapshot, experiment: String, options: StudyOptions
    ) throws(DatabaseError) {
        let bytes = Array(experiment.utf8)
        let found = snapshot.schemas.first { Array($0.name.utf8) == bytes }
        guard let schema = found else {
            throw Study.missing("experiment", experiment, among: snapshot.schemas.map(\.name))
        }
        var options = options
        // All questions have one time.
        options.query.now = options.query.currentTime
        guard options.minGap >= .zero else {
            throw DatabaseError(
                .usage,
                "gap between votes: found a negative duration, expected 0 or more")
        }
        self.experiment = experiment
        self.snapshot = snapshot
        self.schema = schema
        self.options = options
        participantTag = options.participantTag ?? schema.identity.participantTag
        zone = try TimeZoneRules(named: options.zone)
        var statements = StudyStatements(
            experiment: experiment, tag: participantTag, zone: zone, options: options,
            isTagAlsoField: schema.field(participantTag) != nil,
            isTagAttribute: !schema.identity.contains(participantTag))
        let all = try ParticipantTotals(snapshot, statements.everything, options, zone)
        participants = try Study.chosen(options.participants, of: all.participants)
        valueCounts = all.counts
        statements.last = all.participants.map(\.last).max()
        self.statements = statements
        for field in options.modalities + [options.surveyField]
        where schema.field(field) == nil && field != StudyFields.survey {
            throw Study.missing(
                "field", field, of: "experiment \"\(experiment)\"",
                among: schema.fields.map(\.name))
        }
    }

    /// The statement that `init` runs to collect participants and fields.
    public var contextStatement: String { statements.everything }

    /// Returns the statement of a question, or nil if the study has no data for it. It can be run,
    /// also modified, with `DatabaseSnapshot.query`.
    public func statement(of question: StudyQuestion) -> String? {
        let hasSurveys = schema.field(options.surveyField) != nil
        let fields = modalities
        switch question {
        case .overview: return statements.overview
        case .responses: return hasSurveys ? statements.responses(start: startField) : nil
        case .votes: return hasSurveys ? statements.votes : nil
        case .goal: return hasSurveys ? statements.goal(field: goalField) : nil
        case .silence: return fields.isEmpty ? nil : statements.silence(fields)
        case .delay: return arrivals.isEmpty ? nil : statements.delays(arrivals)
        case .interval: return fields.isEmpty ? nil : statements.intervals(fields)
        case .availability: return fields.isEmpty ? nil : statements.availability(fields)
        }
    }

    // MARK: Participants and fields

    /// Returns the number of rows of the experiment, for all participants and times. A row is one
    /// time of one participant. Reads times where segments overlap, no values.
    ///
    /// - Throws: `io`, `damaged`.
    public func rowCount() throws(DatabaseError) -> Int {
        try snapshot.rowCount(of: experiment)
    }

    /// Returns the participants and their totals in the time range.
    ///
    /// - Throws: `io`, `damaged`, `cancelled`, `limitExceeded`.
    public func overview() throws(DatabaseError) -> StudyAnswer<ParticipantOverview> {
        let statement = statements.overview
        let held = try ParticipantTotals(snapshot, statement, options, zone)
        let note = held.participants.isEmpty ? nothing : nil
        return StudyAnswer(statement: statement, rows: held.participants, note: note)
    }

    /// Why an answer has no rows.
    var nothing: String {
        if participants.isEmpty { return "experiment \"\(experiment)\" has no rows" }
        return "no rows in this time range; the data covers \(span)"
    }

    private var span: String {
        let first = participants.map(\.first).min() ?? .min
        let last = participants.map(\.last).max() ?? .max
        return "\(zone.text(first)) to \(zone.text(last))"
    }

    /// Why there are no responses, or nil if there are some.
    var noSurveysNote: String? {
        if participants.isEmpty { return nothing }
        if valueCounts[Array(options.surveyField.utf8)] ?? 0 == 0 {
            return "experiment \"\(experiment)\" has no survey rows: \(options.surveyField) has "
                + "no values"
        }
        if participants.allSatisfy({ $0.responses == 0 }) {
            return "these participants have no survey rows"
        }
        return nil
    }

    /// Returns the local days that answers cover for a participant: from their first to their last
    /// day with any data, limited to the time range. Nil if they have none in that range.
    public func days(of participant: ParticipantOverview) -> ClosedRange<LocalDate>? {
        var (first, last) = (participant.days.lowerBound, participant.days.upperBound)
        if let from = options.from {
            if participant.last < from { return nil }
            first = max(first, zone.date(at: from))
        }
        if let until = options.until {
            if participant.first >= until { return nil }
            // The upper bound is exclusive. Clamp it, because nothing precedes the minimum time.
            let end = Timestamp(nanoseconds: max(until, .min).nanoseconds - 1)
            last = min(last, zone.date(at: end))
        }
        return first <= last ? first...last : nil
    }

    /// The fields of `interval`, `availability` and `silence`: those in the options, or else a
    /// default.
    ///
    /// The default is the survey counter and the numeric fields measured by phone (`ts_`) or watch
    /// (`ws_`). It excludes fields that accompany another value, such as longitude, accuracy and
    /// arrival time. A study without such fields uses all numeric fields. Fields without values are
    /// left out.
    public var modalities: [String] {
        if !options.modalities.isEmpty {
            var known: Set<Name> = []
            return options.modalities.filter { known.insert(Name($0)).inserted }
        }
        let stored = schema.fields.filter { valueCounts[Array($0.name.utf8)] ?? 0 > 0 }
        let numbers = stored.filter { $0.type == .float || $0.type == .integer }.map(\.name)
        let measured = numbers.filter { StudyFields.isMeasurement($0) }
        let survey = stored.map(\.name).filter { $0.utf8.elementsEqual(options.surveyField.utf8) }
        let others = measured.isEmpty && survey.isEmpty ? numbers : measured
        return survey + others.filter { !$0.utf8.elementsEqual(options.surveyField.utf8) }
    }

    // MARK: Statements

    func ask(_ statement: String) throws(DatabaseError) -> [QueryResult.Series] {
        var query = options.query
        query.isGenerated = true
        let result = try snapshot.query(statement, options: query)
        if let error = result.statements.first?.error { throw error }
        return result.series
    }

    private static func chosen(
        _ names: [String], of all: [ParticipantOverview]
    ) throws(DatabaseError) -> [ParticipantOverview] {
        guard !names.isEmpty else { return all }
        let known = Set(all.map { Array($0.participant.utf8) })
        for name in names where !known.contains(Array(name.utf8)) {
            throw missing("participant", name, among: all.map(\.participant))
        }
        let wanted = Set(names.map { Array($0.utf8) })
        return all.filter { wanted.contains(Array($0.participant.utf8)) }
    }

    private static func missing(
        _ what: String, _ name: String, of whole: String? = nil, among names: [String]
    ) -> DatabaseError {
        let suggestion = NameSuggestion.text(name, among: names)
        // If the name is a prefix, list only the names that begin with it.
        let alike = names.filter { !name.isEmpty && $0.utf8.starts(with: name.utf8) }
        let listed = alike.isEmpty ? names : alike
        let shown = listed.prefix(10).map { "\"\($0)\"" }.joined(separator: ", ")
        let rest = listed.count > 10 ? ", and \(listed.count - 10) more" : ""
        let known = listed.isEmpty ? "there are none" : "there is \(shown)\(rest)"
        return DatabaseError(
            .notFound,
            "there is no \(what) \"\(name)\"" + (whole.map { " in \($0)" } ?? "")
                + (suggestion.isEmpty ? "; \(known)" : suggestion))
    }
}

extension Identity {
    /// The tag that identifies participants.
    var participantTag: String {
        switch self {
        case .participant(let tag): tag
        case .tags(let names) where !names.contains("id_participant"):
            names.first ?? "id_participant"
        case .tags, .allTags: "id_participant"
        }
    }
}

/// The Cozie fields used by the questions.
enum StudyFields {
    static let survey = "ws_survey_count"
    static let start = "ws_timestamp_start"
    static let goal = "wss_goal"

    /// Whether the name is an independent measurement. `_lambda_ms` fields are arrival times;
    /// longitude, altitude, floor and accuracy accompany each latitude.
    static func isMeasurement(_ name: String) -> Bool {
        guard name.hasBytePrefix("ts_") || name.hasBytePrefix("ws_") else { return false }
        let isCompanion =
            name.hasByteSuffix("_lambda_ms") || name.hasByteSuffix("_longitude")
            || name.hasByteSuffix("_altitude") || name.contains("_location_")
            || name.contains("timestamp")
        return !isCompanion
    }
}
