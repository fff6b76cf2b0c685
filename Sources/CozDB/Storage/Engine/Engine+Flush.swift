// Turns memtables into segments, retires their logs, and ends a session cleanly.

internal import Dispatch

extension Engine {
    /// Writes the frozen memtable; a failure stops all writing.
    func flushInBackground() {
        do throws(DatabaseError) {
            try flushFrozen()
        } catch {
            _ = fail(error)
        }
        scheduleCompaction()
    }

    /// Writes the frozen memtable to segments, drops the logs it came from.
    private func flushFrozen() throws(DatabaseError) {
        let work = state.withLock { state in
            (
                memtable: state.frozen, schemas: state.schemas,
                log: state.log?.identity.number
            )
        }
        guard let memtable = work.memtable else { return }
        // More is coming, and then a merge.
        try install(
            memtable, schemas: work.schemas, keeping: work.log,
            effort: options.compactsInBackground ? .quick : .thorough
        ) { $0.frozen = nil }
    }

    /// Writes a memtable and names its files in the manifest instead of logs below `keeping`.
    func install(
        _ memtable: Memtable, schemas: SchemaSet, keeping log: UInt64?,
        effort: EncodingEffort = .thorough, _ change: (inout State) -> Void
    ) throws(DatabaseError) {
        var written: [SegmentReader] = []
        var counters = WriteCounters()
        var merges = TagSetMerges()
        for schema in schemas.all {
            guard let table = memtable.tables[schema.id], table.rows.count > 0 else { continue }
            let view = MemtableView(table, strings: memtable.strings)
            var flush = MemtableFlush(view, schema: schema)
            written.append(
                try writeSegment(schema, effort: effort) { writer throws(DatabaseError) in
                    try calling("writing a segment") { () throws(FileError) in
                        try flush.write(to: writer)
                    }
                })
            counters.add(flush.counters)
            merges.add(flush.merges)
        }
        let rejects = try writeRejects(memtable.journal)
        var obsolete: [FileName] = []
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        try replaceManifest { manifest in
            manifest.segments += written.map(\.info)
            if let rejects { manifest.rejects.append(rejects) }
            manifest.counters.add(counters)
            manifest.lastSequence = max(manifest.lastSequence, memtable.lastSequence)
            obsolete = manifest.logs.filter { $0.number != log }.map { .log($0.number) }
            manifest.logs.removeAll { $0.number != log }
        } install: { state in
            for reader in written { state.segments.insert(reader) }
            state.tagSetMerges.add(merges)
            change(&state)
        }
        retire(obsolete)
    }

    /// Writes one segment file and opens it again, which checks its ends.
    func writeSegment(
        _ schema: ExperimentSchema, effort: EncodingEffort = .thorough,
        _ fill: (SegmentWriter) throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> SegmentReader {
        let number = try reserveFileNumber()
        let databaseID = databaseID
        return try SegmentWriter.write(
            in: directory, number: number, databaseID: databaseID, schema: schema, effort: effort,
            fill
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
            let folder = try directory.openDirectory(
                FileName.rejectsDirectory, create: true)
            let info = try RejectsFile.write(
                entries, number: number, in: folder, databaseID: databaseID)
            try folder.sync()
            return info
        }
    }

    /// Writes everything in memory to segments; the logs are empty afterwards.
    func flush() throws(DatabaseError) {
        try takeLead()
        do throws(DatabaseError) {
            try flushWhileLeading()
        } catch {
            throw fail(error)
        }
        passLead()
    }

    private func flushWhileLeading() throws(DatabaseError) {
        let work = state.withLock { state in
            defer {
                state.log = nil
                state.frozen = state.memtable
                state.memtable = Memtable()
            }
            return (memtable: state.memtable, schemas: state.schemas)
        }
        guard !work.memtable.isEmpty || state.withLock({ !$0.manifest.logs.isEmpty }) else {
            state.withLock { $0.frozen = nil }
            return
        }
        try install(work.memtable, schemas: work.schemas, keeping: nil) { $0.frozen = nil }
    }

    /// Flushes, merges what is worth it, removes retired files. The database is sealed: its
    /// manifest names no log. The lock is free afterwards, also where this fails.
    func close() throws(DatabaseError) {
        let isOpen = state.withLock { !$0.isClosed && $0.failure == nil }
        if isOpen {
            // A failure is remembered in the state and thrown below.
            try? flush()
            if options.compactsInBackground { mergeInBackground(Compaction.chooseAll) }
        }
        // Nothing of ours may touch the files once another writer can have the lock.
        flushQueue.sync {}
        reserveQueue.sync {}
        compactionQueue.sync {}
        let failure = state.withLock { $0.failure }
        if isOpen, failure == nil {
            removeRetired(all: true)
            witness.seal()
        }
        witness.release()
        state.withLock { state in
            state.isClosed = true
            state.lastSnapshot = nil
        }
        if isOpen, let failure { throw failure }
    }

    // MARK: Retired files

    /// Remembers files that slow readers may still be about to open.
    func retire(_ names: [FileName]) {
        let deadline = DispatchTime.now() + .seconds(options.retireSeconds)
        state.withLock { state in
            state.retired += names.map { (name: $0, deadline: deadline) }
        }
        removeRetired(all: false)
    }

    /// Failing to remove a file is no loss: the next opening removes what no manifest names.
    private func removeRetired(all: Bool) {
        let now = DispatchTime.now()
        let due = state.withLock { state in
            let due = state.retired.filter { all || $0.deadline <= now }
            state.retired.removeAll { all || $0.deadline <= now }
            return due
        }
        for entry in due { try? remove(entry.name) }
        if !due.isEmpty { try? directory.sync() }
    }

    /// Removes every file that no manifest names, without waiting for slow readers: those find a
    /// newer manifest. Durable on return.
    ///
    /// - Throws: `io` where a file cannot be removed; what is left is tried again with the next
    ///   one that is due.
    func eraseRetired() throws(DatabaseError) {
        let all = state.withLock { $0.retired }
        guard !all.isEmpty else { return }
        try calling(
            "removing files with deleted data (it is deleted; they go when the database is opened "
                + "for writing again)"
        ) { () throws(FileError) in
            for entry in all {
                do throws(FileError) {
                    try remove(entry.name)
                } catch {
                    guard error.isNotFound else { throw error }
                }
            }
            try directory.sync()
            if all.contains(where: { if case .rejects = $0.name { true } else { false } }) {
                try directory.openDirectory(FileName.rejectsDirectory, create: false).sync()
            }
        }
        let names = Set(all.map(\.name))
        state.withLock { state in state.retired.removeAll { names.contains($0.name) } }
    }

    func remove(_ name: FileName) throws(FileError) {
        guard case .rejects = name else { return try directory.remove(name.text) }
        try directory.openDirectory(FileName.rejectsDirectory, create: false).remove(name.text)
    }
}
