// Forgetting of participants. One manifest deletes everything that names them and adds their
// digests to the list that keeps them out; docs/erasure.md.

extension Engine {
    /// The arguments of a call.
    struct Forgetting {
        /// Participants by name.
        var participants: [String] = []
        /// Participants by digest. Those with stored data are forgotten, and all are kept out from
        /// now on.
        var list = ForgottenList()
        /// Whether the damaged folder is removed too.
        var removesSetAside = false
        /// Cancellation check, called between series. Throws to stop.
        var checkCancelled: () throws(DatabaseError) -> Void = {}
    }

    /// Forgets participants. On return the deletion is durable, and no file of the database holds a
    /// byte that only they had. Leftovers of crashes and failed merges are removed too.
    ///
    /// - Throws: the errors of `delete`; `usage` if the damaged folder has files and is to stay.
    func forget(_ wanted: Forgetting) throws(DatabaseError) -> ForgetReport {
        try exclusively { () throws(DatabaseError) in
            let setAside = try DamagedCopies(in: directory)
            if !wanted.removesSetAside { try setAside.checkIsEmpty() }
            try mergeReplacedNames()
            var report = ForgetReport()
            let (forgotten, tags) = state.withLock {
                ($0.manifest.forgotten, $0.schemas.participantTags)
            }
            let snapshot = try snapshot()
            let (list, names) = try wanted.settle(forgotten, tags, in: snapshot, &report)
            let rows = ParticipantRows(tags: tags, participants: names)
            let deletion = wanted.deletion(of: rows, in: snapshot)
            var rewriting: Rewriting
            (rewriting, report.deletion) = try rewrite(deletion)
            addEmptied(deletion, &rewriting)
            report.count(rewriting, in: state.withLock { $0.manifest })
            if !rewriting.isEmpty || list != forgotten {
                try install(rewriting) { $0.forgotten = list }
                // Makes queued commits validate against the new list.
                state.withLock { $0.stagedSchemas = $0.schemas }
            }
            try eraseRetired()
            // No other thread is writing a file at this time.
            _ = try Recovery.removeUnreferenced(directory, state.withLock { $0.manifest })
            try calling("syncing the directory") { () throws(FileError) in try directory.sync() }
            report.setAsideFiles = setAside.count
            try setAside.remove()
            return report
        }
    }

    /// Takes participants off the list.
    ///
    /// - Returns: those who were on the list.
    func readmit(_ participants: [String]) throws(DatabaseError) -> [String] {
        try exclusively { () throws(DatabaseError) in
            var list = state.withLock { $0.manifest.forgotten }
            let known = list.remove(participants)
            if !known.isEmpty { try replaceManifest { $0.forgotten = list } }
            return known
        }
    }

    /// Merges experiments whose participants are named by an attribute. A newer segment may have
    /// replaced a name that an older one still holds, and a snapshot shows only the newest. A
    /// merged segment has no replaced names.
    private func mergeReplacedNames() throws(DatabaseError) {
        let (schemas, manifest) = state.withLock { ($0.schemas, $0.manifest) }
        let tags = schemas.participantTags
        let byExperiment = manifest.segmentsByExperiment
        for schema in schemas.all
        where schema.attributes.contains(where: { tags.contains(Name($0.name)) }) {
            let segments = byExperiment[schema.id] ?? []
            if segments.count > 1 { try merge(segments) }
        }
    }

    /// Adds columns and experiments without any values left, because their names may be personal
    /// too. Experiments with declared fields stay, unless only types are declared, of fields that
    /// no refused value of another participant has.
    private func addEmptied(_ deletion: Deletion, _ rewriting: inout Rewriting) {
        for view in deletion.experiments.map(\.view) {
            let schema = view.schema
            var columns: Set<ColumnID> = []
            var isEmpty = true
            for case .segment(let segment) in view.sources {
                guard let left = rewriting.segments[segment.info.number] ?? segment else {
                    continue
                }
                columns.formUnion(left.footer.fields.filter { $0.valueCount > 0 }.map(\.column.id))
                isEmpty = false
            }
            let refused = rewriting.refusedFields
            func isOnlyType(_ declaration: SchemaPreset.Field) -> Bool {
                declaration.isTypeOnly
                    && !refused.contains(RefusedField(schema.name, declaration.name))
            }
            if isEmpty, schema.declarations.allSatisfy(isOnlyType) {
                rewriting.droppedSchemas.append(schema.id)
                continue
            }
            for column in schema.columns where !column.isRemoved && !columns.contains(column.id) {
                rewriting.droppedColumns.append((schema.id, column.id))
                guard column.kind == .field,
                    let declaration = schema.ownDeclaration(of: column.name),
                    isOnlyType(declaration)
                else { continue }
                rewriting.droppedDeclarations.append((schema.id, declaration.name))
            }
        }
    }
}

/// The files that repairs moved to `damaged/`. They may hold data of participants.
struct DamagedCopies {
    let count: Int
    private let directory: any Directory

    init(in directory: any Directory) throws(DatabaseError) {
        self.directory = directory
        count = try calling("listing the damaged folder") { () throws(FileError) in
            let name = FileName.damagedDirectory
            guard try directory.list().contains(name) else { return 0 }
            return try DamagedCopies.count(in: directory.openDirectory(name, create: false))
        }
    }

    private static func count(in folder: any Directory) throws(FileError) -> Int {
        var count = 0
        for name in try folder.list() {
            do throws(FileError) {
                count += try self.count(in: folder.openDirectory(name, create: false))
            } catch {
                guard error.code == FileError.notDirectory else { throw error }
                count += 1
            }
        }
        return count
    }

    /// - Throws: `usage`, with what to do.
    func checkIsEmpty() throws(DatabaseError) {
        guard count > 0 else { return }
        throw DatabaseError(
            .usage,
            "found \(count) files in the damaged folder, which may hold data to be forgotten, "
                + "expected none; nothing was forgotten. Copy what you need to another place, then "
                + "remove this folder, or forget with removal of damaged files",
            file: directory.path + "/" + FileName.damagedDirectory, remedy: .removeDamagedFiles)
    }

    /// Removes the files. Durable on return.
    func remove() throws(DatabaseError) {
        guard count > 0 else { return }
        try calling(
            "removing the damaged folder (all other data is forgotten; forget again)"
        ) { () throws(FileError) in
            _ = try directory.removeTree(FileName.damagedDirectory)
            try directory.sync()
        }
    }
}

extension Engine.Forgetting {
    /// The names to forget, and the list including them.
    func settle(
        _ forgotten: ForgottenList, _ tags: Set<Name>, in snapshot: Snapshot,
        _ report: inout ForgetReport
    ) throws(DatabaseError) -> (list: ForgottenList, names: Set<Name>) {
        let before = forgotten.count
        var forgotten = forgotten
        forgotten.merge(list)
        try forgotten.checkSize()
        var names = Set(participants.map { Name($0) })
        if !forgotten.isEmpty {
            for view in snapshot.experiments {
                try checkCancelled()
                let all = try ParticipantRows.all(in: view, tags: tags)
                names.formUnion(all.filter { forgotten.contains($0.text) })
            }
        }
        forgotten.insert(names.map(\.text))
        report.listed = forgotten.count
        report.newlyForgotten = forgotten.count - before
        return (forgotten, names)
    }

    /// The deletion of all data of these participants.
    func deletion(of rows: ParticipantRows, in snapshot: Snapshot) -> Deletion {
        let names = rows.participants
        let search = NameSearch(names)
        let list = list
        let known = Dictionary(
            uniqueKeysWithValues: snapshot.experiments.map {
                ($0.schema.id, rows.attributes(of: $0.schema))
            })
        return Deletion(
            experiments: snapshot.experiments.map { rows.deletion(of: $0) },
            refusals: { refusal throws(DatabaseError) in
                let mentions = refusal.mentions(tags: rows.tags)
                let words = mentions.words
                if !words.isDisjoint(with: names) { return true }
                if search.finds(mentions, words) { return true }
                if !list.isEmpty, words.contains(where: { list.contains($0.text) }) { return true }
                guard case .value(let experiment, let key, let time, _, _, _) = refusal.subject,
                    let view = snapshot.experiment(experiment)
                else { return false }
                return try rows.isTheirs(
                    key.identity(view.schema.identity), time, in: view, known[view.schema.id] ?? [])
            }, checkCancelled: checkCancelled)
    }
}

extension ForgetReport {
    fileprivate mutating func count(_ rewriting: Engine.Rewriting, in manifest: Manifest) {
        for info in manifest.segments {
            guard let new = rewriting.segments[info.number] else { continue }
            removedBytes += info.sizeBytes
            writtenBytes += new?.info.sizeBytes ?? 0
            if new == nil { removedSegments += 1 } else { rewrittenSegments += 1 }
        }
        for info in manifest.rejects {
            guard let new = rewriting.rejects[info.number] else { continue }
            removedBytes += info.sizeBytes
            writtenBytes += new?.sizeBytes ?? 0
            rewrittenRejects += 1
        }
        removedColumns = rewriting.droppedColumns.count
        removedExperiments = rewriting.droppedSchemas.count
    }
}
