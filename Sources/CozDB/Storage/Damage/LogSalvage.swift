// Recovers the good commits of a damaged log, before and after the damage.

/// Collects the readable commits of logs.
struct LogSalvage {
    private(set) var memtable = Memtable()
    private(set) var schemas: SchemaSet
    private(set) var lastSequence: UInt64
    /// Text on lost commits.
    private(set) var losses: [String] = []
    /// The number of commits read after lost ones.
    private(set) var commitsBehind = 0
    /// For the last added log: where its last good frame ends, and the next sequence.
    private var endOffset = 0
    private var nextSequence: UInt64 = 0
    /// For the last added log: the ends of its frames before the first gap, each with the running
    /// checksum.
    private var frameEnds: [(offset: Int, checksum: UInt32)] = []

    init(_ manifest: Manifest) {
        schemas = manifest.schemas
        lastSequence = manifest.lastSequence
    }

    /// Applies all whole frames of a log.
    ///
    /// - Returns: whether the file exists.
    mutating func add(
        _ log: Manifest.Log, of manifest: Manifest, in directory: any Directory
    ) throws(DatabaseError) -> Bool {
        (endOffset, nextSequence, frameEnds) = (0, log.firstSequence, [])
        let databaseID = manifest.databaseID
        guard let frames = try LogSalvage.frames(of: log, databaseID: databaseID, in: directory)
        else { return false }
        for frame in frames {
            let first = frame.header.firstSequence
            // If the header is lost too, the first sequence of the log is unknown.
            if first > nextSequence, nextSequence > 0 { note(nextSequence, first - 1) }
            for (index, commit) in frame.commits.enumerated() {
                apply(commit, sequence: first &+ UInt64(index))
            }
            nextSequence = first &+ UInt64(frame.header.commitCount)
        }
        endOffset = frames.last?.endOffset ?? 0
        var (offset, checksum) = (LogFormat.headerSizeBytes, UInt32(0))
        for frame in frames {
            offset += LogFormat.frameSizeBytes(payload: frame.header.payloadSizeBytes)
            guard frame.endOffset == offset else { break }
            checksum = LogFormat.chained(checksum, frame.header.payloadChecksum)
            frameEnds.append((offset, checksum))
        }
        return true
    }

    /// Reports what is lost at the end of the last added log.
    ///
    /// - Parameter next: the first sequence of the following log; nil if it is unknown.
    mutating func noteEnd(
        of log: Manifest.Log, before next: UInt64?, _ acknowledged: AcknowledgedState?
    ) {
        let first = max(1, nextSequence)
        if let next, next > first { return note(first, next - 1) }
        var size = log.sealedSizeBytes
        if let acknowledged, acknowledged.logNumber == log.number {
            size = Int(clamping: acknowledged.logSizeBytes)
        }
        if let size {
            if endOffset < size {
                losses.append("commits from sequence \(first) on, in unknown experiments")
            } else if let acknowledged, hasOtherCommits(log, acknowledged) {
                losses.append("acknowledged commits, for which this log has others")
            }
        } else if endOffset == 0 {
            losses.append("commits from sequence \(first) on, if there were any")
        }
    }

    /// Whether the last added log has other commits than the acknowledged ones.
    private func hasOtherCommits(_ log: Manifest.Log, _ acknowledged: AcknowledgedState) -> Bool {
        guard acknowledged.logNumber == log.number, acknowledged.logChecksum != 0,
            UInt64(frameEnds.last?.offset ?? 0) >= acknowledged.logSizeBytes
        else { return false }
        return !frameEnds.contains {
            UInt64($0.offset) == acknowledged.logSizeBytes
                && $0.checksum == acknowledged.logChecksum
        }
    }

    private mutating func note(_ first: UInt64, _ last: UInt64) {
        losses.append(
            first == last
                ? "commit \(first), in an unknown experiment"
                : "commits \(first) to \(last), in unknown experiments")
    }

    /// Applies a commit. It is lost if it needs, for example, a column of a lost commit.
    private mutating func apply(_ commit: [UInt8], sequence: UInt64) {
        do throws(FormatError) {
            // Tried on a copy first, because half a commit must not stay.
            var tried = schemas
            try Memtable().apply(commit, sequence: sequence, schemas: &tried)
            try memtable.apply(commit, sequence: sequence, schemas: &schemas)
            lastSequence = max(lastSequence, sequence)
            if !losses.isEmpty { commitsBehind += 1 }
        } catch {
            losses.append(
                "commit \(sequence), which depends on an earlier, lost commit")
        }
    }

    private struct Frame {
        var header: FrameHeader
        var commits: [[UInt8]]
        var endOffset: Int
    }

    /// Collects what the whole frames of logs have, in the order of the logs.
    static func columns(
        of logs: [Manifest.Log], databaseID: UInt64, in directory: any Directory
    ) throws(DatabaseError) -> CommitColumns {
        var columns = CommitColumns()
        for log in logs {
            let frames = try frames(of: log, databaseID: databaseID, in: directory) ?? []
            // The part of a commit before its damage is valid too.
            for commit in frames.flatMap(\.commits) {
                try? CommitRecord.read(commit, into: &columns)
            }
        }
        return columns
    }

    /// All whole frames of a log; nil if the file is missing.
    private static func frames(
        of log: Manifest.Log, databaseID: UInt64, in directory: any Directory
    ) throws(DatabaseError) -> [Frame]? {
        let name = FileName.log(log.number).text
        let bytes = try calling("reading the write-ahead log") { () throws(FileError) -> [UInt8]? in
            guard let file = try directory.openIfPresent(name) else { return nil }
            return try file.readReadable(count: file.size(), at: 0).bytes
        }
        let identity = LogIdentity(
            databaseID: databaseID, number: log.number, firstSequence: log.firstSequence)
        return bytes.map { frames(in: $0.span, identity, from: log.firstSequence) }
    }

    private static func frames(
        in bytes: Span<UInt8>, _ identity: LogIdentity, from sequence: UInt64
    ) -> [Frame] {
        var frames: [Frame] = []
        var next = sequence
        var offset = LogFormat.headerSizeBytes
        while offset + LogFormat.frameHeaderSizeBytes <= bytes.count {
            guard let frame = frame(in: bytes, at: offset, identity),
                frame.header.firstSequence >= next
            else {
                offset += LogFormat.alignment
                continue
            }
            frames.append(frame)
            next = frame.header.firstSequence &+ UInt64(frame.header.commitCount)
            offset = frame.endOffset
        }
        return frames
    }

    private static func frame(
        in bytes: Span<UInt8>, at offset: Int, _ identity: LogIdentity
    ) -> Frame? {
        let start = offset + LogFormat.frameHeaderSizeBytes
        guard
            let header = FrameHeader.read(
                bytes.extracting(offset..<start), log: identity, offset: offset),
            header.payloadSizeBytes <= bytes.count - start,
            header.firstSequence < Manifest.counterLimit
        else { return nil }
        let payload = bytes.extracting(start..<(start + header.payloadSizeBytes))
        let seed = LogFormat.seed(identity, offset: offset)
        guard checksum(payload, seed: seed) == header.payloadChecksum,
            let plain = try? LogReader.expanded([UInt8](copying: payload), header),
            let commits = try? LogReader.split(plain, count: header.commitCount)
        else { return nil }
        return Frame(
            header: header, commits: commits,
            endOffset: offset + LogFormat.frameSizeBytes(payload: header.payloadSizeBytes))
    }
}

/// Collects what the commits of logs have.
struct CommitColumns: CommitReceiver {
    /// The types of fields. A log has values of only one type of a field, because a change of type
    /// stores all earlier values in segments.
    private(set) var types: [Int: [ColumnID: FieldType]] = [:]
    /// The experiments that no commit creates before using them.
    private(set) var experiments: Set<Int> = []
    /// The distinct lists of identity tags in an experiment.
    private(set) var tagNames: [Int: Set<[Name]>] = [:]
    /// The names of columns that commits add to an experiment.
    private(set) var addedNames: [Int: Set<Name>] = [:]
    private var attributes: [Int: Set<ColumnID>] = [:]
    private var created: Set<Int> = []
    /// The first column that a commit adds to an experiment.
    private var firstAdded: [Int: ColumnID] = [:]
    private var experiment = 0

    /// The columns that exist before the first commit. They have no names.
    func columns(of experiment: Int) -> [ColumnID: Column] {
        var columns: [ColumnID: Column] = [:]
        for (id, type) in types[experiment] ?? [:] {
            columns[id] = Column(id: id, name: "", kind: .field, type: type)
        }
        for id in attributes[experiment] ?? [] {
            columns[id] = Column(id: id, name: "", kind: .attribute, type: .string)
        }
        guard let end = firstAdded[experiment] else { return columns }
        columns = columns.filter { $0.key < end }
        if end > 0, columns[end - 1] == nil {
            // So that the columns before it are added.
            columns[end - 1] = Column(id: end - 1, name: "", kind: .field, type: .float)
        }
        return columns
    }

    mutating func beginTable(experiment: Int) {
        self.experiment = experiment
        note(experiment)
    }

    private mutating func note(_ experiment: Int) {
        // Beyond, there is no number for the next experiment.
        guard !created.contains(experiment), experiment < UInt32.max - 1 else { return }
        experiments.insert(experiment)
    }

    mutating func receiveColumn(_ column: ColumnID, type: FieldType) {
        types[experiment, default: [:]][column] = type
    }

    mutating func receive(_ change: SchemaChange) {
        switch change {
        case .experiment(let schema): created.insert(schema.id)
        case .column(let experiment, let column):
            if firstAdded[experiment] == nil { firstAdded[experiment] = column.id }
            addedNames[experiment, default: []].insert(Name(column.name))
            note(experiment)
        case .preset, .declaration: break
        }
    }

    mutating func receive(_ entry: JournalEntry) {}
    mutating func receiveString(_ bytes: Span<UInt8>) -> UInt64 { 0 }
    mutating func receiveTagSet(
        key: Span<UInt8>, attributes: [(column: ColumnID, value: [UInt8])]
    ) {
        let names = SeriesKey(canonical: [UInt8](copying: key)).tags.map { Name($0.name) }
        tagNames[experiment, default: []].insert(names)
        for attribute in attributes {
            self.attributes[experiment, default: []].insert(attribute.column)
        }
    }

    mutating func receiveLayout(_ columns: Span<UInt32>) {}
    mutating func receiveRow(tagSet: Int, time: Int64, layout: Int, bits: Span<UInt64>) {}
}
