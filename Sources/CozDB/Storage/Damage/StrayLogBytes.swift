// Finds nonzero bytes where a log should only have zeros: between its frames and after the end of a
// complete log. They affect no commit, and only `check` looks for them.

/// Searches the parts of a log that hold no commits.
enum StrayLogBytes {
    private static let pieceSizeBytes = 1 << 20

    /// The first nonzero byte in such a part, as an error; nil if there is none.
    ///
    /// - Throws: `damaged` if the commits cannot be read, `io` if the system refuses to read the
    ///   file.
    static func find(
        in log: Manifest.Log, of manifest: Manifest, _ directory: any Directory
    ) throws(DatabaseError) -> DatabaseError? {
        let identity = LogIdentity(
            databaseID: manifest.databaseID, number: log.number, firstSequence: log.firstSequence)
        let name = FileName.log(log.number).text
        let file = try calling("reading the write-ahead log") { () throws(FileError) in
            try directory.open(name, writable: false)
        }
        var reader = try LogReader(file, expecting: identity, sealedSizeBytes: log.sealedSizeBytes)
        while try reader.next() != nil {}
        var offset = reader.strayOffset
        if offset == nil, let sealed = log.sealedSizeBytes {
            offset = try calling("reading the write-ahead log") { () throws(FileError) -> Int? in
                let size = try file.size()
                for start in stride(from: sealed, to: size, by: pieceSizeBytes) {
                    let count = min(pieceSizeBytes, size - start)
                    let bytes = try file.readAll(count: count, at: start)
                    if let index = bytes.firstIndex(where: { $0 != 0 }) { return start + index }
                }
                return nil
            }
        }
        guard let offset else { return nil }
        return DatabaseError(
            .damaged,
            "found other bytes than zeros between the commits of the log or after its end",
            file: file.path, offset: offset)
    }
}
