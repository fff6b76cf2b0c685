// Runs merges, of segments and of files of the rejects journal: in the background after flushes, at
// close, and when asked.

extension Engine {
    /// Lets the background look for segments to merge.
    func scheduleCompaction() {
        guard options.compactsInBackground else { return }
        let countMin = options.compactionSegmentCount
        mergeInBackground { sizes, _ in Compaction.chooseTier(sizes, countMin: countMin) }
    }

    /// Merges those segments of each experiment that are chosen, repeatedly.
    ///
    /// - Parameter choose: gets the sizes of an experiment's segments, oldest first, and which is
    ///   the first that has the encodings of a flush amid writing.
    func mergeInBackground(_ choose: @escaping @Sendable ([Int], Int?) -> Range<Int>?) {
        compactionQueue.async {
            do throws(DatabaseError) {
                try self.compactNow(choose)
            } catch {
                // The inputs are untouched and the database is whole: only space is lost.
                self.options.log?("a merge failed: \(error)")
                if error.kind == .io { self.noteClosingFailure(error) }
            }
        }
    }

    /// Merges all segments of each experiment into one.
    func compactAll() throws(DatabaseError) {
        try flush()
        try onCompactionQueue { () throws(DatabaseError) in
            try state.withLock { state throws(DatabaseError) in try checkUsable(state) }
            try compactOnce { segments in
                let isWanted =
                    segments.count > 1 || segments.contains(where: \.isQuicklyEncoded)
                    || needsRewrite(segments)
                return isWanted ? segments.indices : nil
            }
            try mergeRejects { $0.count > 1 ? $0.indices : nil }
        }
    }

    /// Runs something while no merge runs.
    func onCompactionQueue<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try compactionQueue.sync(body)
    }

    private func compactNow(
        _ choose: ([Int], Int?) -> Range<Int>?
    ) throws(DatabaseError) {
        var mergesMore = true
        while mergesMore {
            mergesMore = try compactOnce { segments in
                choose(segments.map(\.sizeBytes), segments.firstIndex(where: \.isQuicklyEncoded))
            }
        }
        try mergeRejects { choose($0, nil) }
    }

    /// Merges segments of each experiment once. Small merges of many experiments share a manifest:
    /// it grows with their number, and would be written as often.
    ///
    /// - Parameter choose: gets an experiment's segments, oldest first.
    /// - Returns: whether there were some.
    @discardableResult
    private func compactOnce(
        _ choose: ([Manifest.Segment]) -> Range<Int>?
    ) throws(DatabaseError) -> Bool {
        let byExperiment = state.withLock { $0.manifest.segmentsByExperiment }
        var merges = PendingMerges()
        for (_, segments) in byExperiment.sorted(by: { $0.key < $1.key }) {
            guard let range = choose(segments) else { continue }
            guard state.withLock({ $0.phase < .closed && $0.failure == nil }) else { break }
            try merge(Array(segments[range]), into: &merges)
            if merges.sizeBytes >= PendingMerges.sizeBytesMax { try install(&merges) }
        }
        let mergedAny = merges.hasMerged
        try install(&merges)
        return mergedAny
    }

    /// Whether a field of the segment has another type than the schema has now.
    private func needsRewrite(_ segments: [Manifest.Segment]) -> Bool {
        state.withLock { state in
            segments.contains { info in
                guard let reader = state.segments[info.number],
                    let schema = state.schemas[info.experiment]
                else { return false }
                return reader.footer.fields.contains {
                    schema.columns[$0.column.id].type != $0.column.type
                }
            }
        }
    }

    /// Replaces neighbours among the files of the rejects journal by one: each flush adds one.
    ///
    /// - Parameter choose: gets their sizes, oldest first.
    private func mergeRejects(_ choose: ([Int]) -> Range<Int>?) throws(DatabaseError) {
        let files = state.withLock { $0.manifest.rejects }
        guard let range = choose(files.map(\.sizeBytes)) else { return }
        let merged = try makingRoom { () throws(DatabaseError) in
            var journal = RejectsJournal()
            for info in files[range] {
                for entry in try rejects(info) { journal.append(entry) }
            }
            return try writeRejects(journal.entries)
        }
        let inputs = Set(files[range].map(\.number))
        try replaceManifest { manifest in
            // A flush may have added others behind them.
            manifest.rejects.removeAll { inputs.contains($0.number) }
            if let merged { manifest.rejects.insert(merged, at: range.lowerBound) }
        }
        retire(inputs.map { .rejects($0) })
    }

    /// Replaces adjacent segments of one experiment by one with the same rows.
    func merge(_ inputs: [Manifest.Segment]) throws(DatabaseError) {
        var merges = PendingMerges()
        try merge(inputs, into: &merges)
        try install(&merges)
    }

    /// Writes adjacent segments of one experiment as one, which no manifest names yet.
    private func merge(
        _ inputs: [Manifest.Segment], into merges: inout PendingMerges
    ) throws(DatabaseError) {
        guard let first = inputs.first else { return }
        guard let schema = state.withLock({ $0.schemas[first.experiment] }) else { return }
        do throws(DatabaseError) {
            // Readers of its own: what it decodes goes with them.
            let segments = try inputs.map { (info) throws(DatabaseError) in
                try SegmentReader(in: directory, info, databaseID: databaseID, access: .copied)
            }
            let (merge, merged) = try makingRoom { () throws(DatabaseError) in
                var merge = try SegmentMerge(segments, schema: schema)
                let merged = try writeSegment(schema) { writer throws(DatabaseError) in
                    try merge.write(to: writer, isCancelled: { false })
                }
                return (merge, merged)
            }
            merges.add(merged, of: inputs, merge)
        } catch {
            // The others are as good as if this had not been tried.
            try? install(&merges)
            throw error
        }
    }

    /// Names merged segments in place of what they were made of.
    private func install(_ merges: inout PendingMerges) throws(DatabaseError) {
        let done = merges
        merges.outputs = []
        merges.sizeBytes = 0
        guard !done.outputs.isEmpty else { return }
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        var outputOf: [UInt64: Manifest.Segment] = [:]
        for output in done.outputs {
            for number in output.inputs { outputOf[number] = output.segment.info }
        }
        try replaceManifest { manifest in
            // Each at the place of the first that it was made of.
            var placed: Set<UInt64> = []
            manifest.segments = manifest.segments.compactMap { segment in
                guard let output = outputOf[segment.number] else { return segment }
                return placed.insert(output.number).inserted ? output : nil
            }
            for output in done.outputs { manifest.add(output.counters) }
        } install: { state in
            for output in done.outputs {
                state.segments.insert(output.segment)
                state.tagSetMerges.add(output.merges)
            }
            state.segments.keep(state.manifest)
        }
        retire(done.outputs.flatMap(\.inputs).map { .segment($0) })
    }
}

/// Merges that are written and wait for a manifest.
private struct PendingMerges {
    struct Output {
        var segment: SegmentReader
        /// Numbers of the segments that it was made of.
        var inputs: [UInt64]
        var counters: WriteCounters
        var merges: TagSetMerges
    }

    var outputs: [Output] = []
    var sizeBytes = 0
    private(set) var hasMerged = false

    /// Larger ones do not wait for others: what they were made of takes space.
    static let sizeBytesMax = 16 << 20

    mutating func add(
        _ segment: SegmentReader, of inputs: [Manifest.Segment], _ merge: SegmentMerge
    ) {
        outputs.append(
            Output(
                segment: segment, inputs: inputs.map(\.number), counters: merge.counters,
                merges: merge.merges))
        sizeBytes += segment.info.sizeBytes
        hasMerged = true
    }
}

extension Manifest {
    /// The segments of each experiment, oldest first.
    var segmentsByExperiment: [Int: [Segment]] { Dictionary(grouping: segments, by: \.experiment) }
}
