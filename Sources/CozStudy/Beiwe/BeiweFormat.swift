// The import format of Beiwe exports.

internal import CozDB
public import CozImport

extension InputFormat {
    /// Data of the Beiwe app as its server exports it: a folder per patient, in it a folder per
    /// stream, in it one CSV file per hour. Reads whole folders.
    ///
    /// Each stream (`gps`, `accelerometer`) becomes an experiment, and the patient becomes the
    /// participant. `ImportOptions.experiment`, the study, becomes the tag `id_experiment`. Files
    /// outside such folders need `ImportOptions.participant`, and also `BeiweOptions.stream` if
    /// several streams share their header. See `docs/beiwe.md`.
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
