// What a commit adds to the rejects journal: each refusal once, equal lines as a count, and no more
// than the journal has room for.

internal import Synchronization

/// The refusals that the journal has.
///
/// Shared by all that write: a copy for each commit would make many commits with refusals cost the
/// square of their number.
final class KnownRefusals: Sendable {
    private let lines: Mutex<[UInt64: Int]>

    init(_ lines: [UInt64: Int]) { self.lines = Mutex(lines) }

    /// The largest line of those refused as this; 0 for values; nil where none is known.
    func line(_ id: UInt64) -> Int? { lines.withLock { $0[id] } }

    func add(_ new: [UInt64: Int]) {
        lines.withLock { lines in lines.merge(new) { max($0, $1) } }
    }
}

extension [UInt64: Int] {
    /// Learns of an entry of the journal.
    mutating func note(_ entry: JournalEntry) {
        switch entry {
        case .refusal(let refusal): note(refusal.journalID, line: refusal.line)
        case .repeated(let id, _, let line, _): note(id, line: line)
        case .mark, .dropped: break
        }
    }

    mutating func note(_ id: UInt64, line: Int) {
        self[id] = Swift.max(self[id] ?? 0, line)
    }
}

/// The entries of the journal that one commit adds.
struct CommitJournal {
    private struct Repeat {
        var id: UInt64
        var count = 0
        var line = 0
        var column = 0
    }

    private let known: KnownRefusals?
    private var roomBytes: Int
    private var refusals = ByteWriter()
    private var refusalCount = 0
    private var repeats: [Repeat] = []
    private var repeatPlaces: [UInt64: Int] = [:]
    private let marks: [JournalEntry]
    /// Of refusals that this commit adds: `journalID`, and the largest line.
    private(set) var added: [UInt64: Int] = [:]
    /// Refusals for which the journal has no room.
    private(set) var droppedCount = 0

    /// - Parameters:
    ///   - known: what is stored already; nil where that was not loaded.
    ///   - roomBytes: what the journal may grow by.
    ///   - marks: what a replay has dealt with.
    init(known: KnownRefusals? = nil, roomBytes: Int = .max, marks: [JournalEntry] = []) {
        self.known = known
        self.roomBytes = roomBytes
        self.marks = marks
    }

    var count: Int { refusalCount + repeats.count + marks.count + (droppedCount > 0 ? 1 : 0) }

    /// Whether there is a refusal among them.
    var hasRefusals: Bool { refusalCount > 0 || !repeats.isEmpty || droppedCount > 0 }

    mutating func add(_ refusal: Refusal) {
        let id = refusal.journalID
        if let line = added[id] ?? known?.line(id) {
            // A line that is not behind it is that one again: the file is imported once more.
            if case .line = refusal.subject, refusal.line > line { count(refusal, id) }
            return
        }
        var entry = ByteWriter()
        entry.append(JournalEntry.refusal(refusal))
        guard entry.count <= roomBytes else {
            droppedCount += 1
            return
        }
        roomBytes -= entry.count
        refusals.append(entry.bytes)
        refusalCount += 1
        added[id] = refusal.line
    }

    private mutating func count(_ refusal: Refusal, _ id: UInt64) {
        let place = repeatPlaces[id] ?? repeats.count
        if place == repeats.count {
            repeatPlaces[id] = place
            repeats.append(Repeat(id: id))
        }
        repeats[place].count += 1
        (repeats[place].line, repeats[place].column) = (refusal.line, refusal.column)
        added[id] = refusal.line
    }

    func append(to writer: inout ByteWriter) {
        writer.appendVarint(count)
        writer.append(refusals.bytes)
        for mark in marks { writer.append(mark) }
        for repeated in repeats {
            writer.append(
                JournalEntry.repeated(
                    id: repeated.id, count: repeated.count, line: repeated.line,
                    column: repeated.column))
        }
        if droppedCount > 0 { writer.append(JournalEntry.dropped(count: droppedCount)) }
    }
}
