// Brings the commits of the logs that a manifest names into a memtable: what recovery and every
// reader of a live database do.

struct LogReplay {
    let memtable = Memtable()
    private(set) var schemas: SchemaSet
    /// Sequence of the last commit; that of the manifest where the logs are empty.
    private(set) var lastSequence: UInt64
    /// Bytes of a frame that was being written when the writer ended, if any.
    private(set) var tornBytes = 0

    /// - Parameter acknowledged: the last acknowledged state; nil skips the check of the log's end.
    /// - Throws: `damaged` for a log that cannot be what was written; `notFound` where a log is
    ///   gone, which tells a reader to take the newer manifest.
    init(
        _ manifest: Manifest, acknowledged: AcknowledgedState? = nil, in directory: any Directory
    ) throws(DatabaseError) {
        schemas = manifest.schemas
        lastSequence = manifest.lastSequence
        // All are opened before any is read: what is open stays, whatever the writer removes.
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
                    try apply(commit, sequence: sequence, file: file.path)
                }
            }
            if case .torn(let bytes) = reader.end { tornBytes = bytes }
            try reader.checkReach()
        }
    }

    private mutating func apply(
        _ commit: [UInt8], sequence: UInt64, file: String
    ) throws(DatabaseError) {
        var changed = schemas
        let memtable = memtable
        try namingFile(file) { () throws(FormatError) in
            try memtable.apply(commit, sequence: sequence, schemas: &changed)
        }
        schemas = changed
        lastSequence = sequence
    }
}
