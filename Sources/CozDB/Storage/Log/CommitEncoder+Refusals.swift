// The refusals of a commit: those of the importer, points that cannot be stored, and values of
// stored points.

/// The refused values of one point that are kept as a line, because its identity tags are too long
/// to be repeated with each value.
struct RefusedPoint {
    /// The first of the values.
    private var first: Refusal?
    /// The values in line protocol.
    private var fields = ""
    private(set) var fieldCount = 0
    /// The last key whose names were checked.
    private var checked: (experiment: Name, key: SeriesKey, isLine: Bool)?

    /// Longest series key in bytes that is repeated with each refused value.
    static let repeatedKeySizeBytesMax = 1 << 10

    /// Adds a value; false if it belongs to another point or does not fit.
    mutating func add(_ refusal: Refusal) -> Bool {
        guard !refusal.isCut,
            case .value(let experiment, let key, let time, let field, let value, _) =
                refusal.subject
        else { return false }
        if let first {
            guard case .value(let ownExperiment, let ownKey, let ownTime, _, _, _) = first.subject,
                time == ownTime, first.line == refusal.line,
                Name(first.source) == Name(refusal.source),
                Name(experiment) == Name(ownExperiment), key == ownKey
            else { return false }
        }
        guard isLine(experiment, key), LineText.canRepresent(field) else { return false }
        let text = LineText.field(field, value, isFirst: first == nil)
        // Escapes double a name at most.
        let sizeBytesMax = Refusal.lineSizeBytesMax - 2 * (experiment.utf8.count + key.bytes.count)
        guard fields.utf8.count + text.utf8.count + 32 <= sizeBytesMax else { return false }
        if first == nil { first = refusal }
        fields += text
        fieldCount += 1
        return true
    }

    /// Whether a line can have these names.
    private mutating func isLine(_ experiment: String, _ key: SeriesKey) -> Bool {
        if let checked, checked.key == key, checked.experiment == Name(experiment) {
            return checked.isLine
        }
        let isLine = LineText.canRepresent(experiment: experiment, key.tags)
        checked = (Name(experiment), key, isLine)
        return isLine
    }

    /// Removes the point and returns it as a refused line, or its only value; nil if there is none.
    mutating func take() -> Refusal? {
        defer { (first, fields, fieldCount) = (nil, "", 0) }
        if fieldCount == 1 { return first }
        guard var refusal = first,
            case .value(let experiment, let key, let time, let field, _, _) = refusal.subject
        else { return nil }
        let line = key.text(ofExperiment: experiment) + fields + " \(time.nanoseconds)"
        refusal.subject = .line(Array(line.utf8))
        refusal.reason =
            "field \"\(Refusal.excerpt(field))\": \(refusal.reason); and \(fieldCount - 1) more "
            + (fieldCount == 2 ? "field" : "fields")
        return refusal.cut
    }
}

extension CommitEncoder {
    /// Adds a refusal of the importer. The importer knows the tags of a value, the schema which of
    /// them identify it.
    mutating func refuse(_ refusal: Refusal, of batch: borrowing WriteBatch) {
        guard
            case .value(let experiment, let received, let time, let field, let value, let locked) =
                refusal.subject
        else {
            let kept = refusal.naming(assumed: batch.assumedParticipant) {
                participantTags(of: batch)
            }
            return refuseLine(refusal, keeping: kept)
        }
        if refusal.keepsAttributes { return refuseValue(refusal) }
        if refusedKey?.received != received || refusedKey?.experiment != Name(experiment) {
            let identity =
                schemas.named(experiment)?.identity ?? batch.settings.identity ?? .standard
            refusedKey = (Name(experiment), received, owned(received, identity, batch))
        }
        var refusal = refusal
        refusal.subject = .value(
            experiment: experiment, key: refusedKey?.key ?? received, time: time, field: field,
            value: value, locked: locked)
        refuseValue(refusal)
    }

    /// Returns the identity of a key with the attributes that name participants, so that forgetting
    /// them finds a refused value even if its row is deleted by then.
    private mutating func owned(
        _ key: SeriesKey, _ identity: Identity, _ batch: borrowing WriteBatch
    ) -> SeriesKey {
        let tags = participantTags(of: batch)
        return SeriesKey(
            tags: key.tags.filter { identity.contains($0.name) || tags.contains(Name($0.name)) })
    }

    private mutating func participantTags(of batch: borrowing WriteBatch) -> Set<Name> {
        if let known = tagsOfParticipants { return known }
        let asked = batch.settings.identity.map { [$0] } ?? []
        let tags = schemas.participantTags.union(Identity.participantTags(asked))
        tagsOfParticipants = tags
        return tags
    }

    // MARK: Points

    mutating func refuseLine(
        _ row: BatchRow, _ cells: Range<Int>, of batch: borrowing WriteBatch, reason: String
    ) {
        if journal.isReplay { return refuseAgain() }
        let tagsSizeBytes = batch.tagSets.range(Int(row.tagSet)).count
        if !report.examples.needsExample(source, line: row.line), !journal.hasRoom(tagsSizeBytes) {
            report.refusedPoints += 1
            return journal.drop()
        }
        let line = LineText.point(row, cells, of: batch)
        let refusal = Refusal(
            subject: .line(Array(line.utf8)), reason: reason, source: source, line: row.line)
        if isOfForgotten(refusal, batch) {
            report.refusedPoints += 1
            report.forgottenPoints += 1
            return
        }
        refuseLine(refusal, keeping: refusal)
    }

    /// Counts the value of the current row, which a replay cannot store. Its entry stays as it is.
    private mutating func refuseAgain() {
        report.refusedValues += 1
        journal.endReplayAsRefused()
        addExample(
            Refusal(
                subject: .line([]), reason: "a value of the replay cannot be stored",
                source: source, line: 0))
    }

    /// The same for a refused value. The key is searched once for all values of a row: it can have
    /// as many tags as the row has values.
    private mutating func isOfForgotten(
        _ refusal: Refusal, tagSet: Int, _ batch: borrowing WriteBatch
    ) -> Bool {
        guard !forgotten.isEmpty,
            case .value(let experiment, let key, let time, let field, let value, let locked) =
                refusal.subject
        else { return false }
        if searchedKey?.tagSet != tagSet || searchedKey?.source != Name(source) {
            var rest = refusal
            rest.reason = ""
            rest.subject = .value(
                experiment: "", key: key, time: time, field: "", value: .boolean(true),
                locked: locked)
            let tags = participantTags(of: batch)
            searchedKey = (
                tagSet, Name(source), key.tags.contains { tags.contains(Name($0.name)) },
                isOfForgotten(rest, batch)
            )
        } else if searchedKey?.isForgotten == true {
            addExample(.forgotten(source, line: refusal.line, column: 0))
        }
        if searchedKey?.isForgotten == true { return true }
        if searchedKey?.hasOwner == true { return false }
        var rest = refusal
        rest.subject = .value(
            experiment: experiment, key: SeriesKey(tags: []), time: time, field: field,
            value: value, locked: locked)
        return isOfForgotten(rest, batch)
    }

    /// Whether a refusal names a forgotten participant. Then it is counted, but not kept.
    private mutating func isOfForgotten(
        _ refusal: Refusal, _ batch: borrowing WriteBatch
    ) -> Bool {
        if forgotten.isEmpty { return false }
        let tags = participantTags(of: batch)
        guard forgotten.areMentioned(in: refusal, tags) else { return false }
        addExample(.forgotten(refusal.source, line: refusal.line, column: refusal.column))
        return true
    }

    /// - Parameter kept: the refusal as the journal stores it.
    private mutating func refuseLine(_ refusal: Refusal, keeping kept: Refusal) {
        report.refusedPoints += 1
        addExample(refusal)
        journal.add(kept.cut)
    }

    private mutating func addExample(_ refusal: Refusal) {
        if report.examples.needsExample(refusal.source, line: refusal.line) {
            report.examples.addExample(refusal.cut)
        }
    }

    // MARK: Values

    /// - Parameter isStored: whether other values of the row are stored, and its attributes with
    ///   them. If not, the refused values keep the attributes.
    mutating func refuseValue(
        _ cell: BatchCell, _ plan: ColumnPlan, _ row: BatchRow,
        of batch: borrowing WriteBatch, isStored: Bool
    ) {
        if journal.isReplay { return refuseAgain() }
        let column = Int(cell.column)
        let isReported = plan.fault != nil || conflictingColumns[column] == plan.locked
        // Once the journal is full, a value costs no more than its bytes, however long its name.
        if isReported, !report.examples.needsExample(source, line: row.line), forgotten.isEmpty,
            !journal.hasRoom(batch.columns.range(column).count)
        {
            report.refusedValues += 1
            return journal.drop()
        }
        let received = batch.receivedColumn(column)
        let (name, key) = refusedSeries(Int(row.tagSet), of: batch, isStored: isStored)
        let reason =
            plan.fault
            ?? "\(received.type.name) for a field that is locked as \(plan.locked.name)"
        let refusal = Refusal(
            subject: .value(
                experiment: name, key: key, time: Timestamp(nanoseconds: row.time),
                field: received.name, value: batch.value(cell, received.type),
                locked: plan.locked),
            reason: reason, source: source, line: row.line)
        if isOfForgotten(refusal, tagSet: Int(row.tagSet), batch) {
            report.refusedValues += 1
            report.forgottenValues += 1
            return
        }
        refuseValue(refusal)
        if isReported { return }
        conflictingColumns[column] = plan.locked
        let conflict = TypeConflict(
            experiment: name, field: received.name, locked: plan.locked, received: received.type)
        if conflicts.insert(conflict).inserted { report.conflicts.append(conflict) }
    }

    /// Returns the experiment and the key of a tag set. The key is built once for all refused
    /// values of a point: a row can have as many values as tags.
    private mutating func refusedSeries(
        _ number: Int, of batch: borrowing WriteBatch, isStored: Bool
    ) -> (experiment: String, key: SeriesKey) {
        if let known = refusedTagSet, known.number == number, known.isStored == isStored {
            return (known.experiment, known.key)
        }
        let tagSet = batch.receivedTagSet(number)
        let name = batch.experiments.text(tagSet.experiment)
        let whole = SeriesKey(tags: tagSet.tags.filter { !$0.value.isEmpty })
        let key = isStored ? owned(whole, schemas.named(name)?.identity ?? .standard, batch) : whole
        refusedTagSet = (number, isStored, name, key)
        return (name, key)
    }

    /// Keeps a refused value with its key, so that a replay can store it. With a long
    /// key, this would take many times the space of the input, so the refused values of such a
    /// point are kept together as one line.
    private mutating func refuseValue(_ refusal: Refusal) {
        report.refusedValues += 1
        addExample(refusal)
        // Checked first for the reason given in `CommitJournal.add`.
        if !journal.hasRoom(refusal.textSizeBytes) { return journal.drop() }
        let refusal = refusal.cut
        guard refusal.hasLongKey else { return journal.add(refusal) }
        if refusedPoint.add(refusal) { return }
        endRefusedPoint()
        if !refusedPoint.add(refusal) { journal.add(refusal) }
    }

    mutating func endRefusedPoint() {
        let count = refusedPoint.fieldCount
        if let line = refusedPoint.take() { journal.add(line, count: count) }
    }
}

extension Refusal {
    /// Whether the key of the series is long, and longer than the refused value.
    fileprivate var hasLongKey: Bool {
        guard case .value(_, let key, _, _, let value, _) = subject else { return false }
        let sizeBytes = key.bytes.count
        return sizeBytes > RefusedPoint.repeatedKeySizeBytesMax && sizeBytes > value.textSizeBytes
    }
}
