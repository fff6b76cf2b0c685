// Registers watch surveys for an experiment: declares its answer fields with questions and options.

public import CozDB

/// The result of a registration.
public struct SurveyRegistration: Sendable {
    /// Whether the registration created the experiment.
    public var isNewExperiment = false
    /// The declared fields, in survey order.
    public var fields: [String] = []
    /// The declared fields whose question or options changed.
    public var changedFields: [String] = []
    /// The declared fields that store another type than strings. Their answers are not counted.
    public var conflicts: [TypeConflict] = []
}

extension Database {
    /// Registers a survey for an experiment: durably declares its answer fields as strings with
    /// question and options. An experiment can have several surveys. If they share a question, the
    /// last registration wins.
    ///
    /// - Parameters:
    ///   - survey: the survey to register.
    ///   - experiment: the name of the experiment. Created if it does not exist.
    ///   - keepsOptions: whether to keep earlier options after the new ones, for a survey that
    ///     changed during the study.
    ///   - settings: used if the experiment is created.
    /// - Returns: the declared fields, the changes and the type conflicts.
    /// - Throws: the errors of `declare`.
    public func register(
        _ survey: WatchSurvey, for experiment: String, keepsOptions: Bool = false,
        settings: ExperimentSettings = ExperimentSettings()
    ) throws(DatabaseError) -> SurveyRegistration {
        let schema = try schemas().first { $0.name.utf8.elementsEqual(experiment.utf8) }
        var result = SurveyRegistration()
        result.isNewExperiment = schema == nil && !survey.declarations.isEmpty
        let known = Dictionary(
            (schema?.declarations ?? []).map { (Array($0.name.utf8), $0) },
            uniquingKeysWith: { _, last in last })
        var fields = survey.declarations
        for index in fields.indices {
            result.fields.append(fields[index].name)
            guard let old = known[Array(fields[index].name.utf8)] else { continue }
            if keepsOptions { fields[index].addOptions(of: old) }
            if !fields[index].asks(as: old) { result.changedFields.append(old.name) }
        }
        let report = try declare(
            experiment: experiment, fields: fields,
            settings: schema == nil ? settings : ExperimentSettings())
        result.conflicts = report.conflicts
        return result
    }
}

extension SchemaPreset.Field {
    fileprivate mutating func addOptions(of other: SchemaPreset.Field) {
        var known = Set(options.map { Array($0.utf8) })
        for option in other.options where known.insert(Array(option.utf8)).inserted {
            options.append(option)
        }
    }

    fileprivate func asks(as other: SchemaPreset.Field) -> Bool {
        question.utf8.elementsEqual(other.question.utf8)
            && options.map { Array($0.utf8) } == other.options.map { Array($0.utf8) }
    }
}
