// Replays the logs of a manifest into a memtable, for recovery and for readers of a live database.

struct LogReplay {
    let memtable = Memtable()
    private(set) var schemas: SchemaSet
    /// Sequence of the last commit; that of the manifest if the logs are empty.
    private(set) var lastSequence: UInt64
    /// Size of the torn tail of the last log; 0 if there is none.
    private(set) var tornBytes = 0
    /// The first frame padding that is not zero; nil if all are.
    private(set) var strayOffset: Int?

    /// - Parameter acknowledged: the last acknowledged state; nil skips the check of the logs'
    ///   ends.
    /// - Throws: `damaged` for a log that is not as it was written; `notFound` for a missing log,
    ///   which tells a reader to read the manifest again.
    init(
        _ manifest: Manifest, acknowledged: AcknowledgedState? = nil, in directory: any Directory
    ) throws(DatabaseError) {
        schemas = manifest.schemas
        lastSequence = manifest.lastSequence
        // Opens all logs before reading any. Open files stay readable when the writer removes them.
        let files = try manifest.logs.map { (log) throws(DatabaseError) in
            try calling("opening the write-ahead log") { () throws(FileError) in
                try directory.open(FileName.log(log.number).text, writable: false)
            }
        }
        for (log, file) in zip(manifest.logs, files) {
            let identity = LogIdentity(
                databaseID: manifest.databaseID, number: log.number,
                firstSequence: log.firstSequence)
            var reader = try LogReader(
                file, expecting: identity, sealedSizeBytes: log.sealedSizeBytes,
                acknowledged: acknowledged)
            while let frame = try reader.next() {
                for (index, commit) in frame.commits.enumerated() {
                    let sequence = frame.firstSequence + UInt64(index)
                    try namingFile(file.path) { () throws(FormatError) in
                        try memtable.apply(commit, sequence: sequence, schemas: &schemas)
                    }
                    lastSequence = sequence
                }
            }
            if reader.tornBytes > 0 { tornBytes = reader.tornBytes }
            strayOffset = strayOffset ?? reader.strayOffset
            try reader.checkReach()
        }
    }
}
