// Keeps the data of forgotten participants out of commits, so that none of their points and refused
// lines reach the log. Free while the list is empty.

/// The forgotten participants. Looks each name up once, because that takes a digest per salt.
struct ForgottenNames {
    private let list: ForgottenList
    private var known: [Name: Bool] = [:]

    init(_ list: ForgottenList) { self.list = list }

    var isEmpty: Bool { list.isEmpty }

    mutating func contains(_ name: Name) -> Bool {
        if let result = known[name] { return result }
        let result = list.contains(name.text)
        known[name] = result
        return result
    }

    /// Whether a refusal names one of them.
    ///
    /// - Parameter tags: the tags that name participants.
    mutating func areMentioned(in refusal: Refusal, _ tags: Set<Name>) -> Bool {
        for word in refusal.mentions(tags: tags).words where contains(word) { return true }
        return false
    }
}

extension Refusal {
    /// The example of a report for what a forgotten participant sent.
    static func forgotten(_ source: String, line: Int, column: Int) -> Refusal {
        Refusal(
            subject: .line([]),
            reason: "the participant was forgotten; the point was not stored. To accept their "
                + "data again, readmit the participant", source: source, line: line, column: column)
    }
}

/// What the list of forgotten participants keeps out of one batch.
struct ForgottenFilter {
    /// The part of the batch that may be committed.
    let admitted: WriteBatch
    /// Points that were removed, including refused lines.
    private var points = 0
    /// Refused values that were removed.
    private var values = 0
    private var examples: [Refusal] = []

    /// nil if all of the batch may be committed.
    ///
    /// - Parameter isWhole: whether every batch must be stored whole or not at all.
    /// - Throws: `usage` if the batch must be stored whole or not at all.
    init?(
        _ batch: borrowing WriteBatch, _ list: ForgottenList, _ schemas: SchemaSet, isWhole: Bool
    ) throws(DatabaseError) {
        if list.isEmpty { return nil }
        var forgotten = ForgottenNames(list)
        let tags = schemas.participantTags.union(
            Identity.participantTags(batch.settings.identity.map { [$0] } ?? []))
        var excluded: Set<Int> = []
        for number in 0..<batch.tagSets.count {
            let isExcluded = batch.receivedTagSet(number).tags.contains {
                tags.contains(Name($0.name)) && forgotten.contains(Name($0.value))
            }
            if isExcluded { excluded.insert(number) }
        }
        let areLinesExcluded =
            batch.assumedParticipant.map { forgotten.contains(Name($0)) } ?? false
        let areRefusalsExcluded = batch.refusals.map { refusal in
            if case .line = refusal.subject, areLinesExcluded { return true }
            if let name = refusal.participant, forgotten.contains(Name(name)) { return true }
            return forgotten.areMentioned(in: refusal, tags)
        }
        if excluded.isEmpty, !areRefusalsExcluded.contains(true) { return nil }
        admitted = batch.excluding(tagSets: excluded, refusals: areRefusalsExcluded)
        note(excluded, areRefusalsExcluded, of: batch)
        if points + values == 0 { return nil }
        if batch.isAllOrNothing || isWhole {
            throw DatabaseError(
                .usage,
                "nothing was stored, because all or nothing was requested: \(points) points "
                    + "belong to forgotten participants; remove them, or readmit the participants",
                remedy: .readmit)
        }
    }

    /// Counts what was removed.
    private mutating func note(
        _ excluded: Set<Int>, _ areRefused: [Bool], of batch: borrowing WriteBatch
    ) {
        var source = ""
        var sources = batch.sources[...]
        for index in batch.rows.indices {
            if sources.first?.firstRow == index { source = sources.removeFirst().name }
            let row = batch.rows[index]
            guard excluded.contains(Int(row.tagSet)) else { continue }
            points += 1
            addExample(source, line: row.line, column: 0)
        }
        for (refusal, isRefused) in zip(batch.refusals, areRefused) where isRefused {
            if case .line = refusal.subject { points += 1 } else { values += 1 }
            addExample(refusal.source, line: refusal.line, column: refusal.column)
        }
    }

    private mutating func addExample(_ source: String, line: Int, column: Int) {
        if examples.needsExample(source, line: line) {
            examples.addExample(.forgotten(source, line: line, column: column))
        }
    }

    /// Adds the removed points and values to the report as refused.
    func count(into report: inout WriteReport) {
        report.points += points
        report.refusedPoints += points
        report.forgottenPoints += points
        report.refusedValues += values
        report.forgottenValues += values
        report.examples = Array((examples + report.examples).prefix(WriteReport.exampleCountMax))
    }
}
