// The preset `cozie-v3`: the catalogue as declarations.

public import CozDB

extension SchemaPreset {
    /// The preset `cozie-v3`: the fields of `CozieCatalogue.v3` with types, units and notes. Types
    /// follow what the app sends. All measurements are floats, although the documentation and the
    /// backend's lists make some integers. Counts and settings are integers. All answers (`q_*`)
    /// are strings, even those that look like numbers.
    ///
    /// Companion fields are declared by patterns without notes, because a pattern does not name its
    /// field. `CozieCatalogue.field(named:)` returns their meaning.
    ///
    /// Names of Cozie 2 are not declared: the first value decides the type of such a field.
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
