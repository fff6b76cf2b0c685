// The researcher API's CSV as one of the formats of an import.

internal import CozDB
public import CozImport

extension InputFormat {
    /// What the researcher API delivers, and `ResearcherExport` writes: a column without a name,
    /// one called `index` with the times, then tags and fields. The experiment is not in the file;
    /// `ImportOptions.experiment` names it.
    ///
    /// `id_participant`, `id_device` and `id_password` are tags. Every other column is a field,
    /// `id_onesignal` too: the API delivers no tags but those three. Types: as stored, or
    /// declared; else those of the Cozie fields; else of the column as a whole: numbers alone are
    /// floats, `True` and `False` alone booleans, everything else is text. `q_*` always is text.
    /// An empty cell is no value.
    public static let cozieCSV = InputFormat(
        name: "cozie-csv", preset: .cozieV3,
        recognizes: { head, _ in CozieHeader.begins(head) },
        makeReader: { options throws(DatabaseError) in try CozieCSVReader(options) })
}
