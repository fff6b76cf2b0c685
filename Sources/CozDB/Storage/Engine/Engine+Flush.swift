// Flushes of memtables to segments, and the closing of a database.

extension Engine {
    /// Writes the frozen memtable to segments and removes its logs. A failure stops all writing.
    func flushInBackground() {
        let (frozen, schemas, log) = state.withLock { state in
            (state.frozen, state.schemas, state.log?.identity.number)
        }
        guard let frozen else { return }
        do throws(DatabaseError) {
            // Quick encodings suffice when a merge will follow.
            try install(
                frozen, schemas: schemas, keeping: log,
                effort: options.compactsInBackground ? .quick : .thorough)
        } catch {
            _ = fail(error)
        }
        scheduleCompaction()
    }

    /// Writes a memtable and replaces all logs except `log` by its files in the manifest.
    func install(
        _ memtable: Memtable, schemas: SchemaSet, keeping log: UInt64?,
        effort: EncodingEffort = .thorough
    ) throws(DatabaseError) {
        let start = ContinuousClock.now
        let files = try makingRoom { () throws(DatabaseError) in
            try write(memtable, schemas: schemas, effort: effort)
        }
        var obsolete: [FileName] = []
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        try replaceManifest { manifest in
            manifest.segments += files.segments.map(\.info)
            if let rejects = files.rejects { manifest.rejects.append(rejects) }
            manifest.add(files.counters)
            manifest.lastSequence = max(manifest.lastSequence, memtable.lastSequence)
            obsolete = manifest.logs.filter { $0.number != log }.map { .log($0.number) }
            manifest.logs.removeAll { $0.number != log }
        } install: { state in
            for reader in files.segments { state.segments.insert(reader) }
            state.tagSetMerges.add(files.merges)
            state.frozen = nil
        }
        retire(obsolete)
        options.onEvent?(.flushed(sizeBytes: memtable.sizeBytes, duration: .now - start))
    }

    /// The files of a memtable, before the manifest names them.
    private struct FlushedFiles {
        var segments: [SegmentReader] = []
        var rejects: Manifest.RejectsFile?
        var counters = WriteCounters()
        var merges = TagSetMerges()
    }

    /// Writes all files of a memtable, or none.
    private func write(
        _ memtable: Memtable, schemas: SchemaSet, effort: EncodingEffort
    ) throws(DatabaseError) -> FlushedFiles {
        var files = FlushedFiles()
        do throws(DatabaseError) {
            for schema in schemas.all {
                guard let table = memtable.tables[schema.id], table.rows.count > 0 else {
                    continue
                }
                let view = MemtableView(table, strings: memtable.strings)
                var flush = MemtableFlush(view, schema: schema)
                files.segments.append(
                    try writeSegment(schema, effort: effort) { writer throws(DatabaseError) in
                        try flush.write(to: writer)
                    })
                files.counters.add(flush.counters)
                files.merges.add(flush.merges)
            }
            files.rejects = try writeRejects(memtable.journal.entries)
            return files
        } catch {
            // No manifest names these files, and the disk may be full.
            for segment in files.segments { try? remove(.segment(segment.info.number)) }
            throw error
        }
    }

    /// Writes one segment file and opens it, which verifies its header and footer.
    func writeSegment(
        _ schema: ExperimentSchema, effort: EncodingEffort = .thorough,
        _ fill: (SegmentWriter) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> SegmentReader {
        let number = try reserveFileNumber()
        return try SegmentWriter.write(
            in: directory, number: number, databaseID: databaseID, schema: schema, effort: effort,
            isAlone: { lockFile.isHeld(in: directory) }, fill
        ) { info throws(DatabaseError) in
            try SegmentReader(in: directory, info, databaseID: databaseID)
        }
    }

    func writeRejects(
        _ entries: [JournalEntry]
    ) throws(DatabaseError) -> Manifest.RejectsFile? {
        guard !entries.isEmpty else { return nil }
        let number = try reserveFileNumber()
        return try calling("writing the rejects journal") { () throws(FileError) in
            do throws(FileError) {
                return try RejectsFile.write(
                    entries, number: number, under: directory, databaseID: databaseID)
            } catch {
                // No manifest names the file.
                try? remove(.rejects(number))
                throw error
            }
        }
    }

    /// Writes everything in memory to segments. No logs remain.
    func flush() throws(DatabaseError) {
        try checkOpen()
        try becomeLeader()
        do throws(DatabaseError) {
            let (memtable, schemas, hasLogs) = state.withLock { state in
                defer {
                    state.log = nil
                    state.frozen = state.memtable
                    state.memtable = Memtable()
                }
                return (state.memtable, state.schemas, !state.manifest.logs.isEmpty)
            }
            if !memtable.isEmpty || hasLogs {
                try install(memtable, schemas: schemas, keeping: nil)
            } else {
                state.withLock { $0.frozen = nil }
            }
        } catch {
            throw fail(error)
        }
        resignLeader()
    }

    /// Flushes, merges what is worthwhile, and removes obsolete files. The manifest then names no
    /// log. The lock is released even after a failure.
    ///
    /// Another writer may take the lock afterwards, and no thread may touch the files from then on.
    /// So running calls are waited for, and new ones are refused.
    func close() throws(DatabaseError) {
        let isFirst = state.withLock { state in
            defer { state.phase = max(state.phase, .closing) }
            return state.phase == .open
        }
        guard isFirst else {
            return state.withLock(when: { $0.phase == .released }) { _ in }
        }
        endCalls()
        beginExclusive()
        let isSound = state.withLock { $0.failure == nil }
        if isSound {
            // The failure is stored in the state and thrown below.
            try? flush()
            if options.compactsInBackground { mergeInBackground(Compaction.chooseAtRest) }
        }
        flushQueue.sync {}
        reserveQueue.sync {}
        compactionQueue.sync {}
        let failure = state.withLock { $0.failure }
        // Later work on this queue finds the database closed.
        compactionQueue.sync { state.withLock { $0.phase = .closed } }
        if state.withLock({ $0.failure == nil }) {
            removeRetired(all: true)
            lockFile.seal()
        }
        lockFile.release()
        state.withLock { state in
            state.phase = .released
            state.isExclusive = false
            state.lastSnapshot = nil
        }
        if isSound, let failure { throw failure }
        if let failure = state.withLock({ $0.closingFailure }) { throw failure }
    }

    /// Stores an error of background work for `close` to throw. No row depends on that work.
    func noteClosingFailure(_ error: DatabaseError) {
        state.withLock { state in
            guard state.phase >= .closing, state.closingFailure == nil else { return }
            var failure = error
            failure.message +=
                ". The final merge of segments failed while closing. All acknowledged rows are "
                + "stored and durable. Check the device, then compact the database"
            failure.remedy = .compact
            state.closingFailure = failure
        }
    }
}
