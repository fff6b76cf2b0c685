// Beiwe exports as one of the formats of an import.

internal import CozDB
public import CozImport

extension InputFormat {
    /// Data that the Beiwe app collected, as the server exports it: a folder for each patient, in
    /// it one for each stream, in that CSV files of an hour each. Reads whole folders.
    ///
    /// Experiments are the streams (`gps`, `accelerometer`), the participant is the patient, and
    /// `ImportOptions.experiment`, the study, becomes the tag `id_experiment`. Files outside of
    /// such folders need `ImportOptions.participant`, and `BeiweOptions.stream` where the header
    /// is that of several streams. See `docs/beiwe.md`.
    public static func beiwe(_ options: BeiweOptions = BeiweOptions()) -> InputFormat {
        var format = InputFormat(
            name: "beiwe",
            recognizes: { head, _ in BeiweHeader(head: head)?.isCertainlyBeiwe ?? false },
            makeReader: { imports in BeiweReader(options, imports) })
        format.reads = { (file, imports) throws(DatabaseError) in
            try BeiweSource.isReadable(file, options, imports)
        }
        return format
    }
}
