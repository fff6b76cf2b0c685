// Information about a database: sizes, counts and columns.

extension Database {
    /// Returns sizes and counts. Rows and values are exact.
    ///
    /// Cost: grows with the number of blocks, and with the number of rows where segments overlap in
    /// time.
    ///
    /// - Throws: `closed`; `io` and `damaged` with the file that cannot be read.
    public func info() throws(DatabaseError) -> DatabaseInfo {
        let (manifest, snapshot) = try moment()
        var info = DatabaseInfo()
        let byExperiment = manifest.segmentsByExperiment
        for view in snapshot.experiments {
            var experiment = DatabaseInfo.Experiment(view.schema)
            let segments = byExperiment[view.schema.id] ?? []
            experiment.bytes = segments.reduce(0) { $0 + $1.sizeBytes }
            try count(view, segments, into: &experiment)
            info.experiments.append(experiment)
        }
        info.segments = manifest.segments.count
        info.segmentBytes = manifest.segments.reduce(0) { $0 + $1.sizeBytes }
        info.walFiles = manifest.logs.count
        info.isSealed = manifest.logs.isEmpty
        info.sequence = snapshot.sequence
        info.counters = manifest.counters
        (info.rejects, info.unkeptRejects) = try rejectCounts()
        info.rejectBytes = manifest.rejects.reduce(0) { $0 + $1.sizeBytes }
        try measure(manifest, into: &info)
        return info
    }

    /// Rows that merged points with different tags, as found by flushes and merges since this
    /// `Database` was opened. Always empty on a read-only database. Points in the memtable, or in
    /// segments not merged yet, are not compared yet. Stays available after `close()`.
    public var tagSetMerges: TagSetMerges {
        guard case .writer(let engine) = try? openStore() else { return TagSetMerges() }
        return engine.state.withLock { $0.tagSetMerges }
    }

    /// Returns the number of distinct rows of all experiments. Reads no values: counts come from
    /// segment footers, and from row times where segments overlap.
    ///
    /// - Throws: As `info`.
    public func rowCount() throws(DatabaseError) -> Int {
        var count = 0
        for view in try takeSnapshot().experiments { count += try view.rowCount() }
        return count
    }

    /// Returns the number of cells that have a value, in all experiments, without attributes.
    /// Counts come from segment footers and directories. Where segments overlap, their values are
    /// read.
    ///
    /// - Throws: As `info`.
    public func valueCount() throws(DatabaseError) -> Int {
        var count = 0
        for view in try takeSnapshot().experiments { count += try view.fieldValueCount() }
        return count
    }

    /// Returns the counts of inserted, replaced and identical values since the database was
    /// created, as found by flushes and merges.
    ///
    /// - Throws: As `snapshot`.
    public func counters() throws(DatabaseError) -> WriteCounters {
        try moment().0.counters
    }

    /// Returns the UTF-8 bytes of the names of all tags in an experiment's identity. A schema lists
    /// them unless the identity is all tags.
    ///
    /// Cost: reads the keys of all series.
    package func tagNames(of experiment: String) throws(DatabaseError) -> Set<[UInt8]> {
        var names: Set<[UInt8]> = []
        try takeSnapshot().experiment(experiment)?.forEachSeries { series in
            for tag in series.key.tags { names.insert(Array(tag.name.utf8)) }
        }
        return names
    }

    private func count(
        _ view: ExperimentView, _ segments: [Manifest.Segment],
        into experiment: inout DatabaseInfo.Experiment
    ) throws(DatabaseError) {
        let isOneSegment = view.sources.count == 1 && segments.count == 1
        var first = Int64.max
        var last = Int64.min
        try view.forEachSeries { series throws(DatabaseError) in
            experiment.series += 1
            first = min(first, series.firstTime)
            last = max(last, series.lastTime)
            if !isOneSegment { experiment.rows += try view.rowCount(of: series) }
        }
        if isOneSegment { experiment.rows = segments[0].rowCount }
        experiment.values = try view.fieldValueCount()
        if experiment.series > 0 {
            experiment.firstTime = Timestamp(nanoseconds: first)
            experiment.lastTime = Timestamp(nanoseconds: last)
        }
    }

    private func measure(
        _ manifest: Manifest, into info: inout DatabaseInfo
    ) throws(DatabaseError) {
        let directory = directory
        let sizes = try calling("measuring the database") { () throws(FileError) in
            var sizes = (all: 0, logs: 0)
            for name in try directory.list() where FileName(name) != nil {
                // A merge may have just removed the file.
                guard let size = try? directory.open(name, writable: false).size() else { continue }
                sizes.all += size
                if case .log = FileName(name) { sizes.logs += size }
            }
            return sizes
        }
        info.diskBytes = sizes.all + info.rejectBytes
        info.walBytes = sizes.logs
    }

    /// Returns the columns of an experiment: fields in byte order of their names, then attributes.
    ///
    /// - Throws: `notFound` if the experiment does not exist; the message lists existing ones.
    public func columns(of experiment: String) throws(DatabaseError) -> [ColumnInfo] {
        let snapshot = try takeSnapshot()
        guard let view = snapshot.experiment(experiment) else {
            let names = snapshot.experiments.prefix(10).map { "\"\($0.schema.name)\"" }
            throw DatabaseError(
                .notFound,
                "no experiment \"\(experiment)\"; there "
                    + (names.isEmpty ? "are none" : "is " + names.joined(separator: ", ")))
        }
        let series = try view.series()
        let byColumn = SeriesByColumn(view, series)
        let pool = ColumnPool()
        var columns: [ColumnInfo] = []
        for column in view.schema.fields + view.schema.attributes {
            var info = ColumnInfo(column: column)
            var tally = ValueTally()
            for index in try byColumn.indices(column) {
                tally.add(try view.valueCount(of: column.id, in: series[index], pool: pool))
            }
            info.count = tally.count
            if info.count > 0 {
                info.firstTime = Timestamp(nanoseconds: tally.first)
                info.lastTime = Timestamp(nanoseconds: tally.last)
            }
            try addStorage(of: column, view, to: &info)
            columns.append(info)
        }
        return columns
    }

    private func addStorage(
        of column: Column, _ view: ExperimentView, to info: inout ColumnInfo
    ) throws(DatabaseError) {
        var blocks: [String: Int] = [:]
        for case .segment(let segment) in view.sources {
            guard let field = segment.field(column.id) else { continue }
            let directory = try segment.directory(field)
            let description = segment.footer.fields[field]
            info.bytes += description.directory.sizeBytes + description.dictionary.sizeBytes
            for block in 0..<directory.count {
                info.bytes += directory.sizeBytes(block)
                let code = directory.encoding(block)
                blocks[SegmentFormat.encodingName(code), default: 0] += 1
            }
        }
        info.encodings = blocks.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { (name: $0.key, blocks: $0.value) }
    }

    // MARK: Shared with the other parts

    var directory: any Directory {
        switch store {
        case .writer(let engine): engine.directory
        case .reader(let reader): reader.directory
        }
    }

    /// Returns a manifest and a snapshot of the same moment.
    func moment() throws(DatabaseError) -> (Manifest, Snapshot) {
        switch try openStore() {
        case .writer(let engine):
            return try engine.moment()
        case .reader(let reader):
            return try reader.read { manifest, segments, replay in
                (
                    manifest,
                    segments.snapshot(
                        manifest, schemas: replay.schemas, memtables: [replay.memtable],
                        sequence: replay.lastSequence)
                )
            }
        }
    }
}

extension SegmentFormat {
    static func encodingName(_ code: UInt8) -> String {
        if code == plainStrings { return "strings" }
        if code == mixedStrings { return "mixedStrings" }
        return BlockEncoding(rawValue: code).map { "\($0)" } ?? "unknown"
    }
}
