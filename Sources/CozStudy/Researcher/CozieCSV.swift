// The import format of the researcher API's CSV.

internal import CozDB
public import CozImport

extension InputFormat {
    /// The CSV of the researcher API and of `ResearcherExport`: an unnamed column, a column `index`
    /// with the times, then tags and fields. The file does not name the experiment;
    /// `ImportOptions.experiment` does.
    ///
    /// `id_participant`, `id_device` and `id_password` are tags, because the API delivers no other
    /// tags. All other columns are fields, including `id_onesignal`. Empty cells are no values.
    ///
    /// The type of a field is its stored type, else text for `q_*`, else its declared type, else
    /// that of the Cozie catalogue. Otherwise the whole column decides: only numbers are floats,
    /// only `True` and `False` are booleans, anything else is text.
    public static let cozieCSV = InputFormat(
        name: "cozie-csv", preset: .cozieV3,
        recognizes: { head, _ in CozieHeader.begins(head) },
        makeReader: { options throws(DatabaseError) in try CozieCSVReader(options) })
}
