// Watch surveys registered for an experiment: its fields of answers get questions and options.

public import CozDB

/// What a registration did.
public struct SurveyRegistration: Sendable {
    /// Whether the experiment was created for it.
    public var isNewExperiment = false
    /// Fields that were declared, in the order of the survey.
    public var fields: [String] = []
    /// Fields among them that had another question or other options before.
    public var changedFields: [String] = []
    /// Fields among them whose stored values are no strings: their answers are not counted.
    public var conflicts: [TypeConflict] = []
}

extension Database {
    /// Registers a survey for an experiment: the fields of its answers become strings with question
    /// and options, durably. Several surveys can be registered for one experiment; of one question
    /// the later registration counts.
    ///
    /// - Parameters:
    ///   - keepsOptions: whether options that were registered before stay, behind the new ones:
    ///     for a survey that was changed while the study ran.
    ///   - settings: of the experiment, where it does not exist yet.
    /// - Throws: as `declare`.
    @discardableResult
    public func register(
        _ survey: WatchSurvey, for experiment: String, keepsOptions: Bool = false,
        settings: ExperimentSettings = ExperimentSettings()
    ) throws(DatabaseError) -> SurveyRegistration {
        let schema = try schemas().first { $0.name.utf8.elementsEqual(experiment.utf8) }
        var result = SurveyRegistration()
        result.isNewExperiment = schema == nil
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
        for option in other.options
        where !options.contains(where: { $0.utf8.elementsEqual(option.utf8) }) {
            options.append(option)
        }
    }

    fileprivate func asks(as other: SchemaPreset.Field) -> Bool {
        question.utf8.elementsEqual(other.question.utf8)
            && options.map { Array($0.utf8) } == other.options.map { Array($0.utf8) }
    }
}
