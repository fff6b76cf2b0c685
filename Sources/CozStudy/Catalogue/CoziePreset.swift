// The preset `cozie-v3`: the catalogue as declarations.

public import CozDB

extension SchemaPreset {
    /// The preset `cozie-v3`: the fields of `CozieCatalogue.v3` with their types, units and
    /// meanings. Types are those of what the app sends: floats for all measurements, though the
    /// documentation and the backend's lists make integers of some; integers for counts and
    /// settings; strings for all answers (`q_*`), also those that look like numbers.
    ///
    /// What the backend adds beside fields is declared by patterns without notes, as a pattern
    /// cannot say beside which; `CozieCatalogue.field(named:)` can.
    ///
    /// Names of Cozie 2 are not declared: their values lock the types of their fields.
    public static let cozieV3 = SchemaPreset(
        name: "cozie-v3",
        fields: CozieCatalogue.v3.fields.flatMap { field in
            ([field.name] + field.formerNames).compactMap { name in
                field.type.map {
                    let note = field.isPattern && field.device == .server ? "" : field.meaning
                    return SchemaPreset.Field(name, $0, unit: field.unit, note: note)
                }
            }
        })
}
