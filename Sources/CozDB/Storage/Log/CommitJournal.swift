// The journal entries of one commit. Each refusal is stored once, equal lines as a count, and
// nothing beyond the space that the journal has left.

/// A refusal that the journal has.
struct KnownRefusal {
    /// The largest line number; 0 for values.
    let line: Int
    /// A seeded hash of its content: somebody can make refusals whose ids are equal.
    let content: UInt32?
}

/// The refusals that the journal already has.
///
/// All writers share one instance. With a copy per commit, the total cost would be quadratic.
final class KnownRefusals: Sendable {
    private let known: Monitor<[UInt64: KnownRefusal]>

    init(_ known: [UInt64: KnownRefusal]) { self.known = Monitor(known) }

    subscript(_ id: UInt64) -> KnownRefusal? { known.withLock { $0[id] } }

    func add(_ new: [UInt64: KnownRefusal]) {
        known.withLock { known in known.merge(new) { $0.line > $1.line ? $0 : $1 } }
    }
}

extension [UInt64: KnownRefusal] {
    /// Records an entry of the journal.
    mutating func note(_ entry: JournalEntry) {
        switch entry {
        case .refusal(let refusal):
            let (id, content) = refusal.identity
            note(id, line: refusal.line, content)
        case .repeated(let id, _, let line, _): note(id, line: line, self[id]?.content)
        case .mark(let id, .done): self[id] = nil
        case .mark, .dropped: break
        }
    }

    private mutating func note(_ id: UInt64, line: Int, _ content: UInt32?) {
        self[id] = KnownRefusal(line: Swift.max(self[id]?.line ?? 0, line), content: content)
    }
}

/// The refusals that a replay deals with.
struct ReplayedRefusals {
    /// The refusal of each row of the batch.
    var ofRows: [UInt64] = []
    /// Those whose cell got another value in the meantime.
    var superseded: [UInt64] = []

    var isEmpty: Bool { ofRows.isEmpty && superseded.isEmpty }
}

/// The journal entries that one commit adds.
struct CommitJournal {
    private let known: KnownRefusals?
    private var roomBytes: Int
    private var refusals = ByteWriter()
    private var refusalCount = 0
    private var repeats = RejectsJournal()
    private let replayed: ReplayedRefusals?
    private var marks: [JournalEntry] = []
    /// The refusals of this commit.
    private(set) var added: [UInt64: KnownRefusal] = [:]
    /// Refusals that did not fit into the journal.
    private(set) var droppedCount = 0

    /// - Parameters:
    ///   - known: the stored refusals; nil if they were not loaded.
    ///   - roomBytes: how much the journal may still grow.
    ///   - replayed: nil if the batch is not a replay.
    init(
        known: KnownRefusals? = nil, roomBytes: Int = .max, replayed: ReplayedRefusals? = nil
    ) {
        self.known = known
        self.roomBytes = roomBytes
        self.replayed = replayed
        if let replayed {
            marks = replayed.superseded.map { .mark(id: $0, state: .superseded) }
        }
    }

    var isReplay: Bool { replayed != nil }

    /// Marks the refusal of a row as done.
    ///
    /// - Parameter line: the number of the row in the batch of the replay, from 1.
    mutating func beginReplay(ofRow line: Int) {
        guard let replayed, replayed.ofRows.indices.contains(line - 1) else { return }
        marks.append(.mark(id: replayed.ofRows[line - 1], state: .done))
    }

    /// Takes the last of these marks back: the row cannot be stored, and its refusal waits.
    mutating func endReplayAsRefused() { marks.removeLast() }

    var count: Int {
        refusalCount + repeats.entries.count + marks.count + (droppedCount > 0 ? 1 : 0)
    }

    /// Whether the entries include refusals.
    var hasRefusals: Bool { refusalCount > 0 || !repeats.isEmpty || droppedCount > 0 }

    /// Whether an entry of this size may fit.
    func hasRoom(_ sizeBytes: Int) -> Bool { sizeBytes <= roomBytes }

    /// Counts refusals that are not kept.
    mutating func drop(_ count: Int = 1) { droppedCount += count }

    /// - Parameter count: how many refused values the refusal stands for.
    mutating func add(_ refusal: Refusal, count valueCount: Int = 1) {
        // Checked first, so that a full journal costs no more than the space it has left: rows can
        // share tags of any length.
        if !hasRoom(refusal.textSizeBytes) { return drop(valueCount) }
        let (id, content) = refusal.identity
        if let equal = added[id] ?? known?[id] {
            if let other = equal.content, other != content { return drop(valueCount) }
            // Only a later line is new. An earlier one means that the same file is imported again.
            if case .line = refusal.subject, refusal.line > equal.line {
                repeats.append(
                    .repeated(id: id, count: 1, line: refusal.line, column: refusal.column))
                added[id] = KnownRefusal(line: refusal.line, content: content)
            }
            return
        }
        var entry = ByteWriter()
        entry.append(JournalEntry.refusal(refusal))
        guard hasRoom(entry.count) else { return drop(valueCount) }
        roomBytes -= entry.count
        refusals.append(entry.bytes)
        refusalCount += 1
        added[id] = KnownRefusal(line: refusal.line, content: content)
    }

    func append(to writer: inout ByteWriter) {
        writer.appendVarint(count)
        writer.append(refusals.bytes)
        for entry in marks + repeats.entries { writer.append(entry) }
        if droppedCount > 0 { writer.append(JournalEntry.dropped(count: droppedCount)) }
    }
}
