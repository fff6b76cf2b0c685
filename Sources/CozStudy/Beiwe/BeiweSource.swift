// Decides which patient and stream a file belongs to.

internal import CozDB
internal import CozImport

/// The patient and stream of a file. The path decides first, then the options, then the header.
struct BeiweSource {
    /// The rows of one patient in one stream.
    struct Series: Hashable {
        var stream: Name
        var patient: Name
    }

    /// The name of the stream and its experiment.
    var stream: String
    var patient: String
    var survey: String?
    /// The time in the file name, in milliseconds since 1970. Nil if there is none.
    var milliseconds: Int64?

    /// - Throws: `usage` if path, options and header do not tell the patient or the stream.
    init(
        _ file: InputFile, _ header: BeiweHeader, _ options: BeiweOptions, _ imports: ImportOptions
    ) throws(DatabaseError) {
        let place = BeiweFilePath(path: file.name, folder: file.folder)
        survey = place.survey
        milliseconds = place.milliseconds
        if let found = place.stream {
            stream = found
        } else {
            stream = try BeiweSource.stream(of: file, header, options)
        }
        guard let patient = place.patient ?? imports.participant, !patient.isEmpty else {
            throw DatabaseError(
                .usage,
                "is not in a patient folder, expected PATIENT/\(stream)/FILE in the imported "
                    + "folder; move it there, or give a participant",
                file: file.name, remedy: .change([.participant]))
        }
        self.patient = patient
    }

    /// Returns the stream of a file outside a stream folder: the only one with such a header, else
    /// the one in the options.
    private static func stream(
        of file: InputFile, _ header: BeiweHeader, _ options: BeiweOptions
    ) throws(DatabaseError) -> String {
        let candidates = header.candidates
        if candidates.count == 1 { return candidates[0] }
        if let name = options.stream { return BeiweStream.named(name)?.name ?? name }
        let found = header.names.joined(separator: ",")
        let which =
            candidates.isEmpty ? "no known stream" : candidates.joined(separator: " and of ")
        throw DatabaseError(
            .usage,
            "is not in a stream folder, and its header \"\(found)\" is that of \(which), expected "
                + "that of one stream; name the stream",
            file: file.name, remedy: .change([.stream]))
    }

    /// Whether a file comes from Beiwe. Reads the header only if the path does not tell.
    static func isReadable(
        _ file: InputFile, _ options: BeiweOptions, _ imports: ImportOptions
    ) throws(DatabaseError) -> Bool {
        let name = file.name
        let isTable = name.hasByteSuffix(".csv") || name.hasByteSuffix(".csv.gz")
        if file.folder != nil && !isTable { return false }
        let place = BeiweFilePath(path: file.name, folder: file.folder)
        if place.patient != nil && place.stream != nil && file.folder != nil { return true }
        // Accept empty files silently.
        let head = try file.peek()
        if head.isEmpty { return true }
        guard let header = BeiweHeader(head: head) else { return false }
        guard header.isBeiwe || place.stream != nil || options.stream != nil else { return false }
        _ = try BeiweSource(file, header, options, imports)
        return true
    }
}

extension BeiweSource {
    /// The rows that are numbered together: those of one patient and stream.
    var series: Series {
        Series(stream: Name(stream), patient: Name(patient))
    }
}
