// Merges of segments and of rejects files: in the background after flushes, at close, and on
// request.

extension Engine {
    /// Starts a background search for segments to merge.
    func scheduleCompaction() {
        guard options.compactsInBackground else { return }
        let countMin = options.compactionSegmentCount
        mergeInBackground { sizes, _ in Compaction.chooseTier(sizes, countMin: countMin) }
    }

    /// Merges the chosen segments of each experiment, repeatedly.
    ///
    /// - Parameter choose: gets the sizes of an experiment's segments, oldest first, and the index
    ///   of the first one with quick encodings.
    func mergeInBackground(_ choose: @escaping @Sendable ([Int], Int?) -> Range<Int>?) {
        compactionQueue.async {
            do throws(DatabaseError) {
                while try self.compactOnce({ segments in
                    choose(
                        segments.map(\.sizeBytes), segments.firstIndex(where: \.isQuicklyEncoded))
                }) {}
                try self.mergeRejects { choose($0, nil) }
            } catch {
                // The inputs are unchanged and the database is sound; only space is wasted.
                self.options.onEvent?(.mergeFailed(error))
                if error.kind == .io { self.noteClosingFailure(error) }
            }
        }
    }

    /// Merges all segments of each experiment into one.
    func compactAll() throws(DatabaseError) {
        try flush()
        try compactionQueue.sync { () throws(DatabaseError) in
            try state.withLock { state throws(DatabaseError) in try checkOpen(state) }
            try compactOnce { segments in
                let isWanted =
                    segments.count > 1 || segments.contains(where: \.isQuicklyEncoded)
                    || needsRewrite(segments)
                return isWanted ? segments.indices : nil
            }
            try mergeRejects { $0.count > 1 ? $0.indices : nil }
        }
    }

    /// Merges segments of each experiment once. Small merges share one manifest, because the size
    /// of a manifest and the number of merges both grow with the number of experiments.
    ///
    /// - Parameter choose: gets an experiment's segments, oldest first.
    /// - Returns: whether it merged any.
    @discardableResult
    private func compactOnce(
        _ choose: ([Manifest.Segment]) -> Range<Int>?
    ) throws(DatabaseError) -> Bool {
        let byExperiment = state.withLock { $0.manifest.segmentsByExperiment }
        var merges: [PendingMerge] = []
        var sizeBytes = 0
        var mergedAny = false
        for (_, segments) in byExperiment.sorted(by: { $0.key < $1.key }) {
            guard let range = choose(segments) else { continue }
            guard state.withLock({ $0.phase < .closed && $0.failure == nil }) else { break }
            sizeBytes += try merge(Array(segments[range]), into: &merges)
            mergedAny = mergedAny || !merges.isEmpty
            if sizeBytes >= PendingMerge.sizeBytesMax {
                try install(&merges)
                sizeBytes = 0
            }
        }
        try install(&merges)
        return mergedAny
    }

    /// Whether a field of a segment has another type than in the schema.
    private func needsRewrite(_ segments: [Manifest.Segment]) -> Bool {
        state.withLock { state in
            segments.contains { info in
                guard let reader = state.segments[info.number],
                    let schema = state.schemas[info.experiment]
                else { return false }
                return reader.footer.fields.contains {
                    schema.column($0.column.id).type != $0.column.type
                }
            }
        }
    }

    /// Merges adjacent rejects files into one. Each flush may add a file.
    ///
    /// - Parameter choose: gets the sizes of the files, oldest first.
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
            // A flush may have appended more files.
            manifest.rejects.removeAll { inputs.contains($0.number) }
            if let merged { manifest.rejects.insert(merged, at: range.lowerBound) }
        }
        retire(inputs.map { .rejects($0) })
    }

    /// Replaces adjacent segments of one experiment by one segment with the same rows.
    func merge(_ inputs: [Manifest.Segment]) throws(DatabaseError) {
        var merges: [PendingMerge] = []
        _ = try merge(inputs, into: &merges)
        try install(&merges)
    }

    /// Writes the merge of adjacent segments of one experiment; the manifest does not name it yet.
    ///
    /// - Returns: the size of the merged segment; 0 if there was nothing to merge.
    private func merge(
        _ inputs: [Manifest.Segment], into merges: inout [PendingMerge]
    ) throws(DatabaseError) -> Int {
        guard let first = inputs.first else { return 0 }
        guard let schema = state.withLock({ $0.schemas[first.experiment] }) else { return 0 }
        do throws(DatabaseError) {
            // Opens the segments again, so that decoded data is released with these readers.
            let segments = try inputs.map { (info) throws(DatabaseError) in
                try SegmentReader(in: directory, info, databaseID: databaseID, access: .copied)
            }
            let (merge, merged) = try makingRoom { () throws(DatabaseError) in
                var merge = try SegmentMerge(segments, schema: schema)
                let merged = try writeSegment(schema) { writer throws(DatabaseError) in
                    try merge.write(to: writer)
                }
                return (merge, merged)
            }
            merges.append(
                PendingMerge(
                    segment: merged, inputs: inputs.map(\.number), counters: merge.counters,
                    tagSetMerges: merge.merges))
            return merged.info.sizeBytes
        } catch {
            // Keeps the merges that succeeded.
            try? install(&merges)
            throw error
        }
    }

    /// Replaces the inputs by the merged segments in the manifest.
    private func install(_ merges: inout [PendingMerge]) throws(DatabaseError) {
        let done = merges
        merges = []
        guard !done.isEmpty else { return }
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        var outputOf: [UInt64: Manifest.Segment] = [:]
        for output in done {
            for number in output.inputs { outputOf[number] = output.segment.info }
        }
        try replaceManifest { manifest in
            // The output takes the place of its first input.
            var placed: Set<UInt64> = []
            manifest.segments = manifest.segments.compactMap { segment in
                guard let output = outputOf[segment.number] else { return segment }
                return placed.insert(output.number).inserted ? output : nil
            }
            for output in done { manifest.add(output.counters) }
        } install: { state in
            for output in done {
                state.segments.insert(output.segment)
                state.tagSetMerges.add(output.tagSetMerges)
            }
            state.segments.keep(state.manifest)
        }
        retire(done.flatMap(\.inputs).map { .segment($0) })
        options.onEvent?(
            .merged(
                inputs: outputOf.count, outputs: done.count,
                sizeBytes: done.reduce(0) { $0 + $1.segment.info.sizeBytes }))
    }
}

/// A finished merge that waits for a manifest.
private struct PendingMerge {
    var segment: SegmentReader
    /// Numbers of its input segments.
    var inputs: [UInt64]
    var counters: WriteCounters
    var tagSetMerges: TagSetMerges

    /// A manifest is written at this size, since the inputs take space until then.
    static let sizeBytesMax = 16 << 20
}

extension Manifest {
    /// The segments of each experiment, oldest first.
    var segmentsByExperiment: [Int: [Segment]] { Dictionary(grouping: segments, by: \.experiment) }
}
