// Collects entries of the rejects journal for the next file and adds up repeated counts.

struct RejectsJournal {
    private(set) var entries: [JournalEntry] = []
    /// Approximate memory of the entries.
    private(set) var sizeBytes = 0
    /// Positions of `repeated` entries, by refusal id.
    private var repeatPlaces: [UInt64: Int] = [:]
    private var droppedPlace: Int?

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ entry: JournalEntry) {
        switch entry {
        case .repeated(let id, let count, let line, let column):
            if let place = repeatPlaces[id],
                case .repeated(_, let before, let lastLine, _) = entries[place]
            {
                entries[place] = .repeated(
                    id: id, count: min(before + count, JournalEntry.countMax),
                    line: max(line, lastLine), column: column)
                return
            }
            repeatPlaces[id] = entries.count
        case .dropped(let count):
            if let place = droppedPlace, case .dropped(let before) = entries[place] {
                entries[place] = .dropped(count: min(before + count, JournalEntry.countMax))
                return
            }
            droppedPlace = entries.count
        case .refusal, .mark: break
        }
        entries.append(entry)
        sizeBytes += entry.sizeBytes
    }
}
