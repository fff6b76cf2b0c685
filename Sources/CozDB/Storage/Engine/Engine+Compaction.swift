// Runs merges: in the background after flushes, at close, and when asked.

internal import Dispatch

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
            }
        }
    }

    /// Merges all segments of each experiment into one.
    func compactAll() throws(DatabaseError) {
        try flush()
        try onCompactionQueue { () throws(DatabaseError) in
            try state.withLock { state throws(DatabaseError) in try checkUsable(state) }
            for experiment in state.withLock({ $0.schemas.all.map(\.id) }) {
                let segments = state.withLock { $0.manifest.segments(of: experiment) }
                if segments.count > 1 || segments.contains(where: \.isHasty)
                    || needsRewrite(segments)
                {
                    try merge(segments)
                }
            }
        }
    }

    /// Runs something while no merge runs.
    func onCompactionQueue<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        let result = compactionQueue.sync {
            Result { () throws(DatabaseError) in try body() }
        }
        return try result.get()
    }

    private func compactNow(
        _ choose: ([Int], Int?) -> Range<Int>?
    ) throws(DatabaseError) {
        for experiment in state.withLock({ $0.schemas.all.map(\.id) }) {
            while true {
                let segments = state.withLock { $0.manifest.segments(of: experiment) }
                let firstHasty = segments.firstIndex(where: \.isHasty)
                guard let range = choose(segments.map(\.sizeBytes), firstHasty),
                    state.withLock({ $0.phase < .closed && $0.failure == nil })
                else { break }
                try merge(Array(segments[range]))
            }
        }
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

    /// Replaces adjacent segments of one experiment by one with the same rows.
    func merge(_ inputs: [Manifest.Segment]) throws(DatabaseError) {
        guard let first = inputs.first else { return }
        guard let schema = state.withLock({ $0.schemas[first.experiment] }) else { return }
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
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        let numbers = Set(inputs.map(\.number))
        try replaceManifest { manifest in
            guard let place = manifest.segments.firstIndex(where: { numbers.contains($0.number) })
            else { return }
            manifest.segments[place] = merged.info
            manifest.segments.removeAll { numbers.contains($0.number) }
            manifest.add(merge.counters)
        } install: { state in
            state.segments.insert(merged)
            state.tagSetMerges.add(merge.merges)
            state.segments.keep(state.manifest)
        }
        retire(inputs.map { .segment($0.number) })
    }
}

extension Manifest {
    /// Oldest first.
    func segments(of experiment: Int) -> [Segment] {
        segments.filter { $0.experiment == experiment }
    }
}
