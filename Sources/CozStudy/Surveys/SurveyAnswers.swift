// Counts how often each answer of a survey was given, including answers that are not among its
// options.

public import CozDB

/// The stored answers to one question.
public struct SurveyAnswers: Sendable {
    /// An answer and how often it is stored.
    public struct Count: Hashable, Sendable {
        /// The answer as stored.
        public var answer: String
        /// The number of rows with this answer.
        public var rows: Int
        /// The number of surveys with this answer. Rows of a participant with equal start times
        /// (`ws_timestamp_start`) are one survey, because a double tap makes the app send it again.
        /// Nil if the experiment does not have that field.
        public var surveys: Int?
    }

    /// The field that stores the answers.
    public var field: String
    /// The question. Empty if no registered survey has it.
    public var question: String
    /// Whether a registered survey has the question.
    public var isRegistered: Bool
    /// The offered answers in survey order, including those never chosen.
    public var offered: [Count]
    /// Other answers, most frequent first.
    public var others: [Count]

    /// The number of rows with an answer.
    public var total: Int { (offered + others).reduce(0) { $0 + $1.rows } }
}

extension Database {
    /// Counts the stored answers of an experiment. Covers all questions registered for it
    /// (`declare`) in order of registration, then other string fields that begin with `q_`, by
    /// name.
    ///
    /// Counts rows, and also the surveys that they come from.
    ///
    /// Cost: reads all answers and start times once.
    ///
    /// - Throws: `notFound` for an unknown experiment; the errors of `query`.
    public func surveyAnswers(of experiment: String) throws(DatabaseError) -> [SurveyAnswers] {
        let schemas = try schemas()
        guard let schema = schemas.first(where: { $0.name.utf8.elementsEqual(experiment.utf8) })
        else {
            let near = NameSuggestion.text(experiment, among: schemas.map(\.name))
            throw DatabaseError(
                .notFound,
                "found no experiment \"\(experiment)\", expected an existing one"
                    + near)
        }
        let registered = schema.declarations.filter { !$0.question.isEmpty || !$0.options.isEmpty }
        let names = Set(registered.map { Array($0.name.utf8) })
        let others = schema.fields.filter {
            $0.type == .string && $0.name.utf8.starts(with: "q_".utf8)
                && !names.contains(Array($0.name.utf8))
        }
        let fields =
            registered.map { (field: $0, isRegistered: true) }
            + others.map { (field: SchemaPreset.Field($0.name, .string), isRegistered: false) }
        let stored = fields.filter { schema.field($0.field.name)?.type == .string }
        var counter = AnswerCounter(stored.map(\.field.name), in: schema)
        if !stored.isEmpty {
            var options = QueryOptions()
            // There may be no tag that tells participants apart.
            options.influxCompatible = true
            options.isGenerated = true
            try query(counter.statement, options: options, into: &counter)
        }
        var counts = counter.counts[...]
        return fields.map { field, isRegistered in
            let isStored = schema.field(field.name)?.type == .string
            // The count of surveys with an answer that was never given.
            let none = counter.countsSurveys ? 0 : nil
            return SurveyAnswers(
                field, isStored ? counts.removeFirst() : [], isRegistered: isRegistered,
                surveysOfNone: none)
        }
    }
}

extension SurveyAnswers {
    fileprivate init(
        _ field: SchemaPreset.Field, _ counts: [Count], isRegistered: Bool, surveysOfNone: Int?
    ) {
        self.field = field.name
        question = field.question
        self.isRegistered = isRegistered
        var rest = Dictionary(
            counts.map { (Array($0.answer.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        offered = field.options.map { option in
            rest.removeValue(forKey: Array(option.utf8))
                ?? Count(answer: option, rows: 0, surveys: surveysOfNone)
        }
        others = rest.values
            .sorted {
                $0.rows != $1.rows
                    ? $0.rows > $1.rows
                    : $0.answer.utf8.lexicographicallyPrecedes($1.answer.utf8)
            }
    }
}
