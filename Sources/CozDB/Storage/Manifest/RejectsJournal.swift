// Collects entries of the rejects journal for the next file and adds up repeated counts.

struct RejectsJournal {
    private(set) var entries: [JournalEntry] = []
    /// Approximate memory of the entries.
    private(set) var sizeBytes = 0
    /// Positions of `repeated` entries, by refusal id.
    private var repeatIndexes: [UInt64: Int] = [:]
    private var droppedIndex: Int?

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ entry: JournalEntry) {
        switch entry {
        case .repeated(let id, let count, let line, let column):
            if let index = repeatIndexes[id],
                case .repeated(_, let before, let lastLine, _) = entries[index]
            {
                entries[index] = .repeated(
                    id: id, count: min(before + count, JournalEntry.countMax),
                    line: max(line, lastLine), column: column)
                return
            }
            repeatIndexes[id] = entries.count
        case .dropped(let count):
            if let index = droppedIndex, case .dropped(let before) = entries[index] {
                entries[index] = .dropped(count: min(before + count, JournalEntry.countMax))
                return
            }
            droppedIndex = entries.count
        case .refusal, .mark: break
        }
        entries.append(entry)
        sizeBytes += entry.sizeBytes
    }
}
