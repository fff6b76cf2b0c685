// The description of a column: from the declarations of its experiment, otherwise from the
// catalogue of Cozie fields.

internal import CozDB
internal import CozStudy

/// Unit, description, question and options of a column; empty if unknown.
struct ColumnText {
    let name: String
    private(set) var unit: String
    private(set) var description: String
    private(set) var question = ""
    private(set) var options: [String] = []

    init(_ column: Column, in schema: ExperimentSchema?) {
        name = column.name
        unit = column.unit
        description = column.note
        if column.kind == .field, let declared = schema?.declaration(of: column.name) {
            question = declared.question
            options = declared.options
            if !question.isEmpty { description = question }
        }
        guard let field = ColumnText.catalogued(column, in: schema) else { return }
        if unit.isEmpty { unit = field.unit }
        if description.isEmpty { description = field.meaning }
    }

    /// The catalogue field of this name, if the column can be that field. Fields of other data may
    /// have the same name.
    private static func catalogued(_ column: Column, in schema: ExperimentSchema?) -> CozieField? {
        let isCozie = schema?.preset == SchemaPreset.cozieV3.name
        guard let field = CozieCatalogue.v3.field(named: column.name), let type = field.type,
            field.pattern == nil || field.group == "q" || isCozie
        else { return nil }
        let isNumber = type.isNumber && column.type.isNumber
        return type == column.type || isNumber ? field : nil
    }
}

extension FieldType {
    var isNumber: Bool { self == .float || self == .integer }
}
