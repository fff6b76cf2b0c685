// Deletion of rows, values, series and experiments. One manifest makes a whole statement visible,
// and the deleted bytes leave the directory before the call returns.
//
// Commits and merges wait meanwhile. Readers continue with the files they have open.

extension Engine {
    /// The files that a deletion has written, before the manifest names them.
    struct Rewriting {
        /// New segments by the number of the segment they replace; nil if nothing is left.
        var segments: [UInt64: SegmentReader?] = [:]
        var rejects: [UInt64: Manifest.RejectsFile?] = [:]
        var droppedSchemas: [Int] = []
        /// Columns of remaining experiments that have no values left in any file.
        var droppedColumns: [(experiment: Int, column: ColumnID)] = []
        /// Declarations of types alone, of fields that nothing has any more.
        var droppedDeclarations: [(experiment: Int, field: String)] = []
        /// The fields of the refused values that stay.
        var refusedFields: Set<RefusedField> = []

        var isEmpty: Bool {
            segments.isEmpty && rejects.isEmpty && droppedSchemas.isEmpty && droppedColumns.isEmpty
                && droppedDeclarations.isEmpty
        }
    }

    /// The field of a refused value.
    struct RefusedField: Hashable {
        let experiment: Name
        let field: Name

        init(_ experiment: String, _ field: String) {
            self.experiment = Name(experiment)
            self.field = Name(field)
        }
    }

    /// Limit of the series selections kept between the two passes, in times of eight bytes.
    private static let keptTimesMax = 4 << 20

    /// Deletes what a plan selects in the current snapshot. On return the deletion is durable, and
    /// no file of the database holds a deleted byte.
    ///
    /// - Throws: the errors of the plan, `cancelled`, and `io` if a segment cannot be written; then
    ///   nothing is changed. `io` after the manifest was replaced means that a file could not be
    ///   removed. Its data is deleted, and the next opening removes the file.
    func delete(
        _ plan: (Snapshot) throws(DatabaseError) -> Deletion
    ) throws(DatabaseError) -> DeletionReport {
        try exclusively { () throws(DatabaseError) in
            let deletion = try plan(try snapshot())
            let (rewriting, report) = try rewrite(deletion)
            if !rewriting.isEmpty { try install(rewriting) }
            try eraseRetired()
            return report
        }
    }

    /// Runs the body while commits and merges are blocked, with an empty memtable and no logs.
    func exclusively<Value>(
        _ body: () throws(DatabaseError) -> Value
    ) throws(DatabaseError) -> Value {
        try changing { () throws(DatabaseError) in
            try compactionQueue.sync { () throws(DatabaseError) in
                beginExclusive()
                defer { endExclusive() }
                try flush()
                return try body()
            }
        }
    }

    // MARK: Writing

    /// Writes all files of a deletion, or none.
    func rewrite(_ deletion: Deletion) throws(DatabaseError) -> (Rewriting, DeletionReport) {
        try makingRoom { () throws(DatabaseError) in
            var rewriting = Rewriting()
            var report = DeletionReport()
            do throws(DatabaseError) {
                for experiment in deletion.experiments {
                    try rewrite(
                        experiment, checkCancelled: deletion.checkCancelled, &rewriting, &report)
                }
                if let refusals = deletion.refusals {
                    try rewriteRejects(
                        refusals, withCounts: deletion.dropsRefusalCounts, &rewriting, &report)
                }
                try deletion.checkCancelled()
                return (rewriting, report)
            } catch {
                // No manifest names these files, and the disk may be full.
                for case .some(let reader) in rewriting.segments.values {
                    try? remove(.segment(reader.info.number))
                }
                for case .some(let info) in rewriting.rejects.values {
                    try? remove(.rejects(info.number))
                }
                throw error
            }
        }
    }

    private func rewrite(
        _ deletion: ExperimentDeletion, checkCancelled: () throws(DatabaseError) -> Void,
        _ rewriting: inout Rewriting, _ report: inout DeletionReport
    ) throws(DatabaseError) {
        var touched = [Bool](
            repeating: deletion.dropsSchema, count: deletion.view.sources.count)
        // Selections by key and time alone are cheap to find again.
        let isComputed = deletion.select != nil || !deletion.columns.isEmpty
        // The selections of the series that lose data; nil if they are computed again.
        var kept: [SeriesKey: SeriesDeletion?] = [:]
        var keptTimes = 0
        var counts = DeletionReport.Experiment(name: deletion.view.schema.name)
        try deletion.forEachSeries { series, gone, loss throws(DatabaseError) in
            try checkCancelled()
            counts.series += 1
            counts.rows += loss.rows
            counts.values += loss.values
            for part in series.parts where !touched[part.source] {
                touched[part.source] = try deletion.touches(part, gone, loss)
            }
            guard isComputed else { return }
            let size = 16 + gone.rows.sizeTimes + gone.cells.sizeTimes
            let isKept = keptTimes + size <= Engine.keptTimesMax
            if isKept { keptTimes += size }
            kept.updateValue(isKept ? gone : nil, forKey: series.key)
        }
        func known(_ key: SeriesKey) -> SeriesDeletion? {
            isComputed ? kept[key] ?? SeriesDeletion(rows: .none) : nil
        }
        for index in touched.indices where touched[index] {
            guard case .segment(let segment) = deletion.view.sources[index] else { continue }
            rewriting.segments[segment.info.number] = .some(nil)
            if deletion.coversAll(of: segment) { continue }
            let filtered = try filter(segment, index, deletion, known, checkCancelled)
            rewriting.segments[segment.info.number] = .some(filtered)
        }
        if deletion.dropsSchema { rewriting.droppedSchemas.append(deletion.view.schema.id) }
        report.experiments.append(counts)
    }

    /// Writes a segment without the deleted data; nil if nothing is left.
    private func filter(
        _ segment: SegmentReader, _ index: Int, _ deletion: ExperimentDeletion,
        _ known: (SeriesKey) -> SeriesDeletion?,
        _ checkCancelled: () throws(DatabaseError) -> Void
    ) throws(DatabaseError) -> SegmentReader? {
        var filter = try SegmentFilter(segment, source: index, of: deletion)
        // Copied blocks keep their encodings.
        let written = try writeSegment(
            deletion.view.schema, effort: segment.info.isQuicklyEncoded ? .quick : .thorough
        ) { writer throws(DatabaseError) in
            try filter.write(to: writer, known: known, checkCancelled: checkCancelled)
        }
        if written.info.rowCount > 0 { return written }
        try calling("removing an empty segment") { () throws(FileError) in
            try remove(.segment(written.info.number))
        }
        return nil
    }

    private func rewriteRejects(
        _ isGone: (Refusal) throws(DatabaseError) -> Bool, withCounts: Bool,
        _ rewriting: inout Rewriting,
        _ report: inout DeletionReport
    ) throws(DatabaseError) {
        let files = state.withLock { $0.manifest.rejects }
        var gone: Set<UInt64> = []
        var counts: [Name: Int] = [:]
        var goneFields: Set<RefusedField> = []
        for info in files {
            for case .refusal(let refusal) in try rejects(info) {
                let isGone = try isGone(refusal)
                if case .value(let experiment, _, _, let field, _, _) = refusal.subject {
                    let field = RefusedField(experiment, field)
                    if isGone {
                        goneFields.insert(field)
                    } else {
                        rewriting.refusedFields.insert(field)
                    }
                }
                guard isGone, gone.insert(refusal.journalID).inserted else { continue }
                counts[Name(refusal.experiment), default: 0] += 1
            }
        }
        dropDeclarations(of: goneFields.subtracting(rewriting.refusedFields), &rewriting)
        report.add(refusals: counts)
        guard !gone.isEmpty || withCounts else { return }
        for info in files {
            let entries = try rejects(info)
            let kept = entries.filter { entry in
                switch entry {
                case .refusal(let refusal): !gone.contains(refusal.journalID)
                case .mark(let id, _), .repeated(let id, _, _, _): !gone.contains(id)
                case .dropped: !withCounts
                }
            }
            if kept.count == entries.count { continue }
            rewriting.rejects[info.number] = .some(try writeRejects(kept))
        }
    }

    /// Drops the declarations of types alone that only these refused values had. Importers make
    /// such declarations, with refused values, too.
    private func dropDeclarations(of fields: Set<RefusedField>, _ rewriting: inout Rewriting) {
        let schemas = state.withLock { $0.schemas }
        for field in fields {
            guard let schema = schemas.named(field.experiment.text),
                let declaration = schema.ownDeclaration(of: field.field.text),
                declaration.isTypeOnly, schema.field(declaration.name) == nil
            else { continue }
            rewriting.droppedDeclarations.append((schema.id, declaration.name))
        }
    }

    // MARK: Naming and removing

    /// - Parameter edit: further changes for the same manifest.
    func install(
        _ rewriting: Rewriting, _ edit: (inout Manifest) -> Void = { _ in }
    ) throws(DatabaseError) {
        try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
        try replaceManifest { manifest in
            manifest.schemas.remove(rewriting)
            edit(&manifest)
            manifest.segments = manifest.segments.compactMap { info in
                guard let new = rewriting.segments[info.number] else { return info }
                return new?.info
            }
            manifest.rejects = manifest.rejects.compactMap { info in
                guard let new = rewriting.rejects[info.number] else { return info }
                return new
            }
        } install: { state in
            state.schemas.remove(rewriting)
            state.stagedSchemas.remove(rewriting)
            for case .some(let reader) in rewriting.segments.values {
                state.segments.insert(reader)
            }
            state.segments.keep(state.manifest)
            // Deleted refusals may be stored again if they recur.
            if !rewriting.rejects.isEmpty { state.knownRefusals = nil }
            let now = ContinuousClock.now
            state.retired += rewriting.segments.keys.map { (.segment($0), now) }
            state.retired += rewriting.rejects.keys.map { (.rejects($0), now) }
        }
    }
}

extension SchemaSet {
    fileprivate mutating func remove(_ rewriting: Engine.Rewriting) {
        for id in rewriting.droppedSchemas { remove(id) }
        for (experiment, column) in rewriting.droppedColumns {
            remove(column, of: experiment)
        }
        for (experiment, field) in rewriting.droppedDeclarations {
            removeDeclaration(of: field, in: experiment)
        }
    }
}

extension RowSelection {
    fileprivate var sizeTimes: Int {
        if case .times(let times) = self { times.count } else { 0 }
    }
}

extension ExperimentDeletion {
    /// Whether all rows of a segment are deleted, according to its footer.
    fileprivate func coversAll(of segment: SegmentReader) -> Bool {
        accepts == nil && select == nil && columns.isEmpty
            && range.covers(first: segment.footer.firstTime, last: segment.footer.lastTime)
    }

    /// Whether anything in a part of a series is deleted.
    fileprivate func touches(
        _ part: Series.Part, _ gone: SeriesDeletion, _ loss: SeriesLoss
    ) throws(DatabaseError) -> Bool {
        guard case .segment(let segment) = view.sources[part.source] else { return false }
        func hasRow(_ selection: RowSelection) throws(DatabaseError) -> Bool {
            let bounds = selection.bounds
            guard bounds.overlaps(first: part.firstTime, last: part.lastTime) else { return false }
            let rows = try segment.rows(in: bounds, of: part.rows)
            if case .range = selection { return !rows.isEmpty }
            return selection.mask(try segment.times(rows: rows)) != nil
        }
        if !gone.rows.isEmpty, try hasRow(gone.rows) { return true }
        guard !gone.cells.isEmpty else { return false }
        for lost in loss.fields {
            guard let field = segment.field(lost.column) else { continue }
            if try !segment.directory(field).blocks(rows: part.rows).isEmpty {
                return try hasRow(gone.cells)
            }
        }
        return false
    }
}
